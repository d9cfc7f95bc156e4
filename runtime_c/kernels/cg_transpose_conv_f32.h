/* SPDX-License-Identifier: 0BSD
 *
 * TRANSPOSE_CONV, float. Weights are [out channel][filter row][filter column][in channel]. Adds x * w
 * over the inputs that reach an output, row by row, and the bias last.
 */
#ifndef CG_TRANSPOSE_CONV_F32_H
#define CG_TRANSPOSE_CONV_F32_H

#include "cg_float.h"
#include "cg_transpose_window.h"

typedef struct {
    int32_t in_h, in_w, in_channels;  /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;
    float act_min, act_max;
    const float *weights;
    const float *bias;                /* null: none */
} cg_transpose_conv_f32_args;

/* Out channels [c, c + n) at `out`, from the inputs in `v` and `h`. */
CG_KERNEL void cg_transpose_conv_f32_block(const cg_transpose_conv_f32_args *a, const cg_src *x,
                                           int32_t oy, int32_t ox, cg_inputs v, cg_inputs h,
                                           int32_t c, int32_t n, cg_f32 *out)
{
    const ptrdiff_t filter = (ptrdiff_t)a->filter_h * a->filter_w * a->in_channels;
    float sums[CG_F32_BLOCK] = {0.0f};
    for (int32_t iy = v.first; iy < v.end; iy++) {
        const int32_t ky = oy + a->pad_top - iy * a->stride_h;
        for (int32_t ix = h.first; ix < h.end; ix++) {
            const int32_t kx = ox + a->pad_left - ix * a->stride_w;
            const cg_f32 *p = (const cg_f32 *)cg_at(x, iy, ix);
            const float *w = a->weights + c * filter + (ky * a->filter_w + kx) * a->in_channels;
            cg_add_products_f32(sums, n, p, w, filter, a->in_channels);
        }
    }
    for (int32_t j = 0; j < n; j++) {
        const float sum = sums[j] + (a->bias != NULL ? a->bias[c + j] : 0.0f);
        out[c + j] = cg_clamp_f32(sum, a->act_min, a->act_max);
    }
}

CG_KERNEL void cg_transpose_conv_f32(const cg_transpose_conv_f32_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const cg_inputs v = cg_transpose_inputs(oy, a->in_h, a->filter_h, a->stride_h, a->pad_top);
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_inputs h =
                cg_transpose_inputs(ox, a->in_w, a->filter_w, a->stride_w, a->pad_left);
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            int32_t c = r->c0;
            for (; c + CG_F32_BLOCK <= r->c1; c += CG_F32_BLOCK) {
                cg_transpose_conv_f32_block(a, x, oy, ox, v, h, c, CG_F32_BLOCK, out);
            }
            for (; c < r->c1; c++) {
                cg_transpose_conv_f32_block(a, x, oy, ox, v, h, c, 1, out);
            }
        }
    }
}

#endif
