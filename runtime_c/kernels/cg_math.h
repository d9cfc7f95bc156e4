/* SPDX-License-Identifier: 0BSD
 *
 * Functions of one float, each called like its operator. Those of the C library are as exact as it is.
 */
#ifndef CG_MATH_H
#define CG_MATH_H

#include "cg_unary.h"

#include <math.h>

/* To the nearest integer, halves to the even one. */
CG_KERNEL float cg_round_half_even(float v)
{
    const float low = floorf(v);
    const float rest = v - low;
    const int even = floorf(low * 0.5f) * 2.0f == low;
    return rest < 0.5f || (rest == 0.5f && even) ? low : low + 1.0f;
}

CG_UNARY(cg_exp_f32, f32, f32, expf(v))
CG_UNARY(cg_log_f32, f32, f32, logf(v))
CG_UNARY(cg_sqrt_f32, f32, f32, sqrtf(v))
CG_UNARY(cg_rsqrt_f32, f32, f32, 1.0f / sqrtf(v))
CG_UNARY(cg_square_f32, f32, f32, v * v)
CG_UNARY(cg_floor_f32, f32, f32, floorf(v))
CG_UNARY(cg_ceil_f32, f32, f32, ceilf(v))
CG_UNARY(cg_round_half_even_f32, f32, f32, cg_round_half_even(v))

CG_UNARY(cg_elu_f32, f32, f32, v < 0.0f ? expm1f(v) : v)

/* x times the normal distribution's integral up to x; erfc keeps its digits far to the left. */
CG_UNARY(cg_gelu_f32, f32, f32, 0.5f * v * erfcf(v * -0.70710678f))
CG_UNARY(cg_gelu_approximate_f32, f32, f32,
         0.5f * v * (1.0f + tanhf(0.7978846f * (v + 0.044715f * v * v * v))))

/* Codes without zero points: the root's steps of y_scale, what is behind the point cut off. */
typedef struct {
    float x_scale, y_scale;
} cg_sqrt_args;

CG_KERNEL int16_t cg_sqrt_code(const cg_sqrt_args *k, int32_t v)
{
    const float steps = sqrtf((float)cg_max(v, 0) * k->x_scale) / k->y_scale;
    return (int16_t)(steps < 32767.0f ? steps : 32767.0f);
}

CG_UNARY_WITH(cg_sqrt_qs16, cg_sqrt_args, s16, s16, cg_sqrt_code(k, v))

#endif
