/* SPDX-License-Identifier: 0BSD
 *
 * CUMSUM: sums of all elements along an axis up to each, with or without itself. Integers wrap.
 */
#ifndef CG_CUMSUM_H
#define CG_CUMSUM_H

#include "cg_element.h"
#include "cg_walk.h"

typedef struct {
    cg_walk lines;                    /* to the first element of each line */
    int32_t line_count;
    int32_t count, stride;            /* of the elements of a line */
    int32_t exclusive;                /* 1: without the element itself */
    int32_t reverse;                  /* 1: from the line's end */
} cg_cumsum_args;

/* Defines the kernel `name`; sums are of type `total`. */
#define CG_CUMSUM(name, type, total)                                                               \
    CG_KERNEL void name(const cg_cumsum_args *k, const cg_src *x, const cg_dst *y,                 \
                        const cg_range *r)                                                         \
    {                                                                                              \
        const cg_##type *in = (const cg_##type *)cg_at(x, 0, 0);                                   \
        cg_##type *out = (cg_##type *)cg_put(y, 0, 0);                                             \
        (void)r;                                                                                   \
        for (int32_t line = 0; line < k->line_count; line++) {                                     \
            const int32_t first = cg_walked(&k->lines, line);                                      \
            total t = 0;                                                                           \
            for (int32_t i = 0; i < k->count; i++) {                                               \
                const int32_t place = k->reverse != 0 ? k->count - 1 - i : i;                      \
                const int32_t at = first + place * k->stride;                                      \
                const total before = t;                                                            \
                t += (total)in[at];                                                                \
                out[at] = (cg_##type)(k->exclusive != 0 ? before : t);                             \
            }                                                                                      \
        }                                                                                          \
    }

CG_CUMSUM(cg_cumsum_f32, f32, float)
CG_CUMSUM(cg_cumsum_s32, s32, uint32_t)
CG_CUMSUM(cg_cumsum_s64, s64, uint64_t)

#endif
