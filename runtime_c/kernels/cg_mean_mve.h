/* SPDX-License-Identifier: 0BSD
 *
 * MEAN of int8 codes over rows and columns, for Helium: eight channels at a time in 16-bit lanes. Means
 * are of at most 255 elements, so that their sums fit.
 */
#ifndef CG_MEAN_MVE_H
#define CG_MEAN_MVE_H

#include "cg_lanes_mve.h"
#include "cg_mean.h"

CG_KERNEL void cg_mean_mve_s8(const cg_mean_args *a, const cg_src *x, const cg_dst *y,
                              const cg_range *r)
{
#if CG_MVE
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = {
                a->rows != 0 ? 0 : oy, a->rows != 0 ? a->rows : oy + 1,
                a->columns != 0 ? 0 : ox, a->columns != 0 ? a->columns : ox + 1, 0, 0,
            };
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c += 8) {
                const int32_t n = (r->c1 - r->c0) % 8 == 0 ? 8 : r->c1 - c;
                const int16x8_t sum = cg_lanes_sum(x, &w, c, n);
                int32x4_t even = vaddq_n_s32(vmovlbq_s16(sum), a->offset);
                int32x4_t odd = vaddq_n_s32(vmovltq_s16(sum), a->offset);
                even = cg_lanes_twice(even, a->multiplier, a->shift);
                odd = cg_lanes_twice(odd, a->multiplier, a->shift);
                cg_lanes_store(out + c, cg_lanes_codes(even, odd, a->output_offset, a->low, a->high), n);
            }
        }
    }
#else
    cg_mean_s8(a, x, y, r);
#endif
}

#endif
