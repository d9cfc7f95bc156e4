/* SPDX-License-Identifier: 0BSD
 *
 * Functions of one 8-bit variable, signed or not: the result of every code stands in a table.
 */
#ifndef CG_LOOKUP_H
#define CG_LOOKUP_H

#include "cg_view.h"

typedef struct {
    const uint8_t *table;             /* 256 results, in the order of the codes as bytes */
} cg_lookup_args;

CG_KERNEL void cg_lookup_8(const cg_lookup_args *a, const cg_src *x, const cg_dst *y,
                           const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const uint8_t *in = (const uint8_t *)cg_at(x, row, col);
            uint8_t *out = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = a->table[in[c]];
            }
        }
    }
}

#endif
