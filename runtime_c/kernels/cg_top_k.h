/* SPDX-License-Identifier: 0BSD
 *
 * The largest elements of each pixel, from the largest down, and their channels. Of equal elements
 * the first counts as larger. Nothing is sorted: each place takes the largest of those that come
 * behind the one before it in that order, which needs no memory.
 */
#ifndef CG_TOP_K_H
#define CG_TOP_K_H

#include "cg_view.h"

#include <string.h>

typedef enum { CG_UNSIGNED = 0, CG_SIGNED = 1, CG_FLOAT = 2 } cg_number;

typedef struct {
    int32_t number;                 /* a cg_number */
    int32_t element_bytes, index_bytes;
    int32_t count;                  /* elements to choose from */
} cg_top_k_args;

/* Element i of a pixel of integers, made to fit int64. */
CG_KERNEL int64_t cg_integer(const cg_top_k_args *a, const uint8_t *pixel, int32_t i)
{
    const size_t bytes = (size_t)a->element_bytes;
    uint64_t raw = 0;
    memcpy(&raw, pixel + (size_t)i * bytes, bytes);
    if (a->number == CG_SIGNED && bytes < 8 && (raw >> (8 * bytes - 1) & 1u) != 0u) {
        return (int64_t)raw - (int64_t)((uint64_t)1 << (8 * bytes));
    }
    int64_t value;
    memcpy(&value, &raw, sizeof value);
    return value;
}

CG_KERNEL float cg_real(const uint8_t *pixel, int32_t i)
{
    float value;
    memcpy(&value, pixel + (ptrdiff_t)i * (ptrdiff_t)sizeof value, sizeof value);
    return value;
}

/* Whether element i comes before element j from the largest down. */
CG_KERNEL int cg_comes_before(const cg_top_k_args *a, const uint8_t *pixel, int32_t i, int32_t j)
{
    if (a->number == CG_FLOAT) {
        const float p = cg_real(pixel, i), q = cg_real(pixel, j);
        return p > q || (p == q && i < j);
    }
    const int64_t p = cg_integer(a, pixel, i), q = cg_integer(a, pixel, j);
    return p > q || (p == q && i < j);
}

/* The first element of those behind element `last`; of all if that is negative. */
CG_KERNEL int32_t cg_next_largest(const cg_top_k_args *a, const uint8_t *pixel, int32_t last)
{
    int32_t best = -1;
    for (int32_t i = 0; i < a->count; i++) {
        if (last >= 0 && !cg_comes_before(a, pixel, last, i)) {
            continue;
        }
        if (best < 0 || cg_comes_before(a, pixel, i, best)) {
            best = i;
        }
    }
    return cg_max(best, 0);
}

CG_KERNEL void cg_top_k(const cg_top_k_args *a, const cg_src *x, const cg_dst *y0,
                        const cg_dst *y1, const cg_range *r)
{
    const size_t bytes = (size_t)a->element_bytes;
    for (int32_t row = r->y0; row < r->y1; row++) {
        const uint8_t *pixel = (const uint8_t *)cg_at(x, row, 0);
        uint8_t *values = (uint8_t *)cg_put(y0, row, 0);
        uint8_t *indices = (uint8_t *)cg_put(y1, row, 0);
        int32_t last = -1;
        for (int32_t k = 0; k < r->c1; k++) {
            last = cg_next_largest(a, pixel, last);
            memcpy(values + (size_t)k * bytes, pixel + (size_t)last * bytes, bytes);
            const int16_t narrow = (int16_t)last;
            const void *from = a->index_bytes == 2 ? (const void *)&narrow : (const void *)&last;
            memcpy(indices + (ptrdiff_t)k * a->index_bytes, from, (size_t)a->index_bytes);
        }
    }
}

#endif
