/* SPDX-License-Identifier: 0BSD
 *
 * RESIZE_NEAREST_NEIGHBOR for elements of any size: pixel (row, column) of the output is pixel
 * (rows[row], columns[column]) of the input.
 */
#ifndef CG_RESIZE_NEAREST_H
#define CG_RESIZE_NEAREST_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
    const int16_t *rows;              /* input row of every output row */
    const int16_t *columns;           /* input column of every output column */
} cg_resize_nearest_args;

CG_KERNEL void cg_resize_nearest(const cg_resize_nearest_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    const int32_t skip = r->c0 * a->element_bytes;
    const size_t bytes = (size_t)((r->c1 - r->c0) * a->element_bytes);
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const uint8_t *from = (const uint8_t *)cg_at(x, a->rows[row], a->columns[col]) + skip;
            memcpy((uint8_t *)cg_put(y, row, col) + skip, from, bytes);
        }
    }
}

#endif
