/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8. Weights are [filter row][filter column][out channel]; out channel c reads
 * in channel c / multiplier. Accumulates (x + input_offset) * w over the taps inside the map and
 * rounds twice.
 */
#ifndef CG_DEPTHWISE_CONV_2D_H
#define CG_DEPTHWISE_CONV_2D_H

#include "cg_fixed_point.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels;                 /* of the whole output */
    int32_t depth_multiplier;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_offset, output_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* null: none */
    const int32_t *multiplier;        /* per out channel */
    const int8_t *shift;
} cg_depthwise_conv_2d_args;

/* One output element before requantisation; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int32_t cg_depthwise_conv_2d_taps(const cg_depthwise_conv_2d_args *a, const cg_src *x,
                                            int32_t iy, int32_t ix, int32_t c)
{
    const int32_t in = c / a->depth_multiplier;
    int32_t acc = 0;
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
            const int8_t *p = (const int8_t *)cg_at(x, y, col);
            acc += (p[in] + a->input_offset)
                   * a->weights[(ptrdiff_t)(ky * a->filter_w + kx) * a->channels + c];
        }
    }
    return cg_add32(acc, a->bias != NULL ? a->bias[c] : 0);
}

CG_KERNEL void cg_depthwise_conv_2d_s8(const cg_depthwise_conv_2d_args *a, const cg_src *x,
                                       const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                int32_t v = cg_depthwise_conv_2d_taps(a, x, iy, ix, c);
                v = cg_requantize_twice(v, a->multiplier[c], a->shift[c]);
                v = cg_add32(v, a->output_offset);
                out[c] = (int8_t)cg_clamp(v, a->act_min, a->act_max);
            }
        }
    }
}

#endif
