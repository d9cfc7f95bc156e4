/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, float: every pixel is one input vector. Weights are [out][in]; the bias is added
 * last.
 */
#ifndef CG_FULLY_CONNECTED_F32_H
#define CG_FULLY_CONNECTED_F32_H

#include "cg_float.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    float act_min, act_max;
    const float *weights;
    const float *bias;                /* null: none */
} cg_fully_connected_f32_args;

/* Outputs [c, c + n) of one input vector. */
CG_KERNEL void cg_fully_connected_f32_block(const cg_fully_connected_f32_args *a, const cg_f32 *in,
                                            int32_t c, int32_t n, cg_f32 *out)
{
    float sums[CG_F32_BLOCK] = {0.0f};
    cg_add_products_f32(sums, n, in, a->weights + (ptrdiff_t)c * a->depth, a->depth, a->depth);
    for (int32_t j = 0; j < n; j++) {
        const float v = sums[j] + (a->bias != NULL ? a->bias[c + j] : 0.0f);
        out[c + j] = cg_clamp_f32(v, a->act_min, a->act_max);
    }
}

CG_KERNEL void cg_fully_connected_f32(const cg_fully_connected_f32_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_f32 *in = (const cg_f32 *)cg_at(x, row, col);
            cg_f32 *out = (cg_f32 *)cg_put(y, row, col);
            int32_t c = r->c0;
            for (; c + CG_F32_BLOCK <= r->c1; c += CG_F32_BLOCK) {
                cg_fully_connected_f32_block(a, in, c, CG_F32_BLOCK, out);
            }
            for (; c < r->c1; c++) {
                cg_fully_connected_f32_block(a, in, c, 1, out);
            }
        }
    }
}

#endif
