/* SPDX-License-Identifier: 0BSD
 *
 * MUL of quantised codes: the product of the two distances to the zero points, rounded twice.
 */
#ifndef CG_MUL_H
#define CG_MUL_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t a_offset, b_offset, output_offset;
    int32_t multiplier, shift;
    int32_t act_min, act_max;
} cg_mul_args;

CG_KERNEL int32_t cg_mul_one(const cg_mul_args *k, int32_t a, int32_t b)
{
    const int32_t product = (a + k->a_offset) * (b + k->b_offset);
    const int32_t v = cg_requantize_twice(product, k->multiplier, k->shift);
    return cg_clamp(cg_add32(v, k->output_offset), k->act_min, k->act_max);
}

CG_BINARY(cg_mul_s8, cg_mul_args, s8, s8, (int8_t)cg_mul_one(k, a, b))
CG_BINARY(cg_mul_u8, cg_mul_args, u8, u8, (uint8_t)cg_mul_one(k, a, b))
CG_BINARY(cg_mul_s16, cg_mul_args, s16, s16, (int16_t)cg_mul_one(k, a, b))

#endif
