/* SPDX-License-Identifier: 0BSD
 *
 * Operands of element-wise operators that may be smaller than the output: a dimension of 1 serves
 * every position of the output along it.
 */
#ifndef CG_BROADCAST_H
#define CG_BROADCAST_H

#include "cg_element.h"

/* 1: the operand moves along with the output in this direction; 0: its only element serves all. */
typedef struct {
    int32_t row, col, channel;
} cg_step;

/* The args of kernels without further constants. */
typedef struct {
    cg_step a, b;
} cg_binary_args;

/* The first channel of the operand's pixel for output pixel (r, c). */
CG_KERNEL const void *cg_operand(const cg_src *v, const cg_step *step, int32_t r, int32_t c)
{
    return cg_at(v, r * step->row, c * step->col);
}

/* Defines the kernel `name`. `result`, of type cg_<to>, is an expression of the elements a and b, of
 * types cg_<left> and cg_<right>, and of the args k. */
#define CG_BINARY_MIXED(name, args, left, right, to, result)                                       \
    CG_KERNEL void name(const args *k, const cg_src *x0, const cg_src *x1, const cg_dst *y,        \
                        const cg_range *r)                                                         \
    {                                                                                              \
        for (int32_t row = r->y0; row < r->y1; row++) {                                            \
            for (int32_t col = r->x0; col < r->x1; col++) {                                        \
                const cg_##left *in0 = (const cg_##left *)cg_operand(x0, &k->a, row, col);         \
                const cg_##right *in1 = (const cg_##right *)cg_operand(x1, &k->b, row, col);       \
                cg_##to *out = (cg_##to *)cg_put(y, row, col);                                     \
                for (int32_t c = r->c0; c < r->c1; c++) {                                          \
                    const cg_##left a = in0[c * k->a.channel];                                     \
                    const cg_##right b = in1[c * k->b.channel];                                    \
                    out[c] = (result);                                                             \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* As CG_BINARY_MIXED, both operands of type cg_<from>. */
#define CG_BINARY(name, args, from, to, result) \
    CG_BINARY_MIXED(name, args, from, from, to, result)

#endif
