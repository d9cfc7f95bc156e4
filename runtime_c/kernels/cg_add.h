/* SPDX-License-Identifier: 0BSD
 *
 * ADD and SUB of quantised codes: both operands are brought to a common scale with 20 more bits (15 of
 * int16), added, and brought to the output's; each of the three steps rounds twice.
 */
#ifndef CG_ADD_H
#define CG_ADD_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t sign;                     /* 1: a + b, -1: a - b */
    int32_t a_offset, b_offset, output_offset;
    int32_t a_multiplier, a_shift;
    int32_t b_multiplier, b_shift;
    int32_t multiplier, shift;
    int32_t act_min, act_max;
} cg_add_args;

CG_KERNEL int32_t cg_add_one(const cg_add_args *k, int32_t a, int32_t b, int32_t extra_bits)
{
    const int32_t left = (a + k->a_offset) * ((int32_t)1 << extra_bits);
    const int32_t right = (b + k->b_offset) * ((int32_t)1 << extra_bits);
    const int32_t sum = cg_requantize_twice(left, k->a_multiplier, k->a_shift)
                      + cg_requantize_twice(right, k->b_multiplier, k->b_shift) * k->sign;
    const int32_t v = cg_requantize_twice(sum, k->multiplier, k->shift) + k->output_offset;
    return cg_clamp(v, k->act_min, k->act_max);
}

CG_BINARY(cg_add_s8, cg_add_args, s8, s8, (int8_t)cg_add_one(k, a, b, 20))
CG_BINARY(cg_add_u8, cg_add_args, u8, u8, (uint8_t)cg_add_one(k, a, b, 20))
CG_BINARY(cg_add_s16, cg_add_args, s16, s16, (int16_t)cg_add_one(k, a, b, 15))

/* Scales that are powers of two: the operand of the finer scale is shifted to the other's, the output's. */
typedef struct {
    cg_step a, b;
    int32_t sign;                     /* 1: a + b, -1: a - b */
    int32_t a_shift, b_shift;         /* to the right */
    int32_t act_min, act_max;
} cg_add_powers_args;

CG_KERNEL int32_t cg_add_powers_one(const cg_add_powers_args *k, int32_t a, int32_t b)
{
    const int32_t sum = cg_rounding_shift(a, k->a_shift) + cg_rounding_shift(b, k->b_shift) * k->sign;
    return cg_clamp(sum, k->act_min, k->act_max);
}

CG_BINARY(cg_add_powers_s16, cg_add_powers_args, s16, s16, (int16_t)cg_add_powers_one(k, a, b))

#endif
