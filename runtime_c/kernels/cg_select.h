/* SPDX-License-Identifier: 0BSD
 *
 * SELECT, SELECT_V2: a where the condition holds, else b. Of the elements only the size matters.
 */
#ifndef CG_SELECT_H
#define CG_SELECT_H

#include "cg_broadcast.h"

typedef struct {
    cg_step condition, a, b;
} cg_select_args;

/* Defines the kernel `name` for elements of type cg_<type>. */
#define CG_SELECT(name, type)                                                                      \
    CG_KERNEL void name(const cg_select_args *k, const cg_src *x0, const cg_src *x1,               \
                        const cg_src *x2, const cg_dst *y, const cg_range *r)                      \
    {                                                                                              \
        for (int32_t row = r->y0; row < r->y1; row++) {                                            \
            for (int32_t col = r->x0; col < r->x1; col++) {                                        \
                const cg_b8 *holds = (const cg_b8 *)cg_operand(x0, &k->condition, row, col);       \
                const cg_##type *a = (const cg_##type *)cg_operand(x1, &k->a, row, col);           \
                const cg_##type *b = (const cg_##type *)cg_operand(x2, &k->b, row, col);           \
                cg_##type *out = (cg_##type *)cg_put(y, row, col);                                 \
                for (int32_t c = r->c0; c < r->c1; c++) {                                          \
                    out[c] = holds[c * k->condition.channel] != 0 ? a[c * k->a.channel]            \
                                                                  : b[c * k->b.channel];           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

CG_SELECT(cg_select_8, u8)
CG_SELECT(cg_select_16, u16)
CG_SELECT(cg_select_32, u32)
CG_SELECT(cg_select_64, u64)

#endif
