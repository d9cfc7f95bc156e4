/* SPDX-License-Identifier: 0BSD
 *
 * ADD_N: the sum of two to eight maps of one shape, from the first on. Integers wrap.
 */
#ifndef CG_ADD_N_H
#define CG_ADD_N_H

#include "cg_element.h"

#define CG_EACH_2(f) f(1)
#define CG_EACH_3(f) CG_EACH_2(f) f(2)
#define CG_EACH_4(f) CG_EACH_3(f) f(3)
#define CG_EACH_5(f) CG_EACH_4(f) f(4)
#define CG_EACH_6(f) CG_EACH_5(f) f(5)
#define CG_EACH_7(f) CG_EACH_6(f) f(6)
#define CG_EACH_8(f) CG_EACH_7(f) f(7)

#define CG_ADD_N_SOURCE(i) const cg_src *x##i,
#define CG_ADD_N_f32(i) t += ((const cg_f32 *)cg_at(x##i, row, col))[c];
#define CG_ADD_N_s32(i) t += (uint32_t)((const cg_s32 *)cg_at(x##i, row, col))[c];

/* Defines the kernel of `count` inputs; the sum is of type `total`. */
#define CG_ADD_N(count, type, total)                                                               \
    CG_KERNEL void cg_add_n_##type##_##count(const cg_src *x0, CG_EACH_##count(CG_ADD_N_SOURCE)    \
                                             const cg_dst *y, const cg_range *r)                   \
    {                                                                                              \
        for (int32_t row = r->y0; row < r->y1; row++) {                                            \
            for (int32_t col = r->x0; col < r->x1; col++) {                                        \
                cg_##type *out = (cg_##type *)cg_put(y, row, col);                                 \
                for (int32_t c = r->c0; c < r->c1; c++) {                                          \
                    total t = (total)((const cg_##type *)cg_at(x0, row, col))[c];                  \
                    CG_EACH_##count(CG_ADD_N_##type)                                               \
                    out[c] = (cg_##type)t;                                                         \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define CG_ADD_N_BOTH(count)         \
    CG_ADD_N(count, f32, float)      \
    CG_ADD_N(count, s32, uint32_t)

CG_ADD_N_BOTH(2)
CG_ADD_N_BOTH(3)
CG_ADD_N_BOTH(4)
CG_ADD_N_BOTH(5)
CG_ADD_N_BOTH(6)
CG_ADD_N_BOTH(7)
CG_ADD_N_BOTH(8)

#endif
