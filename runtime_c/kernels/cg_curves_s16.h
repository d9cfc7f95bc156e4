/* SPDX-License-Identifier: 0BSD
 *
 * The logistic function and tanh of int16 fixed-point numbers with `bits` integer bits; results have
 * 15 fractional bits. Numbers with n integer bits have 15 - n fractional ones.
 */
#ifndef CG_CURVES_S16_H
#define CG_CURVES_S16_H

#include "cg_fixed_point.h"

/* a * b / 2^15, halves upwards; the one overflow saturates. */
CG_KERNEL int32_t cg_fixed_mul_s16(int32_t a, int32_t b)
{
    return cg_min((a * b + (1 << 14)) >> 15, INT16_MAX);
}

CG_KERNEL int32_t cg_fixed_saturate_s16(int32_t v)
{
    return cg_clamp(v, INT16_MIN, INT16_MAX);
}

/* exp(a) for a in [-1/4, 0), no integer bits: a series around -1/8. */
CG_KERNEL int32_t cg_exp_quarter_s16(int32_t a)
{
    const int32_t x = a + (1 << 12);
    const int32_t x2 = cg_fixed_mul_s16(x, x);
    const int32_t x3 = cg_fixed_mul_s16(x2, x), x4 = cg_fixed_mul_s16(x2, x2);
    const int32_t cubic = cg_fixed_mul_s16(cg_rounding_shift(x4, 2) + x3, 10923);     /* 1/3 */
    const int32_t tail = cg_rounding_shift(cubic + x2, 1);
    return cg_fixed_saturate_s16(28918 + cg_fixed_mul_s16(28918, x + tail));    /* exp(-1/8) */
}

/* exp(a) for a <= 0: the last quarter by the series, every bit of the rest by a factor. */
CG_KERNEL int32_t cg_exp_negative_s16(int32_t a, int32_t bits)
{
    static const int16_t factors[7] = {25520, 19875, 12055, 4435, 600, 11, 0};  /* exp(-2^k) */
    const int32_t quarter = (int32_t)1 << (13 - bits);
    const int32_t last = (a & (quarter - 1)) - quarter;
    const int32_t rest = last - a;
    int32_t result = cg_exp_quarter_s16(last * ((int32_t)1 << bits));
    for (int32_t k = 0; k < 7 && k - 2 < bits; k++) {
        if ((rest & quarter << k) != 0) {
            result = cg_fixed_mul_s16(result, factors[k]);
        }
    }
    if (bits > 5 && a < -((int32_t)1 << (20 - bits))) {
        return 0;
    }
    return a == 0 ? INT16_MAX : result;
}

/* 2 / (1 + a) for a in [0, 1] with 2 integer bits, by three steps of Newton's method. */
CG_KERNEL int32_t cg_reciprocal_s16(int32_t a)
{
    const int32_t half = (a + INT16_MAX + 1) / 2;
    int32_t x = 23130 + cg_fixed_mul_s16(half, -15420);                         /* 48/17, -32/17 */
    for (int32_t i = 0; i < 3; i++) {
        const int32_t rest = (1 << 13) - cg_fixed_mul_s16(half, x);
        x += cg_fixed_saturate_s16(cg_fixed_mul_s16(x, rest) * 4);
    }
    return x;
}

/* 1 / (1 + exp(-v)) */
CG_KERNEL int32_t cg_logistic_fixed_s16(int32_t v, int32_t bits)
{
    if (v == 0) {
        return 1 << 14;
    }
    const int32_t e = cg_exp_negative_s16(v > 0 ? -v : v, bits);
    const int32_t positive = cg_fixed_saturate_s16(cg_reciprocal_s16(e) * 2);
    return v > 0 ? positive : INT16_MAX - positive;
}

CG_KERNEL int32_t cg_tanh_fixed_s16(int32_t v, int32_t bits)
{
    if (v == 0) {
        return 0;
    }
    const int32_t e = cg_exp_negative_s16(v > 0 ? -v : v, bits + 1);
    const int32_t positive = cg_fixed_saturate_s16((cg_reciprocal_s16(e) - (1 << 13)) * 4);
    return v > 0 ? positive : -positive;
}

#endif
