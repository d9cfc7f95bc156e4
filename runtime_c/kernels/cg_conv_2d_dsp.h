/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, for cores with the DSP extension. Up to three output pixels at a time: their inputs are
 * widened into one column, which all channels are multiplied with (cg_dot_dsp.h).
 *
 * A column holds the filter's rows one after the other, each filled up to whole groups of 4 inputs; the
 * weights of the fill are 0, so it does not matter what stands there. There are three ways to it:
 *
 *     cg_conv_2d_dsp_s8         any window; taps outside the map read zero points from flash
 *     cg_conv_2d_point_dsp_s8   1x1, an output pixel for every input pixel, whole groups of channels
 *     cg_conv_2d_strip_dsp_s8   the rows that one output row needs are first copied into a strip with
 *                               zero points at both ends, so that no window meets a border
 *
 * Names with "apart" are for weights in streams "apart" (cg_dot_dsp.h).
 *
 * scratch: the column, 8 bytes per group and pixel, then filter_h rows of strip_row bytes; or, for any
 * window over pixels without whole groups, one filter row of every pixel.
 * Channels c0 and c1 of a range are even, or c1 is the last one.
 */
#ifndef CG_CONV_2D_DSP_H
#define CG_CONV_2D_DSP_H

#include <string.h>

#include "cg_dot_dsp.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels_in;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_zero;
    int32_t act_min, act_max;
    int32_t is_signed;                /* see cg_dot_args */
    int32_t groups;                   /* of a whole column */
    const int8_t *zeros;              /* a pixel of zero points; null: no tap is outside */
    const int32_t *stream;
    int32_t pixels;                   /* of a column, at most 3 */
    int32_t strip_row;                /* bytes of a strip's row, 0: no strip */
} cg_conv_2d_dsp_args;

/* The pixels that are computed together: output positions, and the input position of tap (0, 0). */
typedef struct {
    int32_t n;
    int32_t iy[CG_COLUMN_PIXELS];
    int32_t ix[CG_COLUMN_PIXELS];
} cg_conv_2d_dsp_block;

/* Groups of one filter row. */
CG_KERNEL int32_t cg_conv_2d_dsp_row_groups(const cg_conv_2d_dsp_args *a)
{
    return (a->filter_w * a->channels_in + 3) / 4;
}

/* Whether row ky of every pixel's filter is a run of bytes inside the map, of whole words at that. */
CG_KERNEL int cg_conv_2d_dsp_is_run(const cg_conv_2d_dsp_args *a, const cg_src *x,
                                    const cg_conv_2d_dsp_block *b, int32_t ky)
{
    const int32_t run = 4 * cg_conv_2d_dsp_row_groups(a);
    int inner = x->pixel == a->channels_in && (a->dilation_w == 1 || a->filter_w == 1);
    for (int32_t i = 0; i < b->n; i++) {
        const int32_t row = b->iy[i] + ky * a->dilation_h;
        inner = inner && row >= 0 && row < a->in_h && b->ix[i] >= 0
                && b->ix[i] * a->channels_in + run <= a->in_w * a->channels_in;
    }
    return inner;
}

/* The same for all rows, at equal distances. */
CG_KERNEL int cg_conv_2d_dsp_is_inner(const cg_conv_2d_dsp_args *a, const cg_src *x,
                                      const cg_conv_2d_dsp_block *b)
{
    return x->ring == 0 && cg_conv_2d_dsp_is_run(a, x, b, 0)
           && cg_conv_2d_dsp_is_run(a, x, b, a->filter_h - 1);
}

/* Widens `rows` filter rows from ky on, which are runs of bytes at equal distances. */
CG_KERNEL void cg_conv_2d_dsp_runs(int16_t *column, const cg_conv_2d_dsp_block *b,
                                   const cg_conv_2d_dsp_args *a, const cg_src *x, int32_t ky,
                                   int32_t rows)
{
    const int8_t *p[CG_COLUMN_PIXELS];
    for (int32_t i = 0; i < CG_COLUMN_PIXELS; i++) {
        const int32_t k = cg_min(i, b->n - 1);
        p[i] = (const int8_t *)cg_at(x, b->iy[k] + ky * a->dilation_h, b->ix[k]);
    }
    cg_widen(p, b->n, column, cg_conv_2d_dsp_row_groups(a), rows, a->dilation_h * x->row);
}

/* Tap by tap where a pixel has whole groups: taps outside the map come from the zero points. */
CG_KERNEL void cg_conv_2d_dsp_taps(int16_t *column, const cg_conv_2d_dsp_block *b,
                                   const cg_conv_2d_dsp_args *a, const cg_src *x, int32_t ky)
{
    const int32_t groups = a->channels_in / 4;
    for (int32_t kx = 0; kx < a->filter_w; kx++) {
        const int8_t *p[CG_COLUMN_PIXELS] = { a->zeros, a->zeros, a->zeros };
        for (int32_t i = 0; i < b->n; i++) {
            const int32_t row = b->iy[i] + ky * a->dilation_h;
            const int32_t col = b->ix[i] + kx * a->dilation_w;
            if (row >= 0 && row < a->in_h && col >= 0 && col < a->in_w) {
                p[i] = (const int8_t *)cg_at(x, row, col);
            }
        }
        cg_widen(p, b->n, column, groups, 1, 0);
        column += 4 * groups * b->n;
    }
}

