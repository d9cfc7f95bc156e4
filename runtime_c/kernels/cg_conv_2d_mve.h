/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, for Helium: packed weights (see cg_mve.h), two pixels by four channels at a time.
 *
 * A 1x1 filter reads its pixels where they are. For any other the window of an output pixel is
 * copied into one run of bytes, the patch, with the input's zero point where it leaves the map.
 */
#ifndef CG_CONV_2D_MVE_H
#define CG_CONV_2D_MVE_H

#include "cg_mve.h"

typedef struct {
    int32_t in_h, in_w, in_c;         /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_zero;
    cg_mve_layer layer;
} cg_conv_2d_mve_args;

/* 1x1 without padding. */
CG_KERNEL void cg_conv_2d_1x1_mve_s8(const cg_conv_2d_mve_args *a, const cg_src *x, const cg_dst *y,
                                     const cg_range *r)
{
    const int32_t dx = a->stride_w;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const int32_t iy = oy * a->stride_h;
        int32_t ox = r->x0;
        for (; ox + 1 < r->x1; ox += 2) {
            cg_mve_two_pixels(&a->layer, r, (const int8_t *)cg_at(x, iy, ox * dx),
                              (const int8_t *)cg_at(x, iy, (ox + 1) * dx),
                              (int8_t *)cg_put(y, oy, ox), (int8_t *)cg_put(y, oy, ox + 1));
        }
        if (ox < r->x1) {
            cg_mve_one_pixel(&a->layer, r, (const int8_t *)cg_at(x, iy, ox * dx),
                             (int8_t *)cg_put(y, oy, ox));
        }
    }
}

/* Filter row at input row iy, columns ix, ix + dilation_w, ... as one run of bytes. */
CG_KERNEL int8_t *cg_conv_2d_mve_row(const cg_conv_2d_mve_args *a, const cg_src *x, int32_t iy,
                                     int32_t ix, int8_t *to)
{
    const int32_t last = ix + (a->filter_w - 1) * a->dilation_w;
    if (iy < 0 || iy >= a->in_h) {
        return cg_mve_fill(to, (int8_t)a->input_zero, a->filter_w * a->in_c);
    }
    if (ix >= 0 && last < a->in_w && a->dilation_w == 1 && x->pixel == a->in_c) {
        return cg_mve_copy(to, (const int8_t *)cg_at(x, iy, ix), a->filter_w * a->in_c);
    }
    for (int32_t col = ix; col <= last; col += a->dilation_w) {
        if (col < 0 || col >= a->in_w) {
            to = cg_mve_fill(to, (int8_t)a->input_zero, a->in_c);
        } else {
            to = cg_mve_copy(to, (const int8_t *)cg_at(x, iy, col), a->in_c);
        }
    }
    return to;
}

/* The whole window of output (oy, ox). */
CG_KERNEL void cg_conv_2d_mve_patch(int8_t *to, const cg_conv_2d_mve_args *a, const cg_src *x,
                                    int32_t oy, int32_t ox)
{
    const int32_t iy = oy * a->stride_h - a->pad_top;
    const int32_t ix = ox * a->stride_w - a->pad_left;
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        to = cg_conv_2d_mve_row(a, x, iy + ky * a->dilation_h, ix, to);
    }
}

/* Scratch: two patches, each followed by 16 bytes. */
CG_KERNEL void cg_conv_2d_mve_s8(const cg_conv_2d_mve_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r, void *scratch)
{
    int8_t *first = (int8_t *)scratch, *second = first + a->layer.depth + 16;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox += 2) {
            const int32_t other = cg_min(ox + 1, r->x1 - 1);
            cg_conv_2d_mve_patch(first, a, x, oy, ox);
            cg_conv_2d_mve_patch(second, a, x, oy, other);
            cg_mve_two_pixels(&a->layer, r, first, second, (int8_t *)cg_put(y, oy, ox),
                              (int8_t *)cg_put(y, oy, other));
        }
    }
}

#endif
