/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, for Helium: packed weights (see cg_dense_mve.h), two pixels by four channels at a time.
 *
 * A 1x1 filter reads its pixels where they are. For any other the window of an output pixel has to
 * become one run of bytes, with the input's zero point where it leaves the map:
 *
 * By columns, for whole vectors of channels: the input rows of an output row are copied column by
 * column. A window, column by column, is then a run of that copy, which neighbours share.
 *
 * By patches, for any input: every window is copied on its own, row by row.
 */
#ifndef CG_CONV_2D_MVE_H
#define CG_CONV_2D_MVE_H

#include "cg_dense_mve.h"

typedef struct {
    int32_t in_h, in_w, in_c;         /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_zero;
    int32_t rows_together;            /* of the output, 1x1 only */
    cg_mve_layer layer;
} cg_conv_2d_mve_args;

/* `n` outputs in a row from (oy, ox) on. */
CG_KERNEL void cg_conv_2d_1x1_mve_run(int32_t oy, int32_t n, const cg_conv_2d_mve_args *a,
                                      const cg_src *x, const cg_dst *y, const cg_range *r)
{
    const int32_t step = a->stride_w * x->pixel;
    const int8_t *in = (const int8_t *)cg_at(x, oy * a->stride_h, r->x0 * a->stride_w);
    int8_t *out = (int8_t *)cg_put(y, oy, r->x0);
    for (; n >= 2; n -= 2) {
        cg_dense_two_pixels(&a->layer, r, in, in + step, out, y->pixel);
        in += 2 * step;
        out += 2 * y->pixel;
    }
    if (n > 0) {
        cg_dense_one_pixel(&a->layer, r, in, out, 4);
    }
}

/* 1x1 without padding. Where rows follow each other without gaps, `rows_together` are one. */
CG_KERNEL void cg_conv_2d_1x1_mve_s8(const cg_conv_2d_mve_args *a, const cg_src *x, const cg_dst *y,
                                     const cg_range *r)
{
    const int32_t width = r->x1 - r->x0;
    const int32_t gaps = x->row != width * x->pixel || y->row != width * y->pixel
                      || x->ring != 0 || y->ring != 0 || a->stride_h * a->stride_w != 1;
    const int32_t together = gaps ? 1 : a->rows_together;
    for (int32_t oy = r->y0; oy < r->y1; oy += together) {
        cg_conv_2d_1x1_mve_run(oy, cg_min(together, r->y1 - oy) * width, a, x, y, r);
    }
}

/* Filter row at input row iy, columns ix, ix + dilation_w, ... as one run of bytes. */
CG_KERNEL int8_t *cg_conv_2d_mve_row(const cg_conv_2d_mve_args *a, const cg_src *x, int32_t iy,
                                     int32_t ix, int8_t *to)
{
    const int8_t zero = (int8_t)a->input_zero;
    const int32_t c = a->in_c, taps = a->filter_w;
    if (iy < 0 || iy >= a->in_h) {
        return cg_mve_fill(to, zero, taps * c);
    }
    if (a->dilation_w == 1 && x->pixel == c) {
        const int32_t before = cg_clamp(-ix, 0, taps), after = cg_clamp(ix + taps - a->in_w, 0, taps);
        const int8_t *from = (const int8_t *)cg_at(x, iy, cg_max(ix, 0));
        if (before + after == 0) {
            return cg_mve_copy(to, from, taps * c);
        }
        to = cg_mve_fill(to, zero, before * c);
        to = cg_mve_copy(to, from, (taps - before - after) * c);
        return cg_mve_fill(to, zero, after * c);
    }
    for (int32_t k = 0; k < taps; k++) {
        const int32_t col = ix + k * a->dilation_w;
        if (col < 0 || col >= a->in_w) {
            to = cg_mve_fill(to, zero, c);
        } else {
            to = cg_mve_copy(to, (const int8_t *)cg_at(x, iy, col), c);
        }
    }
    return to;
}

