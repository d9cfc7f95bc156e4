/* SPDX-License-Identifier: 0BSD
 *
 * SOFTMAX over the channels of a pixel of 8-bit codes. Results are fractions of all the codes of their
 * type: of 8 bits the scale is 1/256, of 16 bits 1/65536, and the lowest code is 0.
 * The exponential of every possible distance to the largest code stands in a table; the
 * quotient is one reciprocal per pixel in fixed point (Newton), see docs/numerics.md.
 */
#ifndef CG_SOFTMAX_H
#define CG_SOFTMAX_H

#include "cg_code.h"
#include "cg_reciprocal.h"

typedef struct {
    int32_t count;                    /* distances from here on weigh nothing */
    const int32_t *exponentials;      /* 31 fractional bits, by distance */
} cg_softmax_args;

CG_KERNEL int32_t cg_softmax_exponential(const cg_softmax_args *a, int32_t distance)
{
    return distance < a->count ? a->exponentials[distance] : 0;
}

/* One pixel of n channels; `out` may be `in` where both have one type. Results count from the lowest
 * code of their type and take all its bits. */
CG_KERNEL void cg_softmax_pixel(cg_type from, cg_type to, const cg_softmax_args *a, const void *in,
                                void *out, int32_t n)
{
    int32_t largest = cg_code(in, 0, from);
    for (int32_t c = 1; c < n; c++) {
        largest = cg_max(largest, cg_code(in, c, from));
    }
    uint32_t sum = 0;                                      /* 19 fractional bits */
    for (int32_t c = 0; c < n; c++) {
        const int32_t e = cg_softmax_exponential(a, largest - cg_code(in, c, from));
        sum += (uint32_t)cg_rounding_shift(e, 12);
    }
    const int32_t lowest = to == CG_TYPE_U8 ? 0 : to == CG_TYPE_S16 ? INT16_MIN : INT8_MIN;
    const int32_t highest = to == CG_TYPE_S16 ? UINT16_MAX : UINT8_MAX;
    int32_t shift = to == CG_TYPE_S16 ? 27 : 35;           /* less the leading zeros of the sum */
    while (sum < (uint32_t)1 << 31) {
        sum <<= 1;
        shift--;
    }
    const int32_t scale = cg_reciprocal((int32_t)(sum - ((uint32_t)1 << 31)));
    for (int32_t c = 0; c < n; c++) {
        const int32_t e = cg_softmax_exponential(a, largest - cg_code(in, c, from));
        const int32_t v = cg_doubling_high_mul(scale, e);
        const int32_t code = shift < 32 ? cg_rounding_shift(v, shift) : 0;
        cg_set_code(out, c, cg_min(code, highest) + lowest, to);
    }
}

CG_KERNEL void cg_softmax(cg_type from, cg_type to, const cg_softmax_args *a, const cg_src *x,
                          const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            cg_softmax_pixel(from, to, a, cg_at(x, row, col), cg_put(y, row, col), r->c1);
        }
    }
}

CG_KERNEL void cg_softmax_s8(const cg_softmax_args *a, const cg_src *x, const cg_dst *y,
                             const cg_range *r)
{
    cg_softmax(CG_TYPE_S8, CG_TYPE_S8, a, x, y, r);
}

CG_KERNEL void cg_softmax_u8(const cg_softmax_args *a, const cg_src *x, const cg_dst *y,
                             const cg_range *r)
{
    cg_softmax(CG_TYPE_U8, CG_TYPE_U8, a, x, y, r);
}

CG_KERNEL void cg_softmax_s8_s16(const cg_softmax_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    cg_softmax(CG_TYPE_S8, CG_TYPE_S16, a, x, y, r);
}

CG_KERNEL void cg_softmax_u8_s16(const cg_softmax_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    cg_softmax(CG_TYPE_U8, CG_TYPE_S16, a, x, y, r);
}

#endif
