/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8, one filter per channel: all channels of a pixel, tap by tap, with the
 * input's zero point in the bias and, where the window hangs over the edge, in place of the input.
 * Weights are [filter row][filter column][channel].
 */
#ifndef CG_DEPTHWISE_CONV_2D_BLOCKED_H
#define CG_DEPTHWISE_CONV_2D_BLOCKED_H

#include "cg_blocked.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_zero, output_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* with the zero point */
    const int32_t *multiplier;        /* per channel */
    const int8_t *shift;              /* to the right, not negative */
} cg_depthwise_conv_2d_blocked_args;

/* Adds one tap to the sums of channels [c0, c1). */
CG_KERNEL void cg_depthwise_blocked_tap_1(int32_t *restrict sums, const int8_t *restrict p,
                                          const int8_t *restrict w, const cg_range *r)
{
    for (int32_t c = r->c0; c < r->c1; c++) {
        sums[c] += p[c] * w[c];
    }
}

/* Adds three taps side by side. */
CG_KERNEL void cg_depthwise_blocked_tap_3(int32_t *restrict sums, const int8_t *restrict p,
                                          int32_t step, const int8_t *restrict w,
                                          int32_t channels, const cg_range *r)
{
    for (int32_t c = r->c0; c < r->c1; c++) {
        sums[c] += p[c] * w[c] + p[c + step] * w[c + channels]
                   + p[c + 2 * step] * w[c + 2 * channels];
    }
}

/* The taps of one row of the filter; `edge` holds the zero point for every channel. */
CG_KERNEL void cg_depthwise_blocked_row(int32_t *sums, const cg_depthwise_conv_2d_blocked_args *a,
                                        const cg_src *x, int32_t y, int32_t ix, const int8_t *w,
                                        const int8_t *edge, const cg_range *r)
{
    const int32_t width = (a->filter_w - 1) * a->dilation_w + 1;
    const int inside = y >= 0 && y < a->in_h && ix >= 0 && ix + width <= a->in_w;
    const int32_t step = a->dilation_w * x->pixel;
    int32_t kx = 0;
    if (inside) {
        const int8_t *p = (const int8_t *)cg_at(x, y, ix);
        for (; kx + 3 <= a->filter_w; kx += 3) {
            cg_depthwise_blocked_tap_3(sums, p + kx * step, step, w + kx * a->channels,
                                       a->channels, r);
        }
    }
    for (; kx < a->filter_w; kx++) {
        const int32_t column = ix + kx * a->dilation_w;
        const int known = y >= 0 && y < a->in_h && column >= 0 && column < a->in_w;
        const int8_t *p = known ? (const int8_t *)cg_at(x, y, column) : edge;
        cg_depthwise_blocked_tap_1(sums, p, w + kx * a->channels, r);
    }
}

/* scratch: the sums of a pixel, then a pixel of zero points. */
CG_KERNEL void cg_depthwise_conv_2d_blocked_s8(const cg_depthwise_conv_2d_blocked_args *a,
                                               const cg_src *x, const cg_dst *y, const cg_range *r,
                                               void *scratch)
{
    int32_t *sums = (int32_t *)scratch;
    int8_t *edge = (int8_t *)(sums + a->channels);
    const cg_blocked_scale scale = { a->bias, a->multiplier, a->shift, a->output_offset,
                                     a->act_min, a->act_max };
    cg_blocked_fill_8(edge, a->input_zero, a->channels);
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            cg_blocked_fill_32(sums, 0, a->channels);
            for (int32_t ky = 0; ky < a->filter_h; ky++) {
                const int8_t *w = a->weights + (ptrdiff_t)ky * a->filter_w * a->channels;
                const int32_t iy = oy * a->stride_h - a->pad_top + ky * a->dilation_h;
                cg_depthwise_blocked_row(sums, a, x, iy, ox * a->stride_w - a->pad_left, w, edge,
                                         r);
            }
            cg_blocked_store(&scale, sums, (int8_t *)cg_put(y, oy, ox), r);
        }
    }
}

#endif
