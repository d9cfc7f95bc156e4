/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D of float data with int8 weights, grouped or not. The image is quantised to int8 first, with
 * a zero point where there is a weight scale per out channel, else without. Weights are
 * [out channel][filter row][filter column][in channel of the group].
 */
#ifndef CG_CONV_2D_HYBRID_H
#define CG_CONV_2D_HYBRID_H

#include "cg_hybrid.h"

typedef struct {
    int32_t in_h, in_w, in_channels;  /* the whole input map */
    int32_t group_in, group_out;      /* channels per group */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    float act_min, act_max;
    const int8_t *weights;
    const float *scales;              /* of the weights */
    const float *bias;                /* null: none */
} cg_conv_2d_hybrid_args;

/* One output element in codes; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int32_t cg_conv_2d_hybrid_taps(const cg_conv_2d_hybrid_args *a, const int8_t *codes,
                                         int32_t zero_point, int32_t iy, int32_t ix, int32_t c)
{
    const int32_t first_in = c / a->group_out * a->group_in;
    const int8_t *w = a->weights + (ptrdiff_t)c * a->filter_h * a->filter_w * a->group_in;
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
            const int8_t *p = codes + (ptrdiff_t)(y * a->in_w + col) * a->in_channels + first_in;
            const int8_t *q = w + (ky * a->filter_w + kx) * a->group_in;
            for (int32_t k = 0; k < a->group_in; k++) {
                sum += (p[k] - zero_point) * q[k];
            }
        }
    }
    return sum;
}

/* A sum of products of codes as a real number; the order of the factors is the reference's. */
CG_KERNEL float cg_conv_2d_hybrid_real(const cg_conv_2d_hybrid_args *a, int32_t sum, float scale,
                                       int32_t c)
{
    if (a->per_channel != 0) {
        return (float)sum * a->scales[c] * scale;
    }
    return (float)sum * (scale * a->scales[0]);
}

CG_KERNEL void cg_conv_2d_hybrid(const cg_conv_2d_hybrid_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r, void *scratch)
{
    int8_t *codes = (int8_t *)scratch;
    const cg_codes k =
        cg_encode_map(x, a->in_h, a->in_w, a->in_channels, a->per_channel != 0, codes);
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t sum = cg_conv_2d_hybrid_taps(a, codes, k.zero_point, iy, ix, c);
                const float bias = a->bias != NULL ? a->bias[c] : 0.0f;
                const float v = cg_conv_2d_hybrid_real(a, sum, k.scale, c) + bias;
                out[c] = cg_clamp_f32(v, a->act_min, a->act_max);
            }
        }
    }
}

#endif
