/* SPDX-License-Identifier: 0BSD
 *
 * A new axis (the columns) on which the entry that an index names differs from all others.
 */
#ifndef CG_ONE_HOT_H
#define CG_ONE_HOT_H

#include "cg_index.h"
#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes, index_bytes;
    int32_t depth;                  /* entries of the new axis */
    int32_t inner;                  /* indices of a row */
    const void *on, *off;           /* one element each */
} cg_one_hot_args;

CG_KERNEL void cg_one_hot(const cg_one_hot_args *a, const cg_src *x, const cg_dst *y,
                          const cg_range *r)
{
    const uint8_t *indices = (const uint8_t *)cg_at(x, 0, 0);
    const size_t bytes = (size_t)a->element_bytes;
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            uint8_t *to = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                /* Indices outside of the axis name no entry: -1 and depth are none. */
                const int32_t i =
                    cg_index(indices, a->index_bytes, row * a->inner + c, -1, a->depth);
                memcpy(to + (size_t)c * bytes, i == col ? a->on : a->off, bytes);
            }
        }
    }
}

#endif
