/* SPDX-License-Identifier: 0BSD
 *
 * SOFTMAX over the channels of a pixel, int8, scale 1/256 and zero point -128 on the way out.
 * The exponential of every possible distance to the largest code stands in a table; the
 * quotient is one reciprocal per pixel in fixed point (Newton), see docs/numerics.md.
 */
#ifndef CG_SOFTMAX_H
#define CG_SOFTMAX_H

#include "cg_fixed_point.h"

typedef struct {
    int32_t count;                    /* distances from here on weigh nothing */
    const int32_t *exponentials;      /* 31 fractional bits, by distance */
} cg_softmax_args;

/* 2^31 / (1 + a / 2^31), a in [0, 2^31), in the steps of the reference. */
CG_KERNEL int32_t cg_softmax_reciprocal(int32_t a)
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

CG_KERNEL int32_t cg_softmax_exponential(const cg_softmax_args *a, int32_t distance)
{
    return distance < a->count ? a->exponentials[distance] : 0;
}

/* One pixel of n channels; `out` may be `in`. */
CG_KERNEL void cg_softmax_pixel(const cg_softmax_args *a, const int8_t *in, int8_t *out, int32_t n)
{
    int32_t largest = in[0];
    for (int32_t c = 1; c < n; c++) {
        largest = cg_max(largest, in[c]);
    }
    uint32_t sum = 0;                                      /* 19 fractional bits */
    for (int32_t c = 0; c < n; c++) {
        sum += (uint32_t)cg_rounding_shift(cg_softmax_exponential(a, largest - in[c]), 12);
    }
    int32_t shift = 35;                                    /* less the leading zeros of the sum */
    while (sum < (uint32_t)1 << 31) {
        sum <<= 1;
        shift--;
    }
    const int32_t scale = cg_softmax_reciprocal((int32_t)(sum - ((uint32_t)1 << 31)));
    for (int32_t c = 0; c < n; c++) {
        const int32_t e = cg_softmax_exponential(a, largest - in[c]);
        const int32_t v = cg_doubling_high_mul(scale, e);
        out[c] = (int8_t)(cg_min(shift < 32 ? cg_rounding_shift(v, shift) : 0, 255) - 128);
    }
}

CG_KERNEL void cg_softmax_s8(const cg_softmax_args *a, const cg_src *x, const cg_dst *y,
                             const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *in = (const int8_t *)cg_at(x, row, col);
            cg_softmax_pixel(a, in, (int8_t *)cg_put(y, row, col), r->c1);
        }
    }
}

#endif
