/* SPDX-License-Identifier: 0BSD
 *
 * The inverse square root of an integer, by Newton's iteration in integers.
 */
#ifndef CG_INVERSE_ROOT_H
#define CG_INVERSE_ROOT_H

#include "cg_fixed_point.h"

/* multiplier * 2^(shift - 31), shift <= 0 */
typedef struct {
    int32_t multiplier, shift;
} cg_inverse_root;

/* 1 / sqrt(v) in the steps of the reference. */
CG_KERNEL cg_inverse_root cg_inverse_square_root(int32_t v)
{
    cg_inverse_root r = {INT32_MAX, 0};
    if (v <= 1) {
        return r;
    }
    int32_t shift = 11;
    while (v >= (int32_t)1 << 29) {
        v /= 4;
        shift++;
    }
    while (v < (int32_t)1 << 27) {
        v *= 4;
        shift--;
    }
    const int32_t half = cg_rounding_shift(v >> 1, 1);     /* numbers with 28 fractional bits */
    int32_t x = (int32_t)1 << 28;
    for (int i = 0; i < 5; i++) {
        const int32_t square = cg_doubling_high_mul(x, x);
        const int32_t cube = cg_saturating_shl(cg_doubling_high_mul(square, x), 6);
        const int32_t three_halves = cg_doubling_high_mul(402653184, x);
        x = cg_saturating_shl(three_halves - cg_doubling_high_mul(half, cube), 3);
    }
    x = cg_doubling_high_mul(x, 1518500250);               /* sqrt(1/2) */
    r.multiplier = shift < 0 ? cg_shl32(x, -shift) : x;
    r.shift = shift < 0 ? 0 : -shift;
    return r;
}

#endif
