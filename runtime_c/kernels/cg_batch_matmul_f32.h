/* SPDX-License-Identifier: 0BSD
 *
 * BATCH_MATMUL, float: products are added in the order of the inner dimension.
 */
#ifndef CG_BATCH_MATMUL_F32_H
#define CG_BATCH_MATMUL_F32_H

#include "cg_batch_matmul.h"

typedef struct {
    cg_products products;
} cg_batch_matmul_f32_args;

/* Element (i, j) of a * b. */
CG_KERNEL float cg_batch_matmul_f32_dot(cg_matrix a, cg_matrix b, int32_t i, int32_t j,
                                        int32_t depth)
{
    const uint8_t *p = a.first + i * a.row;
    const uint8_t *q = b.first + j * b.column;
    float sum = 0.0f;
    for (int32_t k = 0; k < depth; k++) {
        sum += *(const cg_f32 *)(p + k * a.column) * *(const cg_f32 *)(q + k * b.row);
    }
    return sum;
}

CG_KERNEL void cg_batch_matmul_f32(const cg_batch_matmul_f32_args *k, const cg_src *x0,
                                   const cg_src *x1, const cg_dst *y, const cg_range *r)
{
    const cg_products *p = &k->products;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_matrix a = cg_matrix_at(x0, cg_product_a(p, row), p->adj_x, 4);
        const cg_matrix b = cg_matrix_at(x1, cg_product_b(p, row), p->adj_y, 4);
        for (int32_t i = r->x0; i < r->x1; i++) {
            cg_f32 *out = (cg_f32 *)cg_put(y, row, i);
            for (int32_t j = r->c0; j < r->c1; j++) {
                out[j] = cg_batch_matmul_f32_dot(a, b, i, j, p->depth);
            }
        }
    }
}

#endif
