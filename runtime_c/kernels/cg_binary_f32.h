/* SPDX-License-Identifier: 0BSD
 *
 * ADD, SUB, MUL, DIV, MAXIMUM and MINIMUM, float, with broadcasting.
 */
#ifndef CG_BINARY_F32_H
#define CG_BINARY_F32_H

#include "cg_broadcast.h"
#include "cg_float.h"

typedef struct {
    cg_step a, b;
    float act_min, act_max;
} cg_binary_f32_args;

typedef enum { CG_SUM, CG_DIFFERENCE, CG_PRODUCT, CG_QUOTIENT, CG_LARGER, CG_SMALLER } cg_binary_f32_kind;

/* Where an operand is NaN, the larger and the smaller of two are the second one. */
CG_KERNEL float cg_binary_f32_one(cg_binary_f32_kind kind, float a, float b)
{
    switch (kind) {
    case CG_SUM:
        return a + b;
    case CG_DIFFERENCE:
        return a - b;
    case CG_PRODUCT:
        return a * b;
    case CG_QUOTIENT:
        return a / b;
    case CG_LARGER:
        return a > b ? a : b;
    case CG_SMALLER:
    default:
        return a < b ? a : b;
    }
}

CG_KERNEL void cg_binary_f32(cg_binary_f32_kind kind, const cg_binary_f32_args *k, const cg_src *x0,
                             const cg_src *x1, const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_f32 *a = (const cg_f32 *)cg_operand(x0, &k->a, row, col);
            const cg_f32 *b = (const cg_f32 *)cg_operand(x1, &k->b, row, col);
            cg_f32 *out = (cg_f32 *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float v = cg_binary_f32_one(kind, a[c * k->a.channel], b[c * k->b.channel]);
                out[c] = cg_clamp_f32(v, k->act_min, k->act_max);
            }
        }
    }
}

CG_KERNEL void cg_add_f32(const cg_binary_f32_args *k, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y, const cg_range *r)
{
    cg_binary_f32(CG_SUM, k, x0, x1, y, r);
}

CG_KERNEL void cg_sub_f32(const cg_binary_f32_args *k, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y, const cg_range *r)
{
    cg_binary_f32(CG_DIFFERENCE, k, x0, x1, y, r);
}

CG_KERNEL void cg_mul_f32(const cg_binary_f32_args *k, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y, const cg_range *r)
{
    cg_binary_f32(CG_PRODUCT, k, x0, x1, y, r);
}

CG_KERNEL void cg_div_f32(const cg_binary_f32_args *k, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y, const cg_range *r)
{
    cg_binary_f32(CG_QUOTIENT, k, x0, x1, y, r);
}

CG_KERNEL void cg_maximum_f32(const cg_binary_f32_args *k, const cg_src *x0, const cg_src *x1,
                              const cg_dst *y, const cg_range *r)
{
    cg_binary_f32(CG_LARGER, k, x0, x1, y, r);
}

CG_KERNEL void cg_minimum_f32(const cg_binary_f32_args *k, const cg_src *x0, const cg_src *x1,
                              const cg_dst *y, const cg_range *r)
{
    cg_binary_f32(CG_SMALLER, k, x0, x1, y, r);
}

#endif
