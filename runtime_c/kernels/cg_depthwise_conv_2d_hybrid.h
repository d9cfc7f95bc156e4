/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D of float data with int8 weights of one scale per out channel. The image is
 * quantised to int8 first, with a zero point. Weights are [filter row][filter column][out channel];
 * out channel c reads in channel c / multiplier.
 */
#ifndef CG_DEPTHWISE_CONV_2D_HYBRID_H
#define CG_DEPTHWISE_CONV_2D_HYBRID_H

#include "cg_hybrid.h"

typedef struct {
    int32_t in_h, in_w, in_channels;  /* the whole input map */
    int32_t channels;                 /* of the whole output */
    int32_t depth_multiplier;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    float act_min, act_max;
    const int8_t *weights;
    const float *scales;              /* of the weights, per out channel */
    const float *bias;                /* null: none */
} cg_depthwise_conv_2d_hybrid_args;

/* One output element in codes; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int32_t cg_depthwise_conv_2d_hybrid_taps(const cg_depthwise_conv_2d_hybrid_args *a,
                                                   const int8_t *codes, int32_t zero_point,
                                                   int32_t iy, int32_t ix, int32_t c)
{
    const int32_t in = c / a->depth_multiplier;
    int32_t sum = 0;
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
            const int8_t *p = codes + (ptrdiff_t)(y * a->in_w + col) * a->in_channels;
            sum += (p[in] - zero_point)
                   * a->weights[(ptrdiff_t)(ky * a->filter_w + kx) * a->channels + c];
        }
    }
    return sum;
}

CG_KERNEL void cg_depthwise_conv_2d_hybrid(const cg_depthwise_conv_2d_hybrid_args *a,
                                           const cg_src *x, const cg_dst *y, const cg_range *r,
                                           void *scratch)
{
    int8_t *codes = (int8_t *)scratch;
    const cg_codes k = cg_encode_map(x, a->in_h, a->in_w, a->in_channels, 1, codes);
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t sum =
                    cg_depthwise_conv_2d_hybrid_taps(a, codes, k.zero_point, iy, ix, c);
                const float bias = a->bias != NULL ? a->bias[c] : 0.0f;
                const float v = (float)sum * (k.scale * a->scales[c]) + bias;
                out[c] = cg_clamp_f32(v, a->act_min, a->act_max);
            }
        }
    }
}

#endif
