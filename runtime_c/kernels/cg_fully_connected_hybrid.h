/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED of float data with int8 weights [out][in]: every pixel is one input vector, which
 * is quantised to int8 first.
 */
#ifndef CG_FULLY_CONNECTED_HYBRID_H
#define CG_FULLY_CONNECTED_HYBRID_H

#include "cg_hybrid.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t asymmetric;               /* 1: quantise with a zero point */
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    float act_min, act_max;
    const int8_t *weights;
    const float *scales;              /* of the weights */
    const float *bias;                /* null: none */
} cg_fully_connected_hybrid_args;

CG_KERNEL int32_t cg_fully_connected_hybrid_dot(const int8_t *p, int32_t zero_point,
                                                const int8_t *w, int32_t depth)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; k++) {
        sum += (p[k] - zero_point) * w[k];
    }
    return sum;
}

CG_KERNEL void cg_fully_connected_hybrid_vector(const cg_fully_connected_hybrid_args *a,
                                                const cg_f32 *in, int8_t *codes, cg_f32 *out,
                                                int32_t c0, int32_t c1)
{
    const cg_codes k = cg_encode_vector(in, a->depth, a->asymmetric, codes);
    for (int32_t c = c0; c < c1; c++) {
        const int8_t *w = a->weights + (ptrdiff_t)c * a->depth;
        const int32_t sum = cg_fully_connected_hybrid_dot(codes, k.zero_point, w, a->depth);
        const float scale = k.scale * a->scales[a->per_channel != 0 ? c : 0];
        const float v = (float)sum * scale + (a->bias != NULL ? a->bias[c] : 0.0f);
        out[c] = cg_clamp_f32(v, a->act_min, a->act_max);
    }
}

CG_KERNEL void cg_fully_connected_hybrid(const cg_fully_connected_hybrid_args *a, const cg_src *x,
                                         const cg_dst *y, const cg_range *r, void *scratch)
{
    int8_t *codes = (int8_t *)scratch;
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_f32 *in = (const cg_f32 *)cg_at(x, row, col);
            cg_f32 *out = (cg_f32 *)cg_put(y, row, col);
            cg_fully_connected_hybrid_vector(a, in, codes, out, r->c0, r->c1);
        }
    }
}

#endif
