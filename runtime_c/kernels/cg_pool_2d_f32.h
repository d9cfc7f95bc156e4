/* SPDX-License-Identifier: 0BSD
 *
 * AVERAGE_POOL_2D and MAX_POOL_2D, float, over the taps inside the map, row by row.
 */
#ifndef CG_POOL_2D_F32_H
#define CG_POOL_2D_F32_H

#include "cg_float.h"

#include <float.h>

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;
    float act_min, act_max;
} cg_pool_2d_f32_args;

/* The part of the window of output (oy, ox) that lies inside the map. */
CG_KERNEL cg_range cg_pool_2d_f32_window(const cg_pool_2d_f32_args *a, int32_t oy, int32_t ox)
{
    const int32_t iy = oy * a->stride_h - a->pad_top;
    const int32_t ix = ox * a->stride_w - a->pad_left;
    const cg_range inside = {
        cg_max(iy, 0), cg_min(iy + a->filter_h, a->in_h),
        cg_max(ix, 0), cg_min(ix + a->filter_w, a->in_w), 0, 0,
    };
    return inside;
}

CG_KERNEL float cg_pool_2d_f32_sum(const cg_src *x, const cg_range *w, int32_t c)
{
    float sum = 0.0f;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            sum += ((const cg_f32 *)cg_at(x, iy, ix))[c];
        }
    }
    return sum;
}

/* NaN counts for nothing. */
CG_KERNEL float cg_pool_2d_f32_largest(const cg_src *x, const cg_range *w, int32_t c)
{
    float largest = -FLT_MAX;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            const float v = ((const cg_f32 *)cg_at(x, iy, ix))[c];
            largest = largest < v ? v : largest;
        }
    }
    return largest;
}

CG_KERNEL void cg_average_pool_2d_f32(const cg_pool_2d_f32_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_f32_window(a, oy, ox);
            const float count = (float)((w.y1 - w.y0) * (w.x1 - w.x0));
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float mean = cg_pool_2d_f32_sum(x, &w, c) / count;
                out[c] = cg_clamp_f32(mean, a->act_min, a->act_max);
            }
        }
    }
}

CG_KERNEL void cg_max_pool_2d_f32(const cg_pool_2d_f32_args *a, const cg_src *x, const cg_dst *y,
                                  const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_f32_window(a, oy, ox);
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = cg_clamp_f32(cg_pool_2d_f32_largest(x, &w, c), a->act_min, a->act_max);
            }
        }
    }
}

#endif
