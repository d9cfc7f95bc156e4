/* SPDX-License-Identifier: 0BSD
 *
 * BATCH_MATMUL: one product of two matrices per output row, the pixels of which are the rows of the
 * result and the channels its columns. Operands may be stored transposed, and one matrix may serve
 * several products.
 */
#ifndef CG_BATCH_MATMUL_H
#define CG_BATCH_MATMUL_H

#include "cg_element.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t depth;                    /* columns of a, rows of b */
    int32_t adj_x, adj_y;             /* 1: a, b is stored transposed */
    int32_t size1, size2;             /* of the inner two of three indices of a product */
    int32_t a0, a1, a2;               /* matrices of a from one such index to the next */
    int32_t b0, b1, b2;
} cg_products;

/* Element (i, k) lies at first + i * row + k * column, in bytes. */
typedef struct {
    const uint8_t *first;
    ptrdiff_t row, column;
} cg_matrix;

CG_KERNEL cg_matrix cg_matrix_at(const cg_src *x, int32_t index, int32_t transposed, int32_t bytes)
{
    cg_matrix m;
    m.first = (const uint8_t *)cg_at(x, index, 0);
    m.row = transposed != 0 ? bytes : x->pixel;
    m.column = transposed != 0 ? x->pixel : bytes;
    return m;
}

/* The number of the matrix of a in product `index`. */
CG_KERNEL int32_t cg_product_a(const cg_products *p, int32_t index)
{
    const int32_t i2 = index % p->size2, rest = index / p->size2;
    return rest / p->size1 * p->a0 + rest % p->size1 * p->a1 + i2 * p->a2;
}

CG_KERNEL int32_t cg_product_b(const cg_products *p, int32_t index)
{
    const int32_t i2 = index % p->size2, rest = index / p->size2;
    return rest / p->size1 * p->b0 + rest % p->size1 * p->b1 + i2 * p->b2;
}

#endif
