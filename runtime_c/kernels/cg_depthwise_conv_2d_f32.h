/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, float. Weights are [filter row][filter column][out channel]; out channel c reads
 * in channel c / multiplier. Adds x * w over the taps inside the map, row by row, and the bias last.
 */
#ifndef CG_DEPTHWISE_CONV_2D_F32_H
#define CG_DEPTHWISE_CONV_2D_F32_H

#include "cg_float.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels;                 /* of the whole output */
    int32_t depth_multiplier;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    float act_min, act_max;
    const float *weights;
    const float *bias;                /* null: none */
} cg_depthwise_conv_2d_f32_args;

/* One output element without bias; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL float cg_depthwise_conv_2d_f32_taps(const cg_depthwise_conv_2d_f32_args *a,
                                              const cg_src *x, int32_t iy, int32_t ix, int32_t c)
{
    const int32_t in = c / a->depth_multiplier;
    float sum = 0.0f;
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
            const cg_f32 *p = (const cg_f32 *)cg_at(x, y, col);
            sum += p[in] * a->weights[(ptrdiff_t)(ky * a->filter_w + kx) * a->channels + c];
        }
    }
    return sum;
}

CG_KERNEL void cg_depthwise_conv_2d_f32(const cg_depthwise_conv_2d_f32_args *a, const cg_src *x,
                                        const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float bias = a->bias != NULL ? a->bias[c] : 0.0f;
                const float v = cg_depthwise_conv_2d_f32_taps(a, x, iy, ix, c) + bias;
                out[c] = cg_clamp_f32(v, a->act_min, a->act_max);
            }
        }
    }
}

#endif
