/* SPDX-License-Identifier: 0BSD
 *
 * RELU and its kin, LEAKY_RELU, HARD_SWISH, LOGISTIC and TANH, float. Comparisons stand so that NaN
 * passes through.
 */
#ifndef CG_ACTIVATION_F32_H
#define CG_ACTIVATION_F32_H

#include "cg_float.h"
#include "cg_unary.h"

#include <math.h>

typedef struct {
    float low, high;
} cg_relu_f32_args;

typedef struct {
    float alpha;
} cg_leaky_relu_f32_args;

/* 1 / (1 + exp(-v)); at both ends what that comes to, where the sum would lose all digits of it. */
CG_KERNEL float cg_logistic_one(float v)
{
    if (v > 16.619047f) {
        return 1.0f;
    }
    return v < -9.0f ? expf(v) : 1.0f / (1.0f + expf(-v));
}

CG_UNARY_WITH(cg_relu_f32, cg_relu_f32_args, f32, f32, cg_clamp_f32(v, k->low, k->high))
CG_UNARY_WITH(cg_leaky_relu_f32, cg_leaky_relu_f32_args, f32, f32, v > 0.0f ? v : v * k->alpha)
CG_UNARY(cg_hard_swish_f32, f32, f32, v * cg_clamp_f32(v + 3.0f, 0.0f, 6.0f) / 6.0f)
CG_UNARY(cg_logistic_f32, f32, f32, cg_logistic_one(v))
CG_UNARY(cg_tanh_f32, f32, f32, tanhf(v))

#endif
