/* SPDX-License-Identifier: 0BSD
 *
 * A copy of a map with a box exchanged, whose place is known only at run time. All are flat rows.
 */
#ifndef CG_UPDATE_SLICE_H
#define CG_UPDATE_SLICE_H

#include "cg_index.h"
#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes, index_bytes;
    int32_t rank;
    int32_t update_elements;
    const int32_t *sizes;           /* of the update */
    const int32_t *limits;          /* the last place where it lies inside, by axis */
    const int32_t *strides;         /* of the output, in elements */
} cg_update_slice_args;

/* The output element where the update's first one goes. */
CG_KERNEL int32_t cg_update_start(const cg_update_slice_args *a, const uint8_t *start)
{
    int32_t element = 0;
    for (int32_t k = 0; k < a->rank; k++) {
        element += cg_index(start, a->index_bytes, k, 0, a->limits[k]) * a->strides[k];
    }
    return element;
}

/* Works in place too: then x0 is the output. */
CG_KERNEL void cg_update_slice(const cg_update_slice_args *a, const cg_src *x0, const cg_src *x1,
                               const cg_src *x2, const cg_dst *y, const cg_range *r)
{
    const uint8_t *all = (const uint8_t *)cg_at(x0, 0, 0);
    const uint8_t *update = (const uint8_t *)cg_at(x1, 0, 0);
    uint8_t *out = (uint8_t *)cg_put(y, 0, 0);
    const int32_t start = cg_update_start(a, (const uint8_t *)cg_at(x2, 0, 0));
    const int32_t run = a->sizes[a->rank - 1];
    if (out != all) {
        memcpy(out, all, (size_t)(r->c1 * a->element_bytes));
    }
    for (int32_t first = 0; first < a->update_elements; first += run) {
        int32_t rest = first / run, element = start;
        for (int32_t k = a->rank - 2; k >= 0; k--) {
            element += rest % a->sizes[k] * a->strides[k];
            rest /= a->sizes[k];
        }
        memcpy(out + (ptrdiff_t)element * a->element_bytes,
               update + (ptrdiff_t)first * a->element_bytes, (size_t)(run * a->element_bytes));
    }
}

#endif
