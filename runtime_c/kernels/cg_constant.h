/* SPDX-License-Identifier: 0BSD
 *
 * Copies a table into the output.
 */
#ifndef CG_CONSTANT_H
#define CG_CONSTANT_H

#include "cg_view.h"

#include <string.h>

typedef struct {
    int32_t element_bytes;
    const void *values;
} cg_constant_args;

CG_KERNEL void cg_constant(const cg_constant_args *a, const cg_dst *y, const cg_range *r)
{
    const uint8_t *from = (const uint8_t *)a->values + (ptrdiff_t)r->c0 * a->element_bytes;
    uint8_t *to = (uint8_t *)cg_put(y, 0, 0) + (ptrdiff_t)r->c0 * a->element_bytes;
    memcpy(to, from, (size_t)((r->c1 - r->c0) * a->element_bytes));
}

#endif
