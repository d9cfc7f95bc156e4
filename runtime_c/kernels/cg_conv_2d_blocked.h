/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, without groups: two pixels and two output channels at a time.
 *
 * The window of a pixel is widened into a column of int16 first, with the input's zero point where
 * it hangs over the edge, so that the inner loop has no tests and serves all output channels. The
 * zero point itself is in the bias: bias[c] - zero * sum of the weights of c. Weights are
 * [out channel][filter row][filter column][in channel].
 */
#ifndef CG_CONV_2D_BLOCKED_H
#define CG_CONV_2D_BLOCKED_H

#include "cg_blocked.h"

typedef struct {
    int32_t in_h, in_w, in_c;         /* the whole input map */
    int32_t channels;                 /* of the whole output */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_zero, output_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* with the zero point */
    const int32_t *multiplier;        /* per out channel */
    const int8_t *shift;              /* to the right, not negative */
} cg_conv_2d_blocked_args;

/* Widens one row of a window, whose tap (0, 0) is at column ix of input row y. */
CG_KERNEL void cg_conv_2d_blocked_row(const cg_conv_2d_blocked_args *a, const cg_src *x, int32_t y,
                                      int32_t ix, int16_t *to)
{
    const int32_t whole = a->filter_w * a->in_c;
    if (y < 0 || y >= a->in_h) {
        cg_blocked_fill_16(to, a->input_zero, whole);
    } else if (a->dilation_w == 1 && x->pixel == a->in_c) {
        /* the taps inside the map lie side by side */
        const int32_t first = cg_min(cg_max(-ix, 0), a->filter_w) * a->in_c;
        const int32_t end = cg_max(cg_min(a->in_w - ix, a->filter_w) * a->in_c, first);
        cg_blocked_fill_16(to, a->input_zero, first);
        cg_blocked_widen(to + first, (const int8_t *)cg_at(x, y, ix + first / a->in_c),
                         end - first);
        cg_blocked_fill_16(to + end, a->input_zero, whole - end);
    } else {
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t column = ix + kx * a->dilation_w;
            if (column < 0 || column >= a->in_w) {
                cg_blocked_fill_16(to + kx * a->in_c, a->input_zero, a->in_c);
            } else {
                cg_blocked_widen(to + kx * a->in_c, (const int8_t *)cg_at(x, y, column), a->in_c);
            }
        }
    }
}

/* The window of output pixel (oy, ox) as a column. */
CG_KERNEL void cg_conv_2d_blocked_column(const cg_conv_2d_blocked_args *a, const cg_src *x,
                                         int32_t oy, int32_t ox, int16_t *to)
{
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t y = oy * a->stride_h - a->pad_top + ky * a->dilation_h;
        cg_conv_2d_blocked_row(a, x, y, ox * a->stride_w - a->pad_left, to);
        to += a->filter_w * a->in_c;
    }
    cg_blocked_fill_16(to, 0, (a->filter_h * a->filter_w * a->in_c) & 1);
}

/* scratch: sums of two pixels, then their columns. */
CG_KERNEL void cg_conv_2d_blocked_s8(const cg_conv_2d_blocked_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r, void *scratch)
{
    const int32_t depth = a->filter_h * a->filter_w * a->in_c;
    int32_t *sums = (int32_t *)scratch;
    int16_t *column = (int16_t *)(sums + 2 * a->channels);
    int16_t *next = column + depth + (depth & 1);
    const cg_blocked_scale scale = { a->bias, a->multiplier, a->shift, a->output_offset,
                                     a->act_min, a->act_max };
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox += 2) {
            const int32_t last = cg_min(ox + 1, r->x1 - 1);
            cg_conv_2d_blocked_column(a, x, oy, ox, column);
            cg_conv_2d_blocked_column(a, x, oy, last, next);
            for (int32_t c = r->c0; c < r->c1; c += CG_BLOCKED_CHANNELS) {
                const int8_t *w = a->weights + (ptrdiff_t)c * depth;
                cg_blocked_sums(column, next, w, depth, cg_min(CG_BLOCKED_CHANNELS, r->c1 - c),
                                sums + c, sums + a->channels + c);
            }
            cg_blocked_store(&scale, sums, (int8_t *)cg_put(y, oy, ox), r);
            cg_blocked_store(&scale, sums + a->channels, (int8_t *)cg_put(y, oy, last), r);
        }
    }
}

#endif
