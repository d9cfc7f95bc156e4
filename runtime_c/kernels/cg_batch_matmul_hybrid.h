/* SPDX-License-Identifier: 0BSD
 *
 * BATCH_MATMUL of float a and int8 b without a zero point: every row of a is quantised to int8 first.
 */
#ifndef CG_BATCH_MATMUL_HYBRID_H
#define CG_BATCH_MATMUL_HYBRID_H

#include "cg_batch_matmul.h"
#include "cg_hybrid.h"

typedef struct {
    cg_products products;
    int32_t asymmetric;               /* 1: quantise with a zero point */
    float scale;                      /* of b */
} cg_batch_matmul_hybrid_args;

/* Quantises the `depth` elements from `p` on, `step` bytes apart. */
CG_KERNEL cg_codes cg_encode_strided(const uint8_t *p, ptrdiff_t step, int32_t depth,
                                     int32_t asymmetric, int8_t *codes)
{
    cg_extent e = {0.0f, 0.0f};
    for (int32_t k = 0; k < depth; k++) {
        e = cg_extended(e, (const cg_f32 *)(p + k * step), 1);
    }
    const cg_codes c = asymmetric != 0 ? cg_asymmetric_codes(e) : cg_symmetric_codes(e);
    for (int32_t k = 0; k < depth; k++) {
        const cg_f32 *v = (const cg_f32 *)(p + k * step);
        cg_encode(&c, asymmetric != 0 ? -128 : -127, v, codes + k, 1);
    }
    return c;
}

CG_KERNEL int32_t cg_batch_matmul_hybrid_dot(const int8_t *codes, int32_t zero_point, cg_matrix b,
                                             int32_t j, int32_t depth)
{
    const uint8_t *q = b.first + j * b.column;
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; k++) {
        sum += (codes[k] - zero_point) * *(const int8_t *)(q + k * b.row);
    }
    return sum;
}

CG_KERNEL void cg_batch_matmul_hybrid(const cg_batch_matmul_hybrid_args *k, const cg_src *x0,
                                      const cg_src *x1, const cg_dst *y, const cg_range *r,
                                      void *scratch)
{
    const cg_products *p = &k->products;
    int8_t *codes = (int8_t *)scratch;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const cg_matrix a = cg_matrix_at(x0, cg_product_a(p, row), p->adj_x, 4);
        const cg_matrix b = cg_matrix_at(x1, cg_product_b(p, row), p->adj_y, 1);
        for (int32_t i = r->x0; i < r->x1; i++) {
            const cg_codes c = cg_encode_strided(a.first + i * a.row, a.column, p->depth,
                                                 k->asymmetric, codes);
            const float scale = k->scale * c.scale;
            cg_f32 *out = (cg_f32 *)cg_put(y, row, i);
            for (int32_t j = r->c0; j < r->c1; j++) {
                const int32_t sum =
                    cg_batch_matmul_hybrid_dot(codes, c.zero_point, b, j, p->depth);
                out[j] = (float)sum * scale;
            }
        }
    }
}

#endif
