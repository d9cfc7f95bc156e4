/* SPDX-License-Identifier: 0BSD
 *
 * RESIZE_BILINEAR, float. The position of an output is not clamped, only its two neighbours are:
 * beyond the border both are the border pixel, and their weights still add up to 1.
 */
#ifndef CG_RESIZE_BILINEAR_F32_H
#define CG_RESIZE_BILINEAR_F32_H

#include "cg_float.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    float step_h, step_w;             /* between neighbouring outputs, in input pixels */
    float shift;                      /* 0.5 where pixels are lined up by their centres, else 0 */
} cg_resize_bilinear_f32_args;

/* Two neighbours in one direction and their weights. */
typedef struct {
    int32_t low, high;
    float low_weight, high_weight;
} cg_resize_f32_pair;

CG_KERNEL cg_resize_f32_pair cg_resize_f32_between(int32_t i, float step, float shift, int32_t size)
{
    const float position = ((float)i + shift) * step - shift;
    const int32_t cut = (int32_t)position;                 /* -0.5 and above, so it is 0 below 1 */
    cg_resize_f32_pair p;
    p.low = cg_min(cut, size - 1);
    p.high = cg_min((float)cut < position ? cut + 1 : cut, size - 1);
    p.high_weight = position - (float)cut;
    p.low_weight = 1.0f - p.high_weight;
    return p;
}

CG_KERNEL void cg_resize_bilinear_f32(const cg_resize_bilinear_f32_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_resize_f32_pair v = cg_resize_f32_between(row, a->step_h, a->shift, a->in_h);
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_resize_f32_pair h = cg_resize_f32_between(col, a->step_w, a->shift, a->in_w);
            const cg_f32 *p00 = (const cg_f32 *)cg_at(x, v.low, h.low);
            const cg_f32 *p01 = (const cg_f32 *)cg_at(x, v.low, h.high);
            const cg_f32 *p10 = (const cg_f32 *)cg_at(x, v.high, h.low);
            const cg_f32 *p11 = (const cg_f32 *)cg_at(x, v.high, h.high);
            cg_f32 *out = (cg_f32 *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float top_left = p00[c] * v.low_weight * h.low_weight;
                const float bottom_left = p10[c] * v.high_weight * h.low_weight;
                const float top_right = p01[c] * v.low_weight * h.high_weight;
                const float bottom_right = p11[c] * v.high_weight * h.high_weight;
                out[c] = top_left + bottom_left + top_right + bottom_right;
            }
        }
    }
}

#endif
