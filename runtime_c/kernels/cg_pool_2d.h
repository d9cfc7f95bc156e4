/* SPDX-License-Identifier: 0BSD
 *
 * AVERAGE_POOL_2D and MAX_POOL_2D of quantised maps. Both work on the codes themselves, input and output
 * having the same quantisation, and both look only at the taps inside the map.
 */
#ifndef CG_POOL_2D_H
#define CG_POOL_2D_H

#include "cg_code.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;
    int32_t act_min, act_max;
} cg_pool_2d_args;

/* The part of the window of output (oy, ox) that lies inside the map. */
CG_KERNEL cg_range cg_pool_2d_window(const cg_pool_2d_args *a, int32_t oy, int32_t ox)
{
    const int32_t iy = oy * a->stride_h - a->pad_top;
    const int32_t ix = ox * a->stride_w - a->pad_left;
    const cg_range inside = {
        cg_max(iy, 0), cg_min(iy + a->filter_h, a->in_h),
        cg_max(ix, 0), cg_min(ix + a->filter_w, a->in_w), 0, 0,
    };
    return inside;
}

CG_KERNEL int32_t cg_pool_2d_sum(const cg_src *x, const cg_range *w, int32_t c, cg_type type)
{
    int32_t sum = 0;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            sum += cg_code(cg_at(x, iy, ix), c, type);
        }
    }
    return sum;
}

CG_KERNEL int32_t cg_pool_2d_largest(const cg_src *x, const cg_range *w, int32_t c, cg_type type)
{
    int32_t largest = INT16_MIN;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            largest = cg_max(largest, cg_code(cg_at(x, iy, ix), c, type));
        }
    }
    return largest;
}

/* Rounds halves away from code 0. */
CG_KERNEL void cg_average_pool_2d(cg_type type, const cg_pool_2d_args *a, const cg_src *x,
                                  const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_window(a, oy, ox);
            const int32_t count = (w.y1 - w.y0) * (w.x1 - w.x0);
            void *out = cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t sum = cg_pool_2d_sum(x, &w, c, type);
                const int32_t half = sum < 0 ? -(count / 2) : count / 2;
                cg_set_code(out, c, cg_clamp((sum + half) / count, a->act_min, a->act_max), type);
            }
        }
    }
}

CG_KERNEL void cg_max_pool_2d(cg_type type, const cg_pool_2d_args *a, const cg_src *x,
                              const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_window(a, oy, ox);
            void *out = cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t v = cg_pool_2d_largest(x, &w, c, type);
                cg_set_code(out, c, cg_clamp(v, a->act_min, a->act_max), type);
            }
        }
    }
}

CG_KERNEL void cg_average_pool_2d_s8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                     const cg_range *r)
{
    cg_average_pool_2d(CG_TYPE_S8, a, x, y, r);
}

CG_KERNEL void cg_average_pool_2d_u8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                     const cg_range *r)
{
    cg_average_pool_2d(CG_TYPE_U8, a, x, y, r);
}

CG_KERNEL void cg_average_pool_2d_s16(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                      const cg_range *r)
{
    cg_average_pool_2d(CG_TYPE_S16, a, x, y, r);
}

CG_KERNEL void cg_max_pool_2d_s8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    cg_max_pool_2d(CG_TYPE_S8, a, x, y, r);
}

CG_KERNEL void cg_max_pool_2d_u8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    cg_max_pool_2d(CG_TYPE_U8, a, x, y, r);
}

CG_KERNEL void cg_max_pool_2d_s16(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                  const cg_range *r)
{
    cg_max_pool_2d(CG_TYPE_S16, a, x, y, r);
}

#endif
