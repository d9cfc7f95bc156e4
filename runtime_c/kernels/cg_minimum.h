/* SPDX-License-Identifier: 0BSD
 *
 * MINIMUM, int8: the smaller of two codes, whatever their scales.
 */
#ifndef CG_MINIMUM_H
#define CG_MINIMUM_H

#include "cg_broadcast.h"

typedef struct {
    cg_step a, b;
} cg_minimum_args;

CG_KERNEL void cg_minimum_s8(const cg_minimum_args *k, const cg_src *x0, const cg_src *x1,
                             const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *a = cg_operand(x0, &k->a, row, col);
            const int8_t *b = cg_operand(x1, &k->b, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = (int8_t)cg_min(a[c * k->a.channel], b[c * k->b.channel]);
            }
        }
    }
}

#endif
