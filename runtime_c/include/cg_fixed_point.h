/* SPDX-License-Identifier: 0BSD
 *
 * Requantisation: an int32 accumulator times m * 2^(shift - 31), m in [2^30, 2^31) or 0.
 * How it rounds is part of an operator's definition, see docs/numerics.md.
 * Right shifts of negative numbers are arithmetic on every compiler these kernels are built for.
 */
#ifndef CG_FIXED_POINT_H
#define CG_FIXED_POINT_H

#include "cg_view.h"

/* a * 2^n modulo 2^32. */
CG_KERNEL int32_t cg_shl32(int32_t a, int32_t n)
{
    return (int32_t)((uint32_t)a << n);
}

/* a * 2^n as an int32, saturated. */
CG_KERNEL int32_t cg_saturating_shl(int32_t a, int32_t n)
{
    const int64_t v = (int64_t)a * ((int64_t)1 << n);
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

/* How many of the 32 bits above the highest one that is set. */
CG_KERNEL int32_t cg_leading_zeros(uint32_t v)
{
    int32_t count = 0;
    while (count < 32 && (v >> (31 - count)) == 0u) {
        count++;
    }
    return count;
}

/* a + b modulo 2^32: what the reference does where a sum leaves int32. */
CG_KERNEL int32_t cg_add32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* round(a * b / 2^31), halves upwards; the one overflow, (-2^31)^2, saturates. */
CG_KERNEL int32_t cg_doubling_high_mul(int32_t a, int32_t b)
{
    if (a == b && a == INT32_MIN) {
        return INT32_MAX;
    }
    return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

/* round(v / 2^n), halves away from zero, n in [0, 31]. */
CG_KERNEL int32_t cg_rounding_shift(int32_t v, int32_t n)
{
    const int32_t mask = (int32_t)(((uint32_t)1 << n) - 1u);
    const int32_t rest = v & mask;
    const int32_t half = (int32_t)((uint32_t)mask >> 1) + (v < 0 ? 1 : 0);
    return (v >> n) + (rest > half ? 1 : 0);
}

/* Rounds twice: after the multiplication and after the shift. */
CG_KERNEL int32_t cg_requantize_twice(int32_t acc, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = shift > 0 ? 0 : -shift;
    return cg_rounding_shift(cg_doubling_high_mul(cg_shl32(acc, left), multiplier), right);
}

#endif
