/* SPDX-License-Identifier: 0BSD
 *
 * LOG_SOFTMAX over the channels of a pixel, int8 and uint8, scale 1/16 on the way out. The exponential
 * of every possible distance to the largest code stands in a table; the logarithm of their sum is a
 * quotient of polynomials in fixed point, see docs/numerics.md.
 */
#ifndef CG_LOG_SOFTMAX_H
#define CG_LOG_SOFTMAX_H

#include "cg_code.h"
#include "cg_fixed_point.h"
#include "cg_reciprocal.h"

typedef struct {
    int32_t count;                    /* distances from here on weigh nothing */
    const int32_t *exponentials;      /* 19 fractional bits, by distance */
    int32_t multiplier, shift;        /* from codes to 26 fractional bits */
    int32_t reverse_multiplier, reverse_shift;
    int32_t least;                    /* difference of codes at which the result is the lowest code */
} cg_log_softmax_args;

/* v = 2^(power + 1/4) * rest. */
typedef struct {
    int32_t power;                    /* with 25 fractional bits */
    int32_t rest;                     /* with 31 fractional bits */
} cg_log_parts;

/* Takes v, of 19 fractional bits, apart, so that rest * 2^(1/4) is near 1. */
CG_KERNEL cg_log_parts cg_log_split(int32_t v)
{
    const int32_t half_root = 1518500250;                  /* sqrt(1/2) */
    const int32_t quarter = (int32_t)1 << 23;
    const int32_t scaled = cg_doubling_high_mul(v, half_root);
    const int32_t zeros = cg_leading_zeros((uint32_t)v);
    const int32_t headroom = cg_leading_zeros((uint32_t)scaled) - 1;
    const int32_t first =
        cg_saturating_shl(cg_doubling_high_mul(cg_saturating_shl(v, zeros - 1), half_root), 1);
    const int32_t second = cg_saturating_shl(v, headroom);
    const cg_log_parts parts = {
        cg_max((12 - zeros) * (1 << 25) + quarter, (12 - headroom) * (1 << 25) - quarter),
        cg_min(first, second),
    };
    return parts;
}

/* log(v), v of 19 fractional bits and at least 1, with 26 fractional bits. */
CG_KERNEL int32_t cg_log_fixed(int32_t v)
{
    const int32_t fourth_root = 1805811301;                /* sqrt(sqrt(1/2)) */
    const cg_log_parts parts = cg_log_split(v);
    const int32_t mean = (int32_t)(((int64_t)parts.rest + fourth_root + 1) / 2);
    const int32_t q = (parts.rest - fourth_root) * 2;
    const int32_t square = cg_doubling_high_mul(q, q);
    const int32_t cubic = cg_doubling_high_mul(cg_doubling_high_mul(q, square), 117049297);
    const int32_t numerator = cg_doubling_high_mul(q, parts.rest) + cubic;
    const int32_t sum = 1057819769 + q + cg_doubling_high_mul(127690142, square);
    const int32_t denominator =
        cg_doubling_high_mul(mean, sum) + cg_doubling_high_mul(638450708, q);
    const int32_t quotient = cg_doubling_high_mul(cg_rounding_shift(numerator, 6),
                                                  cg_reciprocal(denominator));
    return cg_saturating_shl(cg_doubling_high_mul(parts.power, 1488522236) + quotient, 1);
}

/* One pixel of n channels; `out` may be `in`. */
CG_KERNEL void cg_log_softmax_pixel(const cg_log_softmax_args *a, const void *in, void *out,
                                    int32_t n, cg_type type)
{
    const int32_t high = type == CG_TYPE_U8 ? UINT8_MAX : INT8_MAX;
    int32_t largest = cg_code(in, 0, type);
    for (int32_t c = 1; c < n; c++) {
        largest = cg_max(largest, cg_code(in, c, type));
    }
    int32_t sum = 0;
    for (int32_t c = 0; c < n; c++) {
        const int32_t distance = largest - cg_code(in, c, type);
        sum += distance < a->count ? a->exponentials[distance] : 0;
    }
    const int32_t log_sum = cg_log_fixed(sum);
    const int32_t reach =
        cg_requantize_twice(log_sum + INT32_MIN, a->reverse_multiplier, a->reverse_shift);
    const int32_t least = cg_max(a->least, reach);
    for (int32_t c = 0; c < n; c++) {
        const int32_t difference = cg_code(in, c, type) - largest;
        const int32_t real = cg_requantize_twice(difference, a->multiplier, a->shift) - log_sum;
        const int32_t v = cg_max(cg_rounding_shift(real, 22) + high, high - 255);
        cg_set_code(out, c, difference > least ? v : high - 255, type);
    }
}

CG_KERNEL void cg_log_softmax_s8(const cg_log_softmax_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            cg_log_softmax_pixel(a, cg_at(x, row, col), cg_put(y, row, col), r->c1, CG_TYPE_S8);
        }
    }
}

CG_KERNEL void cg_log_softmax_u8(const cg_log_softmax_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            cg_log_softmax_pixel(a, cg_at(x, row, col), cg_put(y, row, col), r->c1, CG_TYPE_U8);
        }
    }
}

#endif