/* One pixel's filter row, brought together in `line`: zero points where the map has nothing. */
CG_KERNEL void cg_conv_2d_dsp_gather(int8_t *line, int32_t row, int32_t ix,
                                     const cg_conv_2d_dsp_args *a, const cg_src *x)
{
    memset(line, a->input_zero, (size_t)(4 * cg_conv_2d_dsp_row_groups(a)));
    if (row < 0 || row >= a->in_h) {
        return;
    }
    for (int32_t kx = 0; kx < a->filter_w; kx++) {
        const int32_t col = ix + kx * a->dilation_w;
        if (col >= 0 && col < a->in_w) {
            const int8_t *p = (const int8_t *)cg_at(x, row, col);
            for (int32_t c = 0; c < a->channels_in; c++) {
                line[kx * a->channels_in + c] = p[c];
            }
        }
    }
}

/* A filter row of pixels that have no whole groups; lines has room for one of every pixel. */
CG_KERNEL void cg_conv_2d_dsp_lines(int16_t *column, const cg_conv_2d_dsp_block *b,
                                    const cg_conv_2d_dsp_args *a, const cg_src *x, int32_t ky,
                                    int8_t *lines)
{
    const int32_t groups = cg_conv_2d_dsp_row_groups(a);
    const int8_t *p[CG_COLUMN_PIXELS] = { lines, lines + 4 * groups, lines + 8 * groups };
    for (int32_t i = 0; i < b->n; i++) {
        const int32_t row = b->iy[i] + ky * a->dilation_h;
        cg_conv_2d_dsp_gather(lines + 4 * groups * i, row, b->ix[i], a, x);
    }
    cg_widen(p, b->n, column, groups, 1, 0);
}

CG_KERNEL void cg_conv_2d_dsp_column(int16_t *column, const cg_conv_2d_dsp_block *b,
                                     const cg_conv_2d_dsp_args *a, const cg_src *x)
{
    if (cg_conv_2d_dsp_is_inner(a, x, b)) {
        cg_conv_2d_dsp_runs(column, b, a, x, 0, a->filter_h);
        return;
    }
    int8_t *lines = (int8_t *)column + 8 * a->pixels * a->groups;
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        if (cg_conv_2d_dsp_is_run(a, x, b, ky)) {
            cg_conv_2d_dsp_runs(column, b, a, x, ky, 1);
        } else if (a->channels_in % 4 == 0) {
            cg_conv_2d_dsp_taps(column, b, a, x, ky);
        } else {
            cg_conv_2d_dsp_lines(column, b, a, x, ky, lines);
        }
        column += 4 * cg_conv_2d_dsp_row_groups(a) * b->n;
    }
}

/* Whether the pixels of the range lie one after the other, row ends included. */
CG_KERNEL int cg_conv_2d_dsp_is_seamless(const cg_dst *y, const cg_range *r)
{
    return y->ring == 0 && y->row == y->pixel * (r->x1 - r->x0);
}

CG_KERNEL void cg_conv_2d_dsp_windows(int32_t is_apart, const cg_conv_2d_dsp_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r, void *scratch)
{
    const cg_dot_args dot = { a->stream, a->groups, a->is_signed, is_apart };
    int16_t *column = (int16_t *)scratch;
    const int seamless = cg_conv_2d_dsp_is_seamless(y, r);
    int32_t oy = r->y0, ox = r->x0;
    while (oy < r->y1) {
        int8_t *out = (int8_t *)cg_put(y, oy, ox);
        cg_conv_2d_dsp_block b = { .n = 0 };
        do {
            b.iy[b.n] = oy * a->stride_h - a->pad_top;
            b.ix[b.n] = ox * a->stride_w - a->pad_left;
            b.n++;
            ox++;
            if (ox == r->x1) {
                ox = r->x0;
                oy++;
            }
        } while (b.n < a->pixels && oy < r->y1 && (ox > r->x0 || seamless));
        cg_conv_2d_dsp_column(column, &b, a, x);
        cg_dot(column, b.n, &dot, r->c0, r->c1, out, y->pixel);
        cg_clamp_pixels(out + r->c0, b.n, y->pixel, r->c1 - r->c0, a->act_min, a->act_max);
    }
}

/* A line of output pixels. The first window's rows start at p and lie `row` bytes apart; the other
 * windows follow `step` bytes apart. */
