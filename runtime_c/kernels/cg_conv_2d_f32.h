/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, float, grouped or not. Weights are [out channel][filter row][filter column][in channel of
 * the group]. Adds x * w over the taps inside the map, row by row, and the bias last.
 */
#ifndef CG_CONV_2D_F32_H
#define CG_CONV_2D_F32_H

#include "cg_float.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t group_in, group_out;      /* channels per group */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    float act_min, act_max;
    const float *weights;
    const float *bias;                /* null: none */
} cg_conv_2d_f32_args;

/* Out channels [c, c + n), all of one group, at `out`; (iy, ix) is the position of tap (0, 0). */
CG_KERNEL void cg_conv_2d_f32_block(const cg_conv_2d_f32_args *a, const cg_src *x, int32_t iy,
                                    int32_t ix, int32_t c, int32_t n, cg_f32 *out)
{
    const int32_t first_in = c / a->group_out * a->group_in;
    const ptrdiff_t filter = (ptrdiff_t)a->filter_h * a->filter_w * a->group_in;
    float sums[CG_F32_BLOCK] = {0.0f};
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t y = iy + ky * a->dilation_h;
        if (y < 0 || y >= a->in_h) {
            continue;
        }
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t col = ix + kx * a->dilation_w;
            if (col < 0 || col >= a->in_w) {
                continue;
            }
            const cg_f32 *p = (const cg_f32 *)cg_at(x, y, col) + first_in;
            const float *w = a->weights + c * filter + (ky * a->filter_w + kx) * a->group_in;
            cg_add_products_f32(sums, n, p, w, filter, a->group_in);
        }
    }
    for (int32_t j = 0; j < n; j++) {
        const float v = sums[j] + (a->bias != NULL ? a->bias[c + j] : 0.0f);
        out[c + j] = cg_clamp_f32(v, a->act_min, a->act_max);
    }
}

CG_KERNEL void cg_conv_2d_f32(const cg_conv_2d_f32_args *a, const cg_src *x, const cg_dst *y,
                              const cg_range *r)
{
    const int blocks = a->group_out % CG_F32_BLOCK == 0 && r->c0 % CG_F32_BLOCK == 0;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            int32_t c = r->c0;
            for (; blocks && c + CG_F32_BLOCK <= r->c1; c += CG_F32_BLOCK) {
                cg_conv_2d_f32_block(a, x, iy, ix, c, CG_F32_BLOCK, out);
            }
            for (; c < r->c1; c++) {
                cg_conv_2d_f32_block(a, x, iy, ix, c, 1, out);
            }
        }
    }
}

#endif
