/* SPDX-License-Identifier: 0BSD
 *
 * ARG_MAX, ARG_MIN: where along an axis the largest or smallest element stands, the first of equals.
 */
#ifndef CG_ARG_H
#define CG_ARG_H

#include "cg_element.h"
#include "cg_walk.h"

typedef struct {
    cg_walk kept;                     /* to the first element of each search */
    int32_t count, stride;            /* of the elements from there on */
} cg_arg_args;

/* Defines the kernel `name` from elements of type cg_<from> to indices of type cg_<to>. */
#define CG_ARG(name, from, to, better)                                                             \
    CG_KERNEL void name(const cg_arg_args *k, const cg_src *x, const cg_dst *y, const cg_range *r) \
    {                                                                                              \
        const cg_##from *in = (const cg_##from *)cg_at(x, 0, 0);                                   \
        cg_##to *out = (cg_##to *)cg_put(y, 0, 0);                                                 \
        for (int32_t c = r->c0; c < r->c1; c++) {                                                  \
            const cg_##from *p = in + cg_walked(&k->kept, c);                                      \
            int32_t best = 0;                                                                      \
            for (int32_t i = 1; i < k->count; i++) {                                               \
                if (p[i * k->stride] better p[best * k->stride]) {                                 \
                    best = i;                                                                      \
                }                                                                                  \
            }                                                                                      \
            out[c] = best;                                                                         \
        }                                                                                          \
    }

#define CG_ARG_BOTH(type)                             \
    CG_ARG(cg_arg_max_##type##_s32, type, s32, >)     \
    CG_ARG(cg_arg_max_##type##_s64, type, s64, >)     \
    CG_ARG(cg_arg_min_##type##_s32, type, s32, <)     \
    CG_ARG(cg_arg_min_##type##_s64, type, s64, <)

CG_ARG_BOTH(f32)
CG_ARG_BOTH(s8)
CG_ARG_BOTH(u8)
CG_ARG_BOTH(s32)

#endif
