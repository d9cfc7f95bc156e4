/* SPDX-License-Identifier: 0BSD
 *
 * MEAN of int32 and int64: sums of 64 bits, which wrap, divided and cut off behind the point. The
 * layout is that of the float kernel.
 */
#ifndef CG_MEAN_INTEGERS_H
#define CG_MEAN_INTEGERS_H

#include "cg_mean_f32.h"

#define CG_MEAN_INTEGERS(type)                                                                     \
    CG_KERNEL int64_t cg_mean_##type##_sum(const cg_mean_f32_args *a, const cg_src *x,             \
                                           const cg_range *w, int32_t c)                           \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (int32_t iy = w->y0; iy < w->y1; iy++) {                                               \
            for (int32_t ix = w->x0; ix < w->x1; ix++) {                                           \
                const cg_##type *p = (const cg_##type *)cg_at(x, iy, ix) + c;                      \
                for (int32_t k = 0; k < a->parts; k++) {                                           \
                    sum += (uint64_t)(int64_t)p[k * a->out_c];                                     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        return (int64_t)sum;                                                                       \
    }                                                                                              \
                                                                                                   \
    CG_KERNEL void cg_mean_##type(const cg_mean_f32_args *a, const cg_src *x, const cg_dst *y,     \
                                  const cg_range *r)                                               \
    {                                                                                              \
        for (int32_t oy = r->y0; oy < r->y1; oy++) {                                               \
            for (int32_t ox = r->x0; ox < r->x1; ox++) {                                           \
                const cg_range w = cg_mean_window(a, oy, ox);                                      \
                cg_##type *out = (cg_##type *)cg_put(y, oy, ox);                                   \
                for (int32_t c = r->c0; c < r->c1; c++) {                                          \
                    out[c] = (cg_##type)(cg_mean_##type##_sum(a, x, &w, c) / a->count);            \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

CG_MEAN_INTEGERS(s32)
CG_MEAN_INTEGERS(s64)

#endif
