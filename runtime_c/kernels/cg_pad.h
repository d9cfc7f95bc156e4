/* SPDX-License-Identifier: 0BSD
 *
 * Padding with a constant: rows, columns and channels around a map, and whole boxes of the value.
 */
#ifndef CG_PAD_H
#define CG_PAD_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
    int32_t in_h, in_w, in_c;
    int32_t pad_top, pad_left, pad_front;   /* rows, columns, channels before the input's first */
    const void *value;                      /* one element */
} cg_pad_args;

typedef struct {
    int32_t element_bytes;
    const void *value;
} cg_fill_args;

CG_KERNEL void cg_fill_elements(uint8_t *to, const void *value, int32_t element_bytes,
                                int32_t count)
{
    if (element_bytes == 1) {
        memset(to, *(const uint8_t *)value, (size_t)count);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        memcpy(to + (ptrdiff_t)i * element_bytes, value, (size_t)element_bytes);
    }
}

/* Channels [c0, c1) of one output pixel; `from` is the input pixel below it, null in the padding. */
CG_KERNEL void cg_pad_pixel(uint8_t *to, const uint8_t *from, const cg_pad_args *a, int32_t c0,
                            int32_t c1)
{
    const int32_t first = from != NULL ? cg_clamp(a->pad_front, c0, c1) : c1;
    const int32_t end = from != NULL ? cg_clamp(a->pad_front + a->in_c, first, c1) : c1;
    cg_fill_elements(to + (ptrdiff_t)c0 * a->element_bytes, a->value, a->element_bytes, first - c0);
    if (end > first) {
        memcpy(to + (ptrdiff_t)first * a->element_bytes,
               from + (ptrdiff_t)(first - a->pad_front) * a->element_bytes,
               (size_t)((end - first) * a->element_bytes));
    }
    cg_fill_elements(to + (ptrdiff_t)end * a->element_bytes, a->value, a->element_bytes, c1 - end);
}

CG_KERNEL void cg_pad(const cg_pad_args *a, const cg_src *x, const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        const int32_t in_row = row - a->pad_top;
        const int row_inside = in_row >= 0 && in_row < a->in_h;
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int32_t in_col = col - a->pad_left;
            const int inside = row_inside && in_col >= 0 && in_col < a->in_w;
            const uint8_t *from = inside ? (const uint8_t *)cg_at(x, in_row, in_col) : NULL;
            cg_pad_pixel((uint8_t *)cg_put(y, row, col), from, a, r->c0, r->c1);
        }
    }
}

CG_KERNEL void cg_fill(const cg_fill_args *a, const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            uint8_t *to = (uint8_t *)cg_put(y, row, col) + (ptrdiff_t)r->c0 * a->element_bytes;
            cg_fill_elements(to, a->value, a->element_bytes, r->c1 - r->c0);
        }
    }
}

#endif
