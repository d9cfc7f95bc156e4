/* SPDX-License-Identifier: 0BSD
 *
 * RESIZE_BILINEAR, uint8: in float like the reference does it, rounded by adding a half.
 */
#ifndef CG_RESIZE_BILINEAR_U8_H
#define CG_RESIZE_BILINEAR_U8_H

#include "cg_resize_bilinear_f32.h"

CG_KERNEL void cg_resize_bilinear_u8(const cg_resize_bilinear_f32_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_resize_f32_pair v = cg_resize_f32_between(row, a->step_h, a->shift, a->in_h);
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_resize_f32_pair h = cg_resize_f32_between(col, a->step_w, a->shift, a->in_w);
            const uint8_t *p00 = (const uint8_t *)cg_at(x, v.low, h.low);
            const uint8_t *p01 = (const uint8_t *)cg_at(x, v.low, h.high);
            const uint8_t *p10 = (const uint8_t *)cg_at(x, v.high, h.low);
            const uint8_t *p11 = (const uint8_t *)cg_at(x, v.high, h.high);
            uint8_t *out = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float top_left = (float)p00[c] * v.low_weight * h.low_weight;
                const float bottom_left = (float)p10[c] * v.high_weight * h.low_weight;
                const float top_right = (float)p01[c] * v.low_weight * h.high_weight;
                const float bottom_right = (float)p11[c] * v.high_weight * h.high_weight;
                out[c] = (uint8_t)(top_left + bottom_left + top_right + bottom_right + 0.5f);
            }
        }
    }
}

#endif
