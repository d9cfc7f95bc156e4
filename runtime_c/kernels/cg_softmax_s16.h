/* SPDX-License-Identifier: 0BSD
 *
 * SOFTMAX over the channels of a pixel, int16, scale 1/32768 and zero point 0 on the way out.
 * Exponentials and the reciprocal of their sum come from tables of straight lines.
 */
#ifndef CG_SOFTMAX_S16_H
#define CG_SOFTMAX_S16_H

#include "cg_fixed_point.h"
#include "cg_interpolate.h"

typedef struct {
    int32_t multiplier, shift;        /* from distances to the largest code to 10 / 65535 each */
    const int16_t *exponentials;      /* exp of [-10, 0] */
    const int16_t *reciprocals;       /* 1 / (1 + a) of [0, 1] */
} cg_softmax_s16_args;

/* 15 fractional bits of the exponential of a distance, which is not positive. */
CG_KERNEL int32_t cg_softmax_s16_exponential(const cg_softmax_s16_args *a, int32_t distance)
{
    const int32_t steps = cg_requantize_twice(distance, a->multiplier, a->shift);
    return cg_interpolate(a->exponentials, cg_max(steps + 32767, INT16_MIN));
}

/* One pixel of n channels; `out`, which holds the exponentials on the way, may be `in`. */
CG_KERNEL void cg_softmax_s16_pixel(const cg_s16 *in, cg_s16 *out, int32_t n,
                                    const cg_softmax_s16_args *a)
{
    int32_t largest = in[0];
    for (int32_t c = 1; c < n; c++) {
        largest = cg_max(largest, in[c]);
    }
    int32_t sum = 0;                                       /* 15 fractional bits */
    for (int32_t c = 0; c < n; c++) {
        out[c] = (int16_t)cg_softmax_s16_exponential(a, in[c] - largest);
        sum += out[c];
    }
    int32_t bits = 0;                                      /* behind the first 1 of the sum */
    while ((sum >> bits) > 1) {
        bits++;
    }
    /* The digits behind the first 1, rounded to 16: 0 to 65536, which is 1. */
    const uint32_t mantissa = (((uint32_t)sum << (30 - bits)) + ((uint32_t)1 << 13)) >> 14;
    const int32_t position = cg_min((int32_t)mantissa - 65536 - 32768, INT16_MAX);
    const int32_t reciprocal = cg_interpolate(a->reciprocals, position);
    for (int32_t c = 0; c < n; c++) {
        const int32_t v = (out[c] * reciprocal + ((int32_t)1 << (bits - 1))) >> bits;
        out[c] = (int16_t)cg_clamp(v, 0, INT16_MAX);
    }
}

CG_KERNEL void cg_softmax_s16(const cg_softmax_s16_args *a, const cg_src *x, const cg_dst *y,
                              const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_s16 *in = (const cg_s16 *)cg_at(x, row, col);
            cg_softmax_s16_pixel(in, (cg_s16 *)cg_put(y, row, col), r->c1, a);
        }
    }
}

#endif
