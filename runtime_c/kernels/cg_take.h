/* SPDX-License-Identifier: 0BSD
 *
 * Slices of a flat input, chosen by indices that are known only at run time.
 */
#ifndef CG_TAKE_H
#define CG_TAKE_H

#include "cg_index.h"
#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes, index_bytes;
    int32_t outer;                  /* rows of the output that use the same indices */
    int32_t axis;                   /* entries of the axis that is indexed */
    int32_t count;                  /* indices of a row */
    int32_t inner;                  /* elements of an entry */
} cg_take_args;

typedef struct {
    int32_t element_bytes, index_bytes;
    int32_t depth;                  /* indices of a vector */
    const int32_t *sizes, *strides; /* of the axes that they index, in elements */
} cg_take_nd_args;

CG_KERNEL void cg_take(const cg_take_args *a, const cg_src *x0, const cg_src *x1, const cg_dst *y,
                       const cg_range *r)
{
    const uint8_t *all = (const uint8_t *)cg_at(x0, 0, 0);
    const uint8_t *indices = (const uint8_t *)cg_at(x1, 0, 0);
    const ptrdiff_t skip = (ptrdiff_t)r->c0 * a->element_bytes;
    const size_t bytes = (size_t)((r->c1 - r->c0) * a->element_bytes);
    for (int32_t row = r->y0; row < r->y1; row++) {
        const int32_t first = row / a->outer * a->count;
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int32_t i = cg_index(indices, a->index_bytes, first + col, 0, a->axis - 1);
            const int32_t element = (row * a->axis + i) * a->inner;
            const uint8_t *from = all + (ptrdiff_t)element * a->element_bytes + skip;
            memcpy((uint8_t *)cg_put(y, row, col) + skip, from, bytes);
        }
    }
}

CG_KERNEL void cg_take_nd(const cg_take_nd_args *a, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y, const cg_range *r)
{
    const uint8_t *all = (const uint8_t *)cg_at(x0, 0, 0);
    const uint8_t *indices = (const uint8_t *)cg_at(x1, 0, 0);
    const ptrdiff_t skip = (ptrdiff_t)r->c0 * a->element_bytes;
    const size_t bytes = (size_t)((r->c1 - r->c0) * a->element_bytes);
    for (int32_t col = r->x0; col < r->x1; col++) {
        const int32_t element =
            cg_index_nd(indices, a->index_bytes, col, a->depth, a->sizes, a->strides);
        const uint8_t *from = all + (ptrdiff_t)element * a->element_bytes + skip;
        memcpy((uint8_t *)cg_put(y, 0, col) + skip, from, bytes);
    }
}

#endif
