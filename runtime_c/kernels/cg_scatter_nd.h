/* SPDX-License-Identifier: 0BSD
 *
 * Zeros, to which slices are added at places that are known only at run time. The output is one
 * flat row. Integer sums wrap around; sums of truth values are "or".
 */
#ifndef CG_SCATTER_ND_H
#define CG_SCATTER_ND_H

#include "cg_index.h"
#include "cg_view.h"

#include <string.h>

typedef enum { CG_SUM_INTEGER = 0, CG_SUM_FLOAT = 1, CG_SUM_BOOL = 2 } cg_sum;

typedef struct {
    int32_t sum;                    /* a cg_sum */
    int32_t element_bytes, index_bytes;
    int32_t vectors, depth;         /* vectors of indices, indices of each */
    int32_t inner;                  /* elements of a slice */
    const int32_t *sizes, *strides; /* of the axes that they index, in elements */
} cg_scatter_nd_args;

/* *to += *from for little-endian integers of 1, 2, 4 or 8 bytes. */
CG_KERNEL void cg_add_integers(uint8_t *to, const uint8_t *from, size_t bytes)
{
    uint64_t a = 0, b = 0;
    memcpy(&a, to, bytes);
    memcpy(&b, from, bytes);
    a += b;
    memcpy(to, &a, bytes);
}

CG_KERNEL void cg_add_floats(uint8_t *to, const uint8_t *from)
{
    float a, b;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);
    a += b;
    memcpy(to, &a, sizeof a);
}

CG_KERNEL void cg_scatter_nd(const cg_scatter_nd_args *a, const cg_src *x0, const cg_src *x1,
                             const cg_dst *y, const cg_range *r)
{
    const uint8_t *indices = (const uint8_t *)cg_at(x0, 0, 0);
    const uint8_t *from = (const uint8_t *)cg_at(x1, 0, 0);
    uint8_t *all = (uint8_t *)cg_put(y, 0, 0);
    memset(all, 0, (size_t)(r->c1 * a->element_bytes));
    for (int32_t v = 0; v < a->vectors; v++) {
        const int32_t first =
            cg_index_nd(indices, a->index_bytes, v, a->depth, a->sizes, a->strides);
        uint8_t *to = all + (ptrdiff_t)first * a->element_bytes;
        for (int32_t i = 0; i < a->inner; i++) {
            if (a->sum == CG_SUM_FLOAT) {
                cg_add_floats(to, from);
            } else if (a->sum == CG_SUM_BOOL) {
                *to |= *from;
            } else {
                cg_add_integers(to, from, (size_t)a->element_bytes);
            }
            to += a->element_bytes;
            from += a->element_bytes;
        }
    }
}

#endif
