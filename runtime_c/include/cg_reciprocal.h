/* SPDX-License-Identifier: 0BSD
 *
 * Reciprocals in fixed point, in the steps of the reference (gemmlowp).
 */
#ifndef CG_RECIPROCAL_H
#define CG_RECIPROCAL_H

#include "cg_fixed_point.h"

/* 2^31 / (1 + a / 2^31), a in [0, 2^31): three steps of Newton's method. */
CG_KERNEL int32_t cg_reciprocal(int32_t a)
{
    const int32_t one = (int32_t)1 << 29;                  /* numbers with 29 fractional bits */
    const int32_t half = (a >> 1) + ((int32_t)1 << 30);
    int32_t x = 1515870810 + cg_doubling_high_mul(half, -1010580540);   /* 48/17 - 32/17 half */
    for (int i = 0; i < 3; i++) {
        const int32_t rest = one - cg_doubling_high_mul(half, x);
        x += cg_doubling_high_mul(x, rest) * 4;
    }
    return x >= (int32_t)1 << 30 ? INT32_MAX : x * 2;
}

#endif
