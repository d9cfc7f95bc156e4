/* SPDX-License-Identifier: 0BSD
 *
 * What kernels on float maps share. Sums run in the order of the reference, one product after the
 * other, and are compiled without contraction into fused operations: the bits are part of the result.
 */
#ifndef CG_FLOAT_H
#define CG_FLOAT_H

#include "cg_element.h"

/* Comparisons stand so that NaN passes through. */
CG_KERNEL float cg_clamp_f32(float v, float low, float high)
{
    const float raised = v < low ? low : v;
    return high < raised ? high : raised;
}

/* To the nearest integer, halves away from zero. What is beyond 2^24 saturates there, NaN below. */
CG_KERNEL int32_t cg_round_f32(float v)
{
    const float far = 16777216.0f;    /* from here on all floats are integers */
    const float above = v > -far ? v : -far;
    const float near = above < far ? above : far;
    const int32_t whole = (int32_t)near;
    const float rest = near - (float)whole;
    return whole + (rest >= 0.5f ? 1 : 0) - (rest <= -0.5f ? 1 : 0);
}

/* Out channels that a pixel computes at a time, so that one load of the input serves them all. */
#define CG_F32_BLOCK 4

/* sums[j] += x[k] * w[j * row + k] for each j < n and k = 0, 1, ... count - 1 in this order. */
CG_KERNEL void cg_add_products_f32(float *sums, int32_t n, const cg_f32 *x, const float *w,
                                   ptrdiff_t row, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        const float v = x[k];
        for (int32_t j = 0; j < n; j++) {
            sums[j] += v * w[j * row + k];
        }
    }
}

#endif
