/* SPDX-License-Identifier: 0BSD
 *
 * MAXIMUM, int8: the larger of two codes, whatever their scales.
 */
#ifndef CG_MAXIMUM_H
#define CG_MAXIMUM_H

#include "cg_broadcast.h"

typedef struct {
    cg_step a, b;
} cg_maximum_args;

CG_KERNEL void cg_maximum_s8(const cg_maximum_args *k, const cg_src *x0, const cg_src *x1,
                             const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *a = cg_operand(x0, &k->a, row, col);
            const int8_t *b = cg_operand(x1, &k->b, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = (int8_t)cg_max(a[c * k->a.channel], b[c * k->b.channel]);
            }
        }
    }
}

#endif
