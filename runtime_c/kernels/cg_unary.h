/* SPDX-License-Identifier: 0BSD
 *
 * Element-wise operators of one operand.
 */
#ifndef CG_UNARY_H
#define CG_UNARY_H

#include "cg_element.h"

#define CG_UNARY_LOOPS(from, to, result)                                                           \
    for (int32_t row = r->y0; row < r->y1; row++) {                                                \
        for (int32_t col = r->x0; col < r->x1; col++) {                                            \
            const cg_##from *in = (const cg_##from *)cg_at(x, row, col);                           \
            cg_##to *out = (cg_##to *)cg_put(y, row, col);                                         \
            for (int32_t c = r->c0; c < r->c1; c++) {                                              \
                const cg_##from v = in[c];                                                         \
                out[c] = (result);                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

/* Defines the kernel `name`. `result`, of type cg_<to>, is an expression of the element v, of type
 * cg_<from>. */
#define CG_UNARY(name, from, to, result)                                                           \
    CG_KERNEL void name(const cg_src *x, const cg_dst *y, const cg_range *r)                       \
    {                                                                                              \
        CG_UNARY_LOOPS(from, to, result)                                                           \
    }

/* As CG_UNARY, where `result` depends on the args k, too. */
#define CG_UNARY_WITH(name, args, from, to, result)                                                \
    CG_KERNEL void name(const args *k, const cg_src *x, const cg_dst *y, const cg_range *r)        \
    {                                                                                              \
        CG_UNARY_LOOPS(from, to, result)                                                           \
    }

#endif