/* The whole window of output (oy, ox). */
CG_KERNEL void cg_conv_2d_mve_patch(int8_t *to, const cg_conv_2d_mve_args *a, const cg_src *x,
                                    int32_t oy, int32_t ox)
{
    const int32_t iy = oy * a->stride_h - a->pad_top, ix = ox * a->stride_w - a->pad_left;
    const int32_t rows = (a->filter_h - 1) * a->dilation_h, taps = a->filter_w;
    if (iy >= 0 && iy + rows < a->in_h && ix >= 0 && ix + taps <= a->in_w && a->dilation_w == 1
        && x->pixel == a->in_c && x->ring == 0) {
        const int8_t *from = (const int8_t *)cg_at(x, iy, ix);
        if ((a->in_h - 1 - iy - rows) * x->row >= 16) {   /* what follows may be read, too */
            for (int32_t ky = 0; ky < a->filter_h; ky++) {
                to = cg_mve_copy_vectors(to, from, taps * a->in_c);
                from += a->dilation_h * x->row;
            }
            return;
        }
    }
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        to = cg_conv_2d_mve_row(a, x, iy + ky * a->dilation_h, ix, to);
    }
}

/* By patches. Scratch: two patches, each followed by 16 bytes. */
CG_KERNEL void cg_conv_2d_mve_s8(const cg_conv_2d_mve_args *a, const cg_src *x, const cg_dst *y,
                                 const cg_range *r, void *scratch)
{
    int8_t *patches = (int8_t *)scratch;
    const int32_t size = a->layer.depth + 16;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox += 2) {
            const int32_t n = cg_min(r->x1 - ox, 2);
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t k = 0; k < n; k++) {
                cg_conv_2d_mve_patch(patches + k * size, a, x, oy, ox + k);
            }
            if (n == 2) {
                cg_dense_two_pixels(&a->layer, r, patches, patches + size, out, y->pixel);
            } else {
                cg_dense_one_pixel(&a->layer, r, patches, out, 4);
            }
        }
    }
}

/* One input row of every column; column 0 of the copy is input column ix. */
CG_KERNEL void cg_conv_2d_mve_lay_row(const cg_conv_2d_mve_args *a, const cg_src *x, int32_t iy,
                                      int32_t ix, int8_t *to, int32_t columns)
{
    const int32_t c = a->in_c, step = a->filter_h * c;
    const int32_t inside = iy >= 0 && iy < a->in_h;
    const int32_t first = inside ? cg_clamp(-ix, 0, columns) : columns;
    const int32_t end = inside ? cg_clamp(a->in_w - ix, first, columns) : columns;
    for (int32_t k = 0; k < first; k++) {
        cg_mve_fill(to + k * step, (int8_t)a->input_zero, c);
    }
    if (first < end) {
        const int8_t *from = (const int8_t *)cg_at(x, iy, ix + first);
        for (int32_t k = first; k < end; k++) {
            cg_mve_copy(to + k * step, from, c);
            from += x->pixel;
        }
    }
    for (int32_t k = end; k < columns; k++) {
        cg_mve_fill(to + k * step, (int8_t)a->input_zero, c);
    }
}

/* By columns; in_c is a multiple of 16, dilation_w is 1, weights are [filter column][filter row].
 * Scratch: all columns that an output row reads. */
CG_KERNEL void cg_conv_2d_columns_mve_s8(const cg_conv_2d_mve_args *a, const cg_src *x,
                                         const cg_dst *y, const cg_range *r, void *scratch)
{
    const int32_t c = a->in_c;
    const int32_t columns = (r->x1 - r->x0 - 1) * a->stride_w + a->filter_w;
    const int32_t ix = r->x0 * a->stride_w - a->pad_left;
    const int32_t step = a->stride_w * a->filter_h * c;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const int8_t *window = (const int8_t *)scratch;
        for (int32_t ky = 0; ky < a->filter_h; ky++) {
            const int32_t iy = oy * a->stride_h - a->pad_top + ky * a->dilation_h;
            cg_conv_2d_mve_lay_row(a, x, iy, ix, (int8_t *)scratch + ky * c, columns);
        }
        int32_t ox = r->x0;
        for (; ox + 1 < r->x1; ox += 2) {
            cg_dense_two_pixels(&a->layer, r, window, window + step, (int8_t *)cg_put(y, oy, ox),
                                y->pixel);
            window += 2 * step;
        }
        if (ox < r->x1) {
            cg_dense_one_pixel(&a->layer, r, window, (int8_t *)cg_put(y, oy, ox), 4);
        }
    }
}

#endif
