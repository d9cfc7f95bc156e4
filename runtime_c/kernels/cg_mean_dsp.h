/* SPDX-License-Identifier: 0BSD
 *
 * MEAN over rows and columns, int8, for cores with the DSP extension: four channels at a time, what is
 * left of them one by one. A row has at most 256 pixels, so that 16 bits hold its sums.
 */
#ifndef CG_MEAN_DSP_H
#define CG_MEAN_DSP_H

#include "cg_lanes_dsp.h"
#include "cg_mean.h"

CG_KERNEL int8_t cg_mean_dsp_code(const cg_mean_args *a, int32_t sum)
{
    const int32_t v = cg_requantize_twice(sum + a->offset, a->multiplier, a->shift);
    return cg_saturate8(cg_add32(v, a->output_offset));
}

CG_KERNEL void cg_mean_dsp_s8(const cg_mean_args *a, const cg_src *x, const cg_dst *y,
                              const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = {
                a->rows != 0 ? 0 : oy, a->rows != 0 ? a->rows : oy + 1,
                a->columns != 0 ? 0 : ox, a->columns != 0 ? a->columns : ox + 1, 0, 0,
            };
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            int32_t c = r->c0;
            for (; c + 4 <= r->c1; c += 4) {
                int32_t sums[4];
                cg_window_sum4(sums, x, &w, c);
                for (int32_t i = 0; i < 4; i++) {
                    out[c + i] = cg_mean_dsp_code(a, sums[i]);
                }
            }
            for (; c < r->c1; c++) {
                out[c] = cg_mean_dsp_code(a, cg_mean_sum(CG_TYPE_S8, a, x, &w, c));
            }
        }
    }
}

#endif
