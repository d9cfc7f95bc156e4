/* SPDX-License-Identifier: 0BSD
 *
 * SQUARED_DIFFERENCE: (a - b) * (a - b). Integers wrap. Codes are brought to a common scale with 7 more
 * bits, and their square to the output's; each change of scale rounds twice.
 */
#ifndef CG_SQUARED_DIFFERENCE_H
#define CG_SQUARED_DIFFERENCE_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t a_offset, b_offset, output_offset;
    int32_t a_multiplier, a_shift;
    int32_t b_multiplier, b_shift;
    int32_t multiplier, shift;
} cg_squared_difference_args;

CG_KERNEL int8_t cg_squared_difference_code(const cg_squared_difference_args *k, int32_t a, int32_t b)
{
    const int32_t left = cg_requantize_twice((a + k->a_offset) * 128, k->a_multiplier, k->a_shift);
    const int32_t right = cg_requantize_twice((b + k->b_offset) * 128, k->b_multiplier, k->b_shift);
    const int32_t difference = left - right;
    const int32_t v = cg_requantize_twice(difference * difference, k->multiplier, k->shift);
    return (int8_t)cg_clamp(cg_add32(v, k->output_offset), INT8_MIN, INT8_MAX);
}

CG_KERNEL int32_t cg_squared_difference(int32_t a, int32_t b)
{
    const uint32_t difference = (uint32_t)a - (uint32_t)b;
    return (int32_t)(difference * difference);
}

CG_BINARY(cg_squared_difference_f32, cg_binary_args, f32, f32, (a - b) * (a - b))
CG_BINARY(cg_squared_difference_s32, cg_binary_args, s32, s32, cg_squared_difference(a, b))
CG_BINARY(cg_squared_difference_qs8, cg_squared_difference_args, s8, s8,
          cg_squared_difference_code(k, a, b))

#endif
