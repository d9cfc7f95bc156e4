/* SPDX-License-Identifier: 0BSD
 *
 * ADD and SUB, int8: both operands are brought to a common scale with 20 more bits, added, and
 * brought to the output's; each of the three steps rounds twice.
 */
#ifndef CG_ADD_H
#define CG_ADD_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t sign;                     /* 1: a + b, -1: a - b */
    int32_t a_offset, b_offset, output_offset;
    int32_t a_multiplier, a_shift;
    int32_t b_multiplier, b_shift;
    int32_t multiplier, shift;
    int32_t act_min, act_max;
} cg_add_args;

CG_KERNEL int8_t cg_add_one(const cg_add_args *k, int32_t a, int32_t b)
{
    const int32_t left = (a + k->a_offset) * ((int32_t)1 << 20);
    const int32_t right = (b + k->b_offset) * ((int32_t)1 << 20);
    const int32_t sum = cg_requantize_twice(left, k->a_multiplier, k->a_shift)
                      + cg_requantize_twice(right, k->b_multiplier, k->b_shift) * k->sign;
    const int32_t v = cg_requantize_twice(sum, k->multiplier, k->shift) + k->output_offset;
    return (int8_t)cg_clamp(v, k->act_min, k->act_max);
}

CG_KERNEL void cg_add_s8(const cg_add_args *k, const cg_src *x0, const cg_src *x1, const cg_dst *y,
                         const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *a = cg_operand(x0, &k->a, row, col);
            const int8_t *b = cg_operand(x1, &k->b, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = cg_add_one(k, a[c * k->a.channel], b[c * k->b.channel]);
            }
        }
    }
}

#endif
