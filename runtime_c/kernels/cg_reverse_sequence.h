/* SPDX-License-Identifier: 0BSD
 *
 * The first entries of an axis in reverse order, as many as a second axis has lengths for. The two axes
 * are the last but `inner` elements behind them.
 */
#ifndef CG_REVERSE_SEQUENCE_H
#define CG_REVERSE_SEQUENCE_H

#include "cg_index.h"
#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes, index_bytes;
    int32_t inner;                      /* elements that stay together */
    int32_t sequence, sequence_step;    /* entries of the axis; pixels from one to the next */
    int32_t batch, batch_step;          /* likewise of the axis with a length per entry */
} cg_reverse_sequence_args;

CG_KERNEL void cg_reverse_sequence(const cg_reverse_sequence_args *a, const cg_src *x0,
                                   const cg_src *x1, const cg_dst *y, const cg_range *r)
{
    const uint8_t *lengths = (const uint8_t *)cg_at(x1, 0, 0);
    const ptrdiff_t skip = (ptrdiff_t)r->c0 * a->element_bytes;
    const size_t bytes = (size_t)((r->c1 - r->c0) * a->element_bytes);
    for (int32_t col = r->x0; col < r->x1; col++) {
        const int32_t sequence = col / a->batch_step % a->batch;
        const int32_t length = cg_index(lengths, a->index_bytes, sequence, 0, a->sequence);
        const int32_t entry = col / a->sequence_step % a->sequence;
        const int32_t turned = entry < length ? length - 1 - entry : entry;
        const int32_t from = col + (turned - entry) * a->sequence_step;
        memcpy((uint8_t *)cg_put(y, 0, col) + skip, (const uint8_t *)cg_at(x0, 0, from) + skip,
               bytes);
    }
}

#endif
