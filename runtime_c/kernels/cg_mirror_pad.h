/* SPDX-License-Identifier: 0BSD
 *
 * Padding with the map's own elements, mirrored at its borders. The rows of all images are one
 * column of rows.
 */
#ifndef CG_MIRROR_PAD_H
#define CG_MIRROR_PAD_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
    int32_t repeated;               /* 1: the border element is mirrored too; 0: it is not */
    int32_t in_n, in_h, in_w, in_c;
    int32_t out_h;
    int32_t pad_images, pad_top, pad_left, pad_front;
} cg_mirror_pad_args;

/* The input index that stands at an output index less the padding in front. */
CG_KERNEL int32_t cg_mirrored(int32_t inside, int32_t size, int32_t repeated)
{
    if (inside < 0) {
        return -inside - repeated;
    }
    return inside >= size ? 2 * size - 2 + repeated - inside : inside;
}

CG_KERNEL void cg_mirror_pad(const cg_mirror_pad_args *a, const cg_src *x, const cg_dst *y,
                             const cg_range *r)
{
    const size_t bytes = (size_t)a->element_bytes;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const int32_t image = cg_mirrored(row / a->out_h - a->pad_images, a->in_n, a->repeated);
        const int32_t line = cg_mirrored(row % a->out_h - a->pad_top, a->in_h, a->repeated);
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int32_t from_col = cg_mirrored(col - a->pad_left, a->in_w, a->repeated);
            const uint8_t *from = (const uint8_t *)cg_at(x, image * a->in_h + line, from_col);
            uint8_t *to = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t k = cg_mirrored(c - a->pad_front, a->in_c, a->repeated);
                memcpy(to + (ptrdiff_t)c * a->element_bytes,
                       from + (ptrdiff_t)k * a->element_bytes, bytes);
            }
        }
    }
}

#endif
