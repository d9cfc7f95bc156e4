/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, int16 data without zero points, int8 weights: every pixel is one input vector.
 * Weights are [out][in]. The sum, of 64 bits, is scaled in double like the reference does it.
 */
#ifndef CG_FULLY_CONNECTED_S16_H
#define CG_FULLY_CONNECTED_S16_H

#include "cg_wide_sum.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    int32_t weights_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* null: none, or wider than 32 bits */
    const int64_t *wide_bias;         /* null: none, or not wider than 32 bits */
    const double *scale;
} cg_fully_connected_s16_args;

CG_KERNEL int64_t cg_fully_connected_s16_dot(const cg_fully_connected_s16_args *a, const cg_s16 *p,
                                             int32_t c)
{
    const int8_t *w = a->weights + (ptrdiff_t)c * a->depth;
    int64_t sum = a->bias != NULL ? a->bias[c] : 0;
    if (a->wide_bias != NULL) {
        sum = a->wide_bias[c];
    }
    for (int32_t k = 0; k < a->depth; k++) {
        sum += p[k] * (w[k] + a->weights_offset);
    }
    return sum;
}

/* Halves away from 0; |v| has to be below 2^31. */
CG_KERNEL int32_t cg_round_double(double v)
{
    const int32_t whole = (int32_t)v;
    const double rest = v - whole;
    return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

CG_KERNEL void cg_fully_connected_s16(const cg_fully_connected_s16_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_s16 *in = (const cg_s16 *)cg_at(x, row, col);
            cg_s16 *out = (cg_s16 *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const double scale = a->scale[a->per_channel != 0 ? c : 0];
                const double v = (double)cg_fully_connected_s16_dot(a, in, c) * scale;
                out[c] = (int16_t)cg_clamp(cg_round_double(v), a->act_min, a->act_max);
            }
        }
    }
}

#endif
