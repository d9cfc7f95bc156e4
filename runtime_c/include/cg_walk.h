/* SPDX-License-Identifier: 0BSD
 *
 * Walks through flat maps: element i of up to four nested runs of evenly spaced elements, the last of
 * which runs fastest.
 */
#ifndef CG_WALK_H
#define CG_WALK_H

#include "cg_view.h"

typedef struct {
    int32_t size1, size2, size3;      /* of the runs; that of run 0 is implied */
    int32_t stride0, stride1, stride2, stride3;
} cg_walk;

/* Where element i of the walk lies, in elements. */
CG_KERNEL int32_t cg_walked(const cg_walk *w, int32_t i)
{
    const int32_t i3 = i % w->size3, rest3 = i / w->size3;
    const int32_t i2 = rest3 % w->size2, rest2 = rest3 / w->size2;
    const int32_t i1 = rest2 % w->size1, i0 = rest2 / w->size1;
    return i0 * w->stride0 + i1 * w->stride1 + i2 * w->stride2 + i3 * w->stride3;
}

#endif
