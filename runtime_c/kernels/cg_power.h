/* SPDX-License-Identifier: 0BSD
 *
 * POW and ATAN2. Integers wrap; their exponents must not be negative, which the reference checks and which
 * here counts as 0.
 */
#ifndef CG_POWER_H
#define CG_POWER_H

#include "cg_broadcast.h"

#include <math.h>

CG_KERNEL int32_t cg_power(int32_t base, int32_t exponent)
{
    uint32_t square = (uint32_t)base, result = 1u;
    for (int32_t rest = exponent; rest > 0; rest /= 2) {
        result *= rest % 2 != 0 ? square : 1u;
        square *= square;
    }
    return (int32_t)result;
}

CG_BINARY(cg_pow_f32, cg_binary_args, f32, f32, powf(a, b))
CG_BINARY(cg_atan2_f32, cg_binary_args, f32, f32, atan2f(a, b))
CG_BINARY(cg_pow_s32, cg_binary_args, s32, s32, cg_power(a, b))

#endif
