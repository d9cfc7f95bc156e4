/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, uint8, data and weights with a zero point: every pixel is one input vector. Weights
 * are [out][in]. Rounds once, like a double product.
 */
#ifndef CG_FULLY_CONNECTED_U8_H
#define CG_FULLY_CONNECTED_U8_H

#include "cg_double_scale.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t input_offset, weights_offset, output_offset;
    int32_t act_min, act_max;
    const uint8_t *weights;
    const int32_t *bias;              /* null: none */
    uint32_t scale_high, scale_low;   /* see cg_double_scale.h */
    int32_t scale_shift;
} cg_fully_connected_u8_args;

CG_KERNEL int32_t cg_fully_connected_u8_dot(const cg_fully_connected_u8_args *a, const uint8_t *p,
                                            int32_t c)
{
    const uint8_t *w = a->weights + (ptrdiff_t)c * a->depth;
    int32_t sum = 0;
    for (int32_t k = 0; k < a->depth; k++) {
        sum += (p[k] + a->input_offset) * (w[k] + a->weights_offset);
    }
    return cg_add32(sum, a->bias != NULL ? a->bias[c] : 0);
}

CG_KERNEL void cg_fully_connected_u8(const cg_fully_connected_u8_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const uint8_t *in = (const uint8_t *)cg_at(x, row, col);
            uint8_t *out = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t sum = cg_fully_connected_u8_dot(a, in, c);
                const int32_t v = cg_scale_double(sum, a->scale_high, a->scale_low, a->scale_shift);
                out[c] = (uint8_t)cg_clamp(v + a->output_offset, a->act_min, a->act_max);
            }
        }
    }
}

#endif
