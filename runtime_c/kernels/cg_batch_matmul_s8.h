/* SPDX-License-Identifier: 0BSD
 *
 * BATCH_MATMUL, int8: sums of (a + offset) * (b + offset), rounded twice.
 */
#ifndef CG_BATCH_MATMUL_S8_H
#define CG_BATCH_MATMUL_S8_H

#include "cg_batch_matmul.h"

typedef struct {
    cg_products products;
    int32_t a_offset, b_offset, output_offset;
    int32_t multiplier, shift;
} cg_batch_matmul_s8_args;

/* Element (i, j) of a * b, without the scales. */
CG_KERNEL int32_t cg_batch_matmul_s8_dot(const cg_batch_matmul_s8_args *k, cg_matrix a,
                                         cg_matrix b, int32_t i, int32_t j)
{
    const uint8_t *p = a.first + i * a.row;
    const uint8_t *q = b.first + j * b.column;
    int32_t sum = 0;
    for (int32_t n = 0; n < k->products.depth; n++) {
        const int32_t left = *(const int8_t *)(p + n * a.column) + k->a_offset;
        const int32_t right = *(const int8_t *)(q + n * b.row) + k->b_offset;
        sum += left * right;
    }
    return sum;
}

CG_KERNEL void cg_batch_matmul_s8(const cg_batch_matmul_s8_args *k, const cg_src *x0,
                                  const cg_src *x1, const cg_dst *y, const cg_range *r)
{
    const cg_products *p = &k->products;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_matrix a = cg_matrix_at(x0, cg_product_a(p, row), p->adj_x, 1);
        const cg_matrix b = cg_matrix_at(x1, cg_product_b(p, row), p->adj_y, 1);
        for (int32_t i = r->x0; i < r->x1; i++) {
            int8_t *out = (int8_t *)cg_put(y, row, i);
            for (int32_t j = r->c0; j < r->c1; j++) {
                const int32_t sum = cg_batch_matmul_s8_dot(k, a, b, i, j);
                const int32_t v = cg_requantize_twice(sum, k->multiplier, k->shift);
                out[j] = (int8_t)cg_clamp(cg_add32(v, k->output_offset), INT8_MIN, INT8_MAX);
            }
        }
    }
}

#endif
