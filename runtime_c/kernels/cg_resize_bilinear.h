/* SPDX-License-Identifier: 0BSD
 *
 * RESIZE_BILINEAR, int8 and int16. Positions and weights are in 1/1024 pixel. Weights are not clamped: beyond
 * the border both neighbours are the border pixel, and the weights still add up to 1024.
 */
#ifndef CG_RESIZE_BILINEAR_H
#define CG_RESIZE_BILINEAR_H

#include "cg_code.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t step_h, step_w;           /* between neighbouring outputs */
    int32_t first_h, first_w;         /* of output row and column 0 */
} cg_resize_bilinear_args;

/* Two neighbours in one direction and their weights. */
typedef struct {
    int32_t low, high;
    int32_t low_weight, high_weight;
} cg_resize_pair;

CG_KERNEL cg_resize_pair cg_resize_between(int32_t position, int32_t size)
{
    cg_resize_pair p;
    p.low = cg_clamp(position >> 10, 0, size - 1);
    p.high = cg_clamp((position + 1023) >> 10, 0, size - 1);
    p.high_weight = position - p.low * 1024;
    p.low_weight = 1024 - p.high_weight;
    return p;
}

/* round(sum / 2^20), halves away from 0; sums of int8 fit 32 bits. */
CG_KERNEL int32_t cg_resize_round(cg_type type, int64_t sum)
{
    if (type == CG_TYPE_S8) {
        const int32_t narrow = (int32_t)sum;
        return narrow < 0 ? -((-narrow + (1 << 19)) >> 20) : (narrow + (1 << 19)) >> 20;
    }
    return (int32_t)(sum < 0 ? -((-sum + (1 << 19)) >> 20) : (sum + (1 << 19)) >> 20);
}

CG_KERNEL void cg_resize_bilinear(cg_type type, const cg_resize_bilinear_args *a, const cg_src *x,
                                  const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_resize_pair v = cg_resize_between(row * a->step_h + a->first_h, a->in_h);
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_resize_pair h = cg_resize_between(col * a->step_w + a->first_w, a->in_w);
            const void *p00 = cg_at(x, v.low, h.low);
            const void *p01 = cg_at(x, v.low, h.high);
            const void *p10 = cg_at(x, v.high, h.low);
            const void *p11 = cg_at(x, v.high, h.high);
            void *out = cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t top = cg_code(p00, c, type) * h.low_weight
                                  + cg_code(p01, c, type) * h.high_weight;
                const int32_t bottom = cg_code(p10, c, type) * h.low_weight
                                     + cg_code(p11, c, type) * h.high_weight;
                const int64_t sum = (int64_t)top * v.low_weight + (int64_t)bottom * v.high_weight;
                cg_set_code(out, c, cg_resize_round(type, sum), type);
            }
        }
    }
}

CG_KERNEL void cg_resize_bilinear_s8(const cg_resize_bilinear_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    cg_resize_bilinear(CG_TYPE_S8, a, x, y, r);
}

CG_KERNEL void cg_resize_bilinear_s16(const cg_resize_bilinear_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    cg_resize_bilinear(CG_TYPE_S16, a, x, y, r);
}

#endif
