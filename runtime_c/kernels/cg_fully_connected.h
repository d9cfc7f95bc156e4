/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, int8: every pixel is one input vector. Weights are [out][in]. Rounds once, like
 * a double product.
 */
#ifndef CG_FULLY_CONNECTED_H
#define CG_FULLY_CONNECTED_H

#include "cg_double_scale.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    int32_t input_offset, weights_offset, output_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* null: none */
    const uint32_t *scale_high;       /* see cg_double_scale.h */
    const uint32_t *scale_low;
    const int8_t *scale_shift;
} cg_fully_connected_args;

CG_KERNEL int32_t cg_fully_connected_dot(const cg_fully_connected_args *a, const int8_t *p, int32_t c)
{
    const int8_t *w = a->weights + (ptrdiff_t)c * a->depth;
    int32_t acc = 0;
    for (int32_t k = 0; k < a->depth; k++) {
        acc += (p[k] + a->input_offset) * (w[k] + a->weights_offset);
    }
    return cg_add32(acc, a->bias != NULL ? a->bias[c] : 0);
}

CG_KERNEL void cg_fully_connected_s8(const cg_fully_connected_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *in = (const int8_t *)cg_at(x, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t s = a->per_channel != 0 ? c : 0;
                int32_t v = cg_fully_connected_dot(a, in, c);
                v = cg_scale_double(v, a->scale_high[s], a->scale_low[s], a->scale_shift[s]);
                out[c] = (int8_t)cg_clamp(v + a->output_offset, a->act_min, a->act_max);
            }
        }
    }
}

#endif