CG_KERNEL void cg_conv_2d_dsp_line(int8_t *out, int32_t stride, int32_t count, const int8_t *p,
                                   int32_t step, int32_t row, const cg_conv_2d_dsp_args *a,
                                   const cg_range *r, int16_t *column, int32_t is_apart)
{
    const cg_dot_args dot = { a->stream, a->groups, a->is_signed, is_apart };
    while (count > 0) {
        const int32_t n = cg_min(count, a->pixels);
        const int8_t *windows[CG_COLUMN_PIXELS] = { p, p + step, p + 2 * step };
        cg_widen(windows, n, column, cg_conv_2d_dsp_row_groups(a), a->filter_h, row);
        cg_dot(column, n, &dot, r->c0, r->c1, out, stride);
        cg_clamp_pixels(out + r->c0, n, stride, r->c1 - r->c0, a->act_min, a->act_max);
        p += n * step;
        out += n * stride;
        count -= n;
    }
}

CG_KERNEL void cg_conv_2d_dsp_points(int32_t is_apart, const cg_conv_2d_dsp_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r, void *scratch)
{
    const int32_t width = r->x1 - r->x0;
    const int seamless = cg_conv_2d_dsp_is_seamless(y, r) && x->ring == 0 && x->row == x->pixel * width;
    const int32_t count = seamless ? width * (r->y1 - r->y0) : width;
    for (int32_t oy = r->y0; oy < r->y1; oy += seamless ? r->y1 - r->y0 : 1) {
        const int8_t *p = (const int8_t *)cg_at(x, oy, r->x0);
        int8_t *out = (int8_t *)cg_put(y, oy, r->x0);
        cg_conv_2d_dsp_line(out, y->pixel, count, p, x->pixel, 0, a, r, (int16_t *)scratch,
                            is_apart);
    }
}

/* Copies one row of the map, or zero points where there is none, into a strip's row. */
CG_KERNEL void cg_conv_2d_dsp_copy(int8_t *to, int32_t row, const cg_conv_2d_dsp_args *a,
                                   const cg_src *x)
{
    const int32_t left = a->pad_left * a->channels_in;
    const int32_t room = a->strip_row - left;
    memset(to, a->input_zero, (size_t)a->strip_row);
    if (row < 0 || row >= a->in_h) {
        return;
    }
    if (x->pixel == a->channels_in) {
        memcpy(to + left, cg_at(x, row, 0), (size_t)cg_min(room, a->in_w * a->channels_in));
        return;
    }
    const int32_t columns = cg_min(room / a->channels_in, a->in_w);
    for (int32_t col = 0; col < columns; col++) {
        memcpy(to + left + col * a->channels_in, cg_at(x, row, col), (size_t)a->channels_in);
    }
}

CG_KERNEL void cg_conv_2d_dsp_strips(int32_t is_apart, const cg_conv_2d_dsp_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r, void *scratch)
{
    int8_t *strip = (int8_t *)scratch + 8 * a->pixels * a->groups;
    const int32_t step = a->stride_w * a->channels_in;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ky = 0; ky < a->filter_h; ky++) {
            const int32_t row = oy * a->stride_h - a->pad_top + ky * a->dilation_h;
            cg_conv_2d_dsp_copy(strip + ky * a->strip_row, row, a, x);
        }
        cg_conv_2d_dsp_line((int8_t *)cg_put(y, oy, r->x0), y->pixel, r->x1 - r->x0,
                            strip + r->x0 * step, step, a->strip_row, a, r, (int16_t *)scratch,
                            is_apart);
    }
}

/* A kernel, whose loop the layers of a model share: only its arguments differ. */
#define CG_CONV_2D_DSP(KERNEL, LOOP, IS_APART)                                                      \
    CG_SHARED void KERNEL##_run(const cg_conv_2d_dsp_args *a, const cg_src *x, const cg_dst *y,     \
                                const cg_range *r, void *scratch)                                   \
    {                                                                                               \
        LOOP(IS_APART, a, x, y, r, scratch);                                                        \
    }                                                                                               \
    CG_KERNEL void KERNEL(const cg_conv_2d_dsp_args *a, const cg_src *x, const cg_dst *y,           \
                          const cg_range *r, void *scratch)                                         \
    {                                                                                               \
        KERNEL##_run(a, x, y, r, scratch);                                                          \
    }

CG_CONV_2D_DSP(cg_conv_2d_dsp_s8, cg_conv_2d_dsp_windows, 0)
CG_CONV_2D_DSP(cg_conv_2d_point_dsp_s8, cg_conv_2d_dsp_points, 0)
CG_CONV_2D_DSP(cg_conv_2d_strip_dsp_s8, cg_conv_2d_dsp_strips, 0)
CG_CONV_2D_DSP(cg_conv_2d_apart_dsp_s8, cg_conv_2d_dsp_windows, 1)
CG_CONV_2D_DSP(cg_conv_2d_point_apart_dsp_s8, cg_conv_2d_dsp_points, 1)
CG_CONV_2D_DSP(cg_conv_2d_strip_apart_dsp_s8, cg_conv_2d_dsp_strips, 1)

#endif
