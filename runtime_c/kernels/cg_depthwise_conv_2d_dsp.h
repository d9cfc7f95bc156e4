/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8, one output channel per input channel, for cores with the DSP extension: any
 * window, one pixel at a time (cg_taps_dsp.h). Taps outside the map read zero points from flash.
 * Channels c0 and c1 of a range are multiples of 4, or the last one.
 *
 * scratch: 4 bytes per tap, their number rounded up to even.
 */
#ifndef CG_DEPTHWISE_CONV_2D_DSP_H
#define CG_DEPTHWISE_CONV_2D_DSP_H

#include "cg_taps_dsp.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t act_min, act_max;
    int32_t is_signed;                /* see cg_taps_args */
    const int8_t *zeros;              /* a pixel of zero points; null: no tap is outside */
    const int32_t *stream;
} cg_depthwise_conv_2d_dsp_args;

/* Whether the window at (iy, ix) lies inside the map. */
CG_KERNEL int cg_depthwise_conv_2d_dsp_is_inner(const cg_depthwise_conv_2d_dsp_args *a, int32_t iy,
                                                int32_t ix)
{
    return iy >= 0 && iy + (a->filter_h - 1) * a->dilation_h < a->in_h && ix >= 0
           && ix + (a->filter_w - 1) * a->dilation_w < a->in_w;
}

/* Fills p with the taps of the window at (iy, ix); an odd number gets one more, whose weight is 0. */
CG_KERNEL void cg_depthwise_conv_2d_dsp_window(int32_t *p, const cg_depthwise_conv_2d_dsp_args *a,
                                               const cg_taps_args *taps, const cg_src *x, int32_t iy,
                                               int32_t ix)
{
    const int32_t outside = cg_tap_outside(taps);
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t row = iy + ky * a->dilation_h;
        const int inside = row >= 0 && row < a->in_h;
        const int8_t *line = inside ? (const int8_t *)cg_at(x, row, x->col0) : taps->base;
        const int32_t offset = (int32_t)(line - taps->base);
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t col = ix + kx * a->dilation_w;
            const int is_tap = inside && col >= 0 && col < a->in_w;
            *p++ = is_tap ? offset + (col - x->col0) * x->pixel : outside;
        }
    }
    if ((a->filter_h * a->filter_w) % 2 != 0) {
        *p = p[-1];
    }
}

/* The layers of a model share this one: only its arguments differ. */
CG_SHARED void cg_depthwise_conv_2d_dsp_run(const cg_depthwise_conv_2d_dsp_args *a, const cg_src *x,
                                            const cg_dst *y, const cg_range *r, void *scratch)
{
    const int32_t pairs = (a->filter_h * a->filter_w + 1) / 2;
    const cg_taps_args taps = { a->stream, pairs, a->is_signed, (const int8_t *)x->base, a->zeros };
    int32_t *p = (int32_t *)scratch;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const int32_t iy = oy * a->stride_h - a->pad_top;
        int was_inner = 0;
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t ix = ox * a->stride_w - a->pad_left;
            const int inner = cg_depthwise_conv_2d_dsp_is_inner(a, iy, ix);
            if (inner && was_inner) {
                for (int32_t tap = 0; tap < 2 * pairs; tap++) {
                    p[tap] += a->stride_w * x->pixel;
                }
            } else {
                cg_depthwise_conv_2d_dsp_window(p, a, &taps, x, iy, ix);
            }
            was_inner = inner;
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            cg_taps(out, p, r->c0, r->c1, &taps);
            cg_clamp_pixels(out + r->c0, 1, 0, r->c1 - r->c0, a->act_min, a->act_max);
        }
    }
}

CG_KERNEL void cg_depthwise_conv_2d_dsp_s8(const cg_depthwise_conv_2d_dsp_args *a, const cg_src *x,
                                           const cg_dst *y, const cg_range *r, void *scratch)
{
    cg_depthwise_conv_2d_dsp_run(a, x, y, r, scratch);
}

#endif
