/* SPDX-License-Identifier: 0BSD
 *
 * Blocks of pixels dealt out to images, and back. The rows of all images are one column of rows.
 * Image (i * block_w + j) * images + n of the dealt side holds pixel (i, j) of every block of
 * image n of the other.
 */
#ifndef CG_SPACE_BATCH_H
#define CG_SPACE_BATCH_H

#include "cg_pad.h"
#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
    int32_t images;                 /* of the side that has fewer */
    int32_t in_h, in_w, out_h;
    int32_t block_h, block_w;
    int32_t top, left;              /* rows and columns added or cut before the image's first */
    const void *value;              /* one element that is added; null where some are cut */
} cg_space_batch_args;

CG_KERNEL void cg_space_to_batch(const cg_space_batch_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    const int32_t count = r->c1 - r->c0;
    const ptrdiff_t skip = (ptrdiff_t)r->c0 * a->element_bytes;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const int32_t dealt = row / a->out_h;
        const int32_t image = dealt % a->images, place = dealt / a->images;
        const int32_t in_row = row % a->out_h * a->block_h + place / a->block_w - a->top;
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int32_t in_col = col * a->block_w + place % a->block_w - a->left;
            uint8_t *to = (uint8_t *)cg_put(y, row, col) + skip;
            if (in_row < 0 || in_row >= a->in_h || in_col < 0 || in_col >= a->in_w) {
                cg_fill_elements(to, a->value, a->element_bytes, count);
                continue;
            }
            const uint8_t *from = (const uint8_t *)cg_at(x, image * a->in_h + in_row, in_col) + skip;
            memcpy(to, from, (size_t)(count * a->element_bytes));
        }
    }
}

CG_KERNEL void cg_batch_to_space(const cg_space_batch_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    const size_t bytes = (size_t)((r->c1 - r->c0) * a->element_bytes);
    const ptrdiff_t skip = (ptrdiff_t)r->c0 * a->element_bytes;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const int32_t image = row / a->out_h, uncut_row = row % a->out_h + a->top;
        const int32_t first = uncut_row % a->block_h * a->block_w;
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int32_t uncut_col = col + a->left;
            const int32_t dealt = (first + uncut_col % a->block_w) * a->images + image;
            const int32_t in_row = dealt * a->in_h + uncut_row / a->block_h;
            const uint8_t *from = (const uint8_t *)cg_at(x, in_row, uncut_col / a->block_w) + skip;
            memcpy((uint8_t *)cg_put(y, row, col) + skip, from, bytes);
        }
    }
}

#endif
