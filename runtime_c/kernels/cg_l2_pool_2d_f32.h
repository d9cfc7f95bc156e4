/* SPDX-License-Identifier: 0BSD
 *
 * L2_POOL_2D, float: the square root of the mean square over the taps inside the map, row by row.
 */
#ifndef CG_L2_POOL_2D_F32_H
#define CG_L2_POOL_2D_F32_H

#include "cg_pool_2d_f32.h"

#include <math.h>

CG_KERNEL float cg_pool_2d_f32_squares(const cg_src *x, const cg_range *w, int32_t c)
{
    float sum = 0.0f;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            const float v = ((const cg_f32 *)cg_at(x, iy, ix))[c];
            sum += v * v;
        }
    }
    return sum;
}

CG_KERNEL void cg_l2_pool_2d_f32(const cg_pool_2d_f32_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_f32_window(a, oy, ox);
            const float count = (float)((w.y1 - w.y0) * (w.x1 - w.x0));
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float root = sqrtf(cg_pool_2d_f32_squares(x, &w, c) / count);
                out[c] = cg_clamp_f32(root, a->act_min, a->act_max);
            }
        }
    }
}

#endif
