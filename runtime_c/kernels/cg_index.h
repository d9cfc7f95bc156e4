/* SPDX-License-Identifier: 0BSD
 *
 * Indices that are known only at run time, as int32 inside their axis.
 */
#ifndef CG_INDEX_H
#define CG_INDEX_H

#include "cg_view.h"

#include <string.h>

/* Entry i of a row of int16, int32 or int64 indices, moved into [low, high]. */
CG_KERNEL int32_t cg_index(const uint8_t *indices, int32_t index_bytes, int32_t i, int32_t low,
                           int32_t high)
{
    const uint8_t *from = indices + (ptrdiff_t)i * index_bytes;
    if (index_bytes == 8) {
        int64_t wide;
        memcpy(&wide, from, sizeof wide);
        return (int32_t)(wide < low ? low : wide > high ? high : wide);
    }
    int32_t index;
    if (index_bytes == 2) {
        int16_t narrow;
        memcpy(&narrow, from, sizeof narrow);
        index = narrow;
    } else {
        memcpy(&index, from, sizeof index);
    }
    return cg_clamp(index, low, high);
}

/* The element that a vector of `depth` indices stands for: sum of index * stride. */
CG_KERNEL int32_t cg_index_nd(const uint8_t *indices, int32_t index_bytes, int32_t vector,
                              int32_t depth, const int32_t *sizes, const int32_t *strides)
{
    int32_t element = 0;
    for (int32_t k = 0; k < depth; k++) {
        const int32_t i = cg_index(indices, index_bytes, vector * depth + k, 0, sizes[k] - 1);
        element += i * strides[k];
    }
    return element;
}

#endif
