/* SPDX-License-Identifier: 0BSD
 *
 * MUL, int8: the product of the two distances to the zero points, rounded twice.
 */
#ifndef CG_MUL_H
#define CG_MUL_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t a_offset, b_offset, output_offset;
    int32_t multiplier, shift;
    int32_t act_min, act_max;
} cg_mul_args;

CG_KERNEL void cg_mul_s8(const cg_mul_args *k, const cg_src *x0, const cg_src *x1, const cg_dst *y,
                         const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *a = cg_operand(x0, &k->a, row, col);
            const int8_t *b = cg_operand(x1, &k->b, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t left = a[c * k->a.channel] + k->a_offset;
                const int32_t right = b[c * k->b.channel] + k->b_offset;
                const int32_t v = cg_requantize_twice(left * right, k->multiplier, k->shift);
                out[c] = (int8_t)cg_clamp(v + k->output_offset, k->act_min, k->act_max);
            }
        }
    }
}

#endif
