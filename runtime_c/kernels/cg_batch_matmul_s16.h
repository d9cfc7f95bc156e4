/* SPDX-License-Identifier: 0BSD
 *
 * BATCH_MATMUL, int16 times int16 or int8, without zero points: sums of 64 bits, rounded once with a
 * multiplier of 15 bits.
 */
#ifndef CG_BATCH_MATMUL_S16_H
#define CG_BATCH_MATMUL_S16_H

#include "cg_batch_matmul.h"
#include "cg_wide_sum.h"

typedef struct {
    cg_products products;
    int32_t multiplier, shift;        /* see cg_requantize_wide */
    int32_t b_bytes;                  /* of an element of the second operand */
} cg_batch_matmul_s16_args;

/* Element (i, j) of a * b, without the scales. */
CG_KERNEL int64_t cg_batch_matmul_s16_dot(cg_matrix a, cg_matrix b, int32_t i, int32_t j,
                                          int32_t depth, int32_t b_bytes)
{
    const uint8_t *p = a.first + i * a.row;
    const uint8_t *q = b.first + j * b.column;
    int64_t sum = 0;
    for (int32_t k = 0; k < depth; k++) {
        const uint8_t *factor = q + k * b.row;
        const int32_t v = b_bytes == 1 ? *(const cg_s8 *)factor : *(const cg_s16 *)factor;
        sum += *(const cg_s16 *)(p + k * a.column) * v;
    }
    return sum;
}

CG_KERNEL void cg_batch_matmul_s16(const cg_batch_matmul_s16_args *k, const cg_src *x0,
                                   const cg_src *x1, const cg_dst *y, const cg_range *r)
{
    const cg_products *p = &k->products;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_matrix a = cg_matrix_at(x0, cg_product_a(p, row), p->adj_x, 2);
        const cg_matrix b = cg_matrix_at(x1, cg_product_b(p, row), p->adj_y, k->b_bytes);
        for (int32_t i = r->x0; i < r->x1; i++) {
            cg_s16 *out = (cg_s16 *)cg_put(y, row, i);
            for (int32_t j = r->c0; j < r->c1; j++) {
                const int64_t sum = cg_batch_matmul_s16_dot(a, b, i, j, p->depth, k->b_bytes);
                const int32_t v = cg_requantize_wide(sum, k->multiplier, k->shift);
                out[j] = (int16_t)cg_clamp(v, INT16_MIN, INT16_MAX);
            }
        }
    }
}

#endif
