/* SPDX-License-Identifier: 0BSD
 *
 * ADD, SUB and MUL of int8 codes for Helium: cg_add.h and cg_mul.h in lanes. Products of MUL have to
 * stay below 2^30 after scaling.
 */
#ifndef CG_ADD_MVE_H
#define CG_ADD_MVE_H

#include "cg_add.h"
#include "cg_lanes_mve.h"
#include "cg_mul.h"

#if CG_MVE

/* Four operands at the common scale. Half of a multiple of 2^20 is exact. */
CG_KERNEL int32x4_t cg_add_mve_scaled(int32x4_t v, int32_t multiplier, int32_t shift)
{
    return multiplier == 1 << 30 && shift == 0 ? vshrq_n_s32(v, 1) : cg_lanes_twice(v, multiplier, shift);
}

CG_KERNEL void cg_add_mve_8(const cg_add_args *k, const int8_t *a, const int8_t *b, int8_t *out, int32_t n)
{
    const int16x8_t wide_a = vshlq_n_s16(vaddq_n_s16(cg_lanes_load(a, k->a.channel, n), (int16_t)k->a_offset), 4);
    const int16x8_t wide_b = vshlq_n_s16(vaddq_n_s16(cg_lanes_load(b, k->b.channel, n), (int16_t)k->b_offset), 4);
    int32x4_t even = cg_add_mve_scaled(vshllbq_n_s16(wide_b, 16), k->b_multiplier, k->b_shift);
    int32x4_t odd = cg_add_mve_scaled(vshlltq_n_s16(wide_b, 16), k->b_multiplier, k->b_shift);
    const int32x4_t even_a = cg_add_mve_scaled(vshllbq_n_s16(wide_a, 16), k->a_multiplier, k->a_shift);
    const int32x4_t odd_a = cg_add_mve_scaled(vshlltq_n_s16(wide_a, 16), k->a_multiplier, k->a_shift);
    even = k->sign > 0 ? vaddq_s32(even_a, even) : vsubq_s32(even_a, even);
    odd = k->sign > 0 ? vaddq_s32(odd_a, odd) : vsubq_s32(odd_a, odd);
    even = cg_lanes_twice(even, k->multiplier, k->shift);
    odd = cg_lanes_twice(odd, k->multiplier, k->shift);
    cg_lanes_store(out, cg_lanes_codes(even, odd, k->output_offset, k->act_min, k->act_max), n);
}

CG_KERNEL void cg_mul_mve_8(const cg_mul_args *k, const int8_t *a, const int8_t *b, int8_t *out, int32_t n)
{
    const int16x8_t x = vaddq_n_s16(cg_lanes_load(a, k->a.channel, n), (int16_t)k->a_offset);
    const int16x8_t y = vaddq_n_s16(cg_lanes_load(b, k->b.channel, n), (int16_t)k->b_offset);
    const int32x4_t even = cg_lanes_twice(vmullbq_int_s16(x, y), k->multiplier, k->shift);
    const int32x4_t odd = cg_lanes_twice(vmulltq_int_s16(x, y), k->multiplier, k->shift);
    cg_lanes_store(out, cg_lanes_codes(even, odd, k->output_offset, k->act_min, k->act_max), n);
}

#else

CG_KERNEL void cg_add_mve_8(const cg_add_args *k, const int8_t *a, const int8_t *b, int8_t *out, int32_t n)
{
    for (int32_t c = 0; c < cg_min(n, 8); c++) {
        out[c] = (int8_t)cg_add_one(k, a[c * k->a.channel], b[c * k->b.channel], 20);
    }
}

CG_KERNEL void cg_mul_mve_8(const cg_mul_args *k, const int8_t *a, const int8_t *b, int8_t *out, int32_t n)
{
    for (int32_t c = 0; c < cg_min(n, 8); c++) {
        out[c] = (int8_t)cg_mul_one(k, a[c * k->a.channel], b[c * k->b.channel]);
    }
}

#endif

/* Defines the kernel `name` from a function that makes up to eight elements. */
#define CG_BINARY_MVE(name, args, eight)                                              \
    CG_KERNEL void name(const args *k, const cg_src *x0, const cg_src *x1,            \
                        const cg_dst *y, const cg_range *r)                           \
    {                                                                                 \
        for (int32_t row = r->y0; row < r->y1; row++) {                               \
            for (int32_t col = r->x0; col < r->x1; col++) {                           \
                const int8_t *a = (const int8_t *)cg_operand(x0, &k->a, row, col);    \
                const int8_t *b = (const int8_t *)cg_operand(x1, &k->b, row, col);    \
                int8_t *out = (int8_t *)cg_put(y, row, col);                          \
                int32_t c = r->c0;                                                    \
                for (; c + 8 <= r->c1; c += 8) {                                      \
                    eight(k, a + c * k->a.channel, b + c * k->b.channel, out + c, 8); \
                }                                                                     \
                if (c < r->c1) {                                                      \
                    eight(k, a + c * k->a.channel, b + c * k->b.channel, out + c, r->c1 - c); \
                }                                                                     \
            }                                                                         \
        }                                                                             \
    }

CG_BINARY_MVE(cg_add_mve_s8, cg_add_args, cg_add_mve_8)
CG_BINARY_MVE(cg_mul_mve_s8, cg_mul_args, cg_mul_mve_8)

#endif
