/* SPDX-License-Identifier: 0BSD
 *
 * EMBEDDING_LOOKUP in a table of int8 or int4 codes: rows, chosen at run time, as float.
 */
#ifndef CG_EMBEDDING_H
#define CG_EMBEDDING_H

#include "cg_element.h"
#include "cg_index.h"

typedef struct {
    int32_t rows, columns;
    int32_t per_row;                /* 1: one scale per row, 0: one for all */
    const int8_t *codes;            /* one per byte; null: */
    const int8_t *pairs;            /* two per byte, the first in the lower bits */
    const float *scales;
} cg_embedding_args;

CG_KERNEL int32_t cg_embedding_code(const cg_embedding_args *a, ptrdiff_t element)
{
    if (a->pairs == NULL) {
        return a->codes[element];
    }
    const int32_t pair = a->pairs[element >> 1];
    return (element & 1) != 0 ? pair >> 4 : (int8_t)(uint8_t)((uint32_t)pair << 4) >> 4;
}

CG_KERNEL void cg_embedding(const cg_embedding_args *a, const cg_src *ids, const cg_dst *y,
                            const cg_range *r)
{
    const uint8_t *indices = (const uint8_t *)cg_at(ids, 0, 0);
    for (int32_t col = r->x0; col < r->x1; col++) {
        const int32_t row = cg_index(indices, 4, col, 0, a->rows - 1);
        const float scale = a->scales[a->per_row != 0 ? row : 0];
        cg_f32 *out = (cg_f32 *)cg_put(y, 0, col);
        for (int32_t c = r->c0; c < r->c1; c++) {
            out[c] = (float)cg_embedding_code(a, (ptrdiff_t)row * a->columns + c) * scale;
        }
    }
}

#endif
