/* SPDX-License-Identifier: 0BSD
 *
 * The shape that two shapes broadcast to, axis by axis from the last one.
 */
#ifndef CG_BROADCAST_ARGS_H
#define CG_BROADCAST_ARGS_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;          /* 4 or 8 */
    int32_t a_missing, b_missing;   /* leading axes that a shape does not have */
} cg_broadcast_args_args;

/* Size i of a shape, 1 where it is missing. */
CG_KERNEL int64_t cg_size_at(const uint8_t *shape, int32_t element_bytes, int32_t i)
{
    if (i < 0) {
        return 1;
    }
    if (element_bytes == 8) {
        int64_t wide;
        memcpy(&wide, shape + (ptrdiff_t)i * 8, sizeof wide);
        return wide;
    }
    int32_t size;
    memcpy(&size, shape + (ptrdiff_t)i * 4, sizeof size);
    return size;
}

CG_KERNEL void cg_broadcast_args(const cg_broadcast_args_args *a, const cg_src *x0,
                                 const cg_src *x1, const cg_dst *y, const cg_range *r)
{
    const uint8_t *first = (const uint8_t *)cg_at(x0, 0, 0);
    const uint8_t *second = (const uint8_t *)cg_at(x1, 0, 0);
    uint8_t *out = (uint8_t *)cg_put(y, 0, 0);
    for (int32_t i = r->c0; i < r->c1; i++) {
        const int64_t p = cg_size_at(first, a->element_bytes, i - a->a_missing);
        const int64_t q = cg_size_at(second, a->element_bytes, i - a->b_missing);
        const int64_t wide = p != 1 ? p : q;
        const int32_t size = (int32_t)wide;
        const void *from = a->element_bytes == 8 ? (const void *)&wide : (const void *)&size;
        memcpy(out + (ptrdiff_t)i * a->element_bytes, from, (size_t)a->element_bytes);
    }
}

#endif
