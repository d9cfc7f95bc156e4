/* SPDX-License-Identifier: 0BSD
 *
 * DIV, FLOOR_DIV, FLOOR_MOD. The reference stops at integers divided by zero; here the result is 0, or
 * for quantised codes the end of the range on the dividend's side. The smallest integer divided by -1
 * wraps.
 */
#ifndef CG_DIVIDE_H
#define CG_DIVIDE_H

#include "cg_broadcast.h"
#include "cg_reciprocal.h"

#include <math.h>

/* a / b towards zero, for 64 bits and for what fits 32. */
CG_KERNEL int64_t cg_quotient64(int64_t a, int64_t b)
{
    if (b == 0) {
        return 0;
    }
    return b == -1 ? (int64_t)(UINT64_C(0) - (uint64_t)a) : a / b;
}

CG_KERNEL int32_t cg_quotient(int32_t a, int32_t b)
{
    if (b == 0) {
        return 0;
    }
    return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}

/* a / b towards minus infinity. */
CG_KERNEL int32_t cg_floor_quotient(int32_t a, int32_t b)
{
    const int32_t q = cg_quotient(a, b);
    const int exact = b == 0 || b == -1 || a % b == 0;
    return exact || (a < 0) == (b < 0) ? q : q - 1;
}

/* What a / b towards minus infinity leaves; it has the sign of b. */
CG_KERNEL int64_t cg_floor_rest64(int64_t a, int64_t b)
{
    const int64_t rest = b == 0 || b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

CG_KERNEL int32_t cg_floor_rest(int32_t a, int32_t b)
{
    const int32_t rest = b == 0 || b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

CG_KERNEL float cg_floor_rest_f32(float a, float b)
{
    const float rest = fmodf(a, b);
    return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

typedef struct {
    cg_step a, b;
    int32_t act_min, act_max;
} cg_div_args;

CG_BINARY(cg_div_s32, cg_div_args, s32, s32, cg_clamp(cg_quotient(a, b), k->act_min, k->act_max))

CG_BINARY(cg_floor_div_s8, cg_binary_args, s8, s8, (cg_s8)cg_floor_quotient(a, b))
CG_BINARY(cg_floor_div_s16, cg_binary_args, s16, s16, (cg_s16)cg_floor_quotient(a, b))
CG_BINARY(cg_floor_div_s32, cg_binary_args, s32, s32, cg_floor_quotient(a, b))
CG_BINARY(cg_floor_div_f32, cg_binary_args, f32, f32, (float)floor((double)a / (double)b))

CG_BINARY(cg_floor_mod_s8, cg_binary_args, s8, s8, (cg_s8)cg_floor_rest(a, b))
CG_BINARY(cg_floor_mod_s16, cg_binary_args, s16, s16, (cg_s16)cg_floor_rest(a, b))
CG_BINARY(cg_floor_mod_s32, cg_binary_args, s32, s32, cg_floor_rest(a, b))
CG_BINARY(cg_floor_mod_s64, cg_binary_args, s64, s64, cg_floor_rest64(a, b))
CG_BINARY(cg_floor_mod_f32, cg_binary_args, f32, f32, cg_floor_rest_f32(a, b))

/* Quantised codes. */
typedef struct {
    cg_step a, b;
    int32_t a_offset, b_offset, output_offset;
    int32_t multiplier, shift;
    int32_t act_min, act_max;
} cg_div_codes_args;

/* Times the reciprocal of the divisor, both with all bits that they have room for. */
CG_KERNEL int32_t cg_div_code(const cg_div_codes_args *k, int32_t a, int32_t b)
{
    const int32_t negative = b + k->b_offset < 0 ? -1 : 1;
    const int32_t dividend = (a + k->a_offset) * negative;
    const int32_t divisor = (b + k->b_offset) * negative;
    if (divisor == 0) {
        return dividend < 0 ? k->act_min : k->act_max;
    }
    const int32_t zeros = cg_leading_zeros((uint32_t)divisor);
    const int32_t inverse = cg_reciprocal((int32_t)(((uint32_t)divisor << zeros) - 0x80000000u));
    const int32_t room = cg_leading_zeros((uint32_t)(dividend < 0 ? ~dividend : dividend)) - 1;
    const int32_t quotient = cg_doubling_high_mul(cg_shl32(dividend, room), inverse);
    const int32_t scaled = cg_doubling_high_mul(quotient, k->multiplier);
    const int32_t right = cg_min(31 - zeros + room - k->shift, 31);
    return cg_clamp(cg_rounding_shift(scaled, right) + k->output_offset, k->act_min, k->act_max);
}

CG_BINARY(cg_div_qs8, cg_div_codes_args, s8, s8, (cg_s8)cg_div_code(k, a, b))
CG_BINARY(cg_div_qu8, cg_div_codes_args, u8, u8, (cg_u8)cg_div_code(k, a, b))
CG_BINARY(cg_div_qs16, cg_div_codes_args, s16, s16, (cg_s16)cg_div_code(k, a, b))

#endif
