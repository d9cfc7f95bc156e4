/* SPDX-License-Identifier: 0BSD
 *
 * Copies a range of pixels of any element size: concatenation, splitting, slicing, reshaping.
 */
#ifndef CG_COPY_H
#define CG_COPY_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
} cg_copy_args;

CG_KERNEL void cg_copy(const cg_copy_args *a, const cg_src *x, const cg_dst *y, const cg_range *r)
{
    const int32_t skip = r->c0 * a->element_bytes;
    const int32_t pixel = (r->c1 - r->c0) * a->element_bytes;
    const int32_t width = r->x1 - r->x0;
    const int whole_rows = pixel == x->pixel && pixel == y->pixel;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const uint8_t *from = (const uint8_t *)cg_at(x, row, r->x0) + skip;
        uint8_t *to = (uint8_t *)cg_put(y, row, r->x0) + skip;
        if (whole_rows) {
            memcpy(to, from, (size_t)(pixel * width));
            continue;
        }
        for (int32_t col = 0; col < width; col++) {
            memcpy(to, from, (size_t)pixel);
            from += x->pixel;
            to += y->pixel;
        }
    }
}

#endif
