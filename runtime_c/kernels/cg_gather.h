/* SPDX-License-Identifier: 0BSD
 *
 * Fills the output in order with elements picked from evenly strided places of a flat input:
 * transposition, slicing with steps. Element (row, column, channel) of the output is input element
 *     start + sum of row index i * stride i + column * pixel_stride + channel * element_stride
 * where the row number is split into four indices, the last of which runs fastest.
 */
#ifndef CG_GATHER_H
#define CG_GATHER_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
    int32_t start;
    int32_t size1, size2, size3;      /* of the row indices; that of index 0 is implied */
    int32_t stride0, stride1, stride2, stride3;
    int32_t pixel_stride, element_stride;
} cg_gather_args;

/* The input element where an output row begins. */
CG_KERNEL int32_t cg_gather_row(const cg_gather_args *a, int32_t row)
{
    const int32_t i3 = row % a->size3, rest3 = row / a->size3;
    const int32_t i2 = rest3 % a->size2, rest2 = rest3 / a->size2;
    const int32_t i1 = rest2 % a->size1, i0 = rest2 / a->size1;
    return a->start + i0 * a->stride0 + i1 * a->stride1 + i2 * a->stride2 + i3 * a->stride3;
}

CG_KERNEL void cg_gather(const cg_gather_args *a, const cg_src *x, const cg_dst *y,
                         const cg_range *r)
{
    const uint8_t *all = (const uint8_t *)cg_at(x, 0, 0);
    const size_t bytes = (size_t)a->element_bytes;
    const int32_t count = r->c1 - r->c0;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const int32_t first = cg_gather_row(a, row) + r->c0 * a->element_stride;
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int32_t element = first + col * a->pixel_stride;
            const uint8_t *from = all + (ptrdiff_t)element * a->element_bytes;
            uint8_t *to = (uint8_t *)cg_put(y, row, col) + r->c0 * a->element_bytes;
            if (a->element_stride == 1) {
                memcpy(to, from, bytes * (size_t)count);
                continue;
            }
            for (int32_t c = 0; c < count; c++) {
                memcpy(to, from, bytes);
                from += (ptrdiff_t)a->element_stride * a->element_bytes;
                to += a->element_bytes;
            }
        }
    }
}

#endif
