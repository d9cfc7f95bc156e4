/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int16 data without zero points, int8 weights, grouped or not. Weights are
 * [out channel][filter row][filter column][in channel of the group].
 *
 * Four channels at a time, run by run of inputs that lie one after the other: a filter row's where
 * pixels have no gaps, else a tap's. Kernels for other families differ in the functions of
 * cg_dot_s16.h.
 */
#ifndef CG_CONV_2D_S16_H
#define CG_CONV_2D_S16_H

#include "cg_dot_s16.h"
#include "cg_wide_sum.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t group_in, group_out;      /* channels per group */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    const int8_t *weights;
    cg_wide_sum sum;
} cg_conv_2d_s16_args;

/* Taps of a filter row whose inputs are one run in memory: the first one and the one behind the last. */
typedef struct {
    int32_t first, end;
} cg_conv_2d_s16_run;

/* The run of taps from `first` on that lies inside the map; ix is the input column of tap 0. */
CG_KERNEL cg_conv_2d_s16_run cg_conv_2d_s16_next(const cg_conv_2d_s16_args *a, const cg_src *x,
                                                 int32_t ix, int32_t first)
{
    while (first < a->filter_w && ix + first * a->dilation_w < 0) {
        first++;
    }
    const int32_t room = (a->in_w - ix + a->dilation_w - 1) / a->dilation_w;
    const int32_t end = cg_min(a->filter_w, room);
    const int32_t pixel = a->group_in * (int32_t)sizeof(cg_s16);
    const int seamless = x->pixel == pixel && a->dilation_w == 1;
    const cg_conv_2d_s16_run run = { first, seamless ? end : cg_min(end, first + 1) };
    return run;
}

/* The products of `channels` output elements from c on, 1 or 4 of one group; (iy, ix) is the input
 * position of tap (0, 0). */
#define CG_CONV_2D_S16(KERNEL, DOT)                                                                 \
    CG_KERNEL void KERNEL##_sums(int64_t *sums, const cg_conv_2d_s16_args *a, const cg_src *x,      \
                                 int32_t iy, int32_t ix, int32_t c, int32_t channels)               \
    {                                                                                               \
        const int32_t first_in = c / a->group_out * a->group_in;                                    \
        const int32_t step = a->filter_h * a->filter_w * a->group_in;                               \
        for (int32_t i = 0; i < channels; i++) {                                                    \
            sums[i] = 0;                                                                            \
        }                                                                                           \
        for (int32_t ky = 0; ky < a->filter_h; ky++) {                                              \
            const int32_t row = iy + ky * a->dilation_h;                                            \
            if (row < 0 || row >= a->in_h) {                                                        \
                continue;                                                                           \
            }                                                                                       \
            cg_conv_2d_s16_run run = cg_conv_2d_s16_next(a, x, ix, 0);                              \
            for (; run.first < run.end; run = cg_conv_2d_s16_next(a, x, ix, run.end)) {             \
                const int32_t col = ix + run.first * a->dilation_w;                                 \
                const cg_s16 *p = (const cg_s16 *)cg_at(x, row, col) + first_in;                    \
                const int32_t tap = ky * a->filter_w + run.first;                                   \
                const int8_t *w = a->weights + (ptrdiff_t)c * step + tap * a->group_in;             \
                const int32_t n = (run.end - run.first) * a->group_in;                              \
                if (channels == 4) {                                                                \
                    DOT##_4(sums, p, w, step, n);                                                   \
                } else {                                                                            \
                    DOT(sums, p, w, n);                                                             \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    CG_KERNEL void KERNEL(const cg_conv_2d_s16_args *a, const cg_src *x, const cg_dst *y,           \
                          const cg_range *r)                                                        \
    {                                                                                               \
        for (int32_t oy = r->y0; oy < r->y1; oy++) {                                                \
            for (int32_t ox = r->x0; ox < r->x1; ox++) {                                            \
                const int32_t iy = oy * a->stride_h - a->pad_top;                                   \
                const int32_t ix = ox * a->stride_w - a->pad_left;                                  \
                cg_s16 *out = (cg_s16 *)cg_put(y, oy, ox);                                          \
                int32_t count;                                                                      \
                for (int32_t c = r->c0; c < r->c1; c += count) {                                    \
                    const int32_t left = cg_min(r->c1 - c, a->group_out - c % a->group_out);        \
                    int64_t sums[4];                                                                \
                    count = left >= 4 ? 4 : 1;                                                      \
                    if (count == 4) {                                                               \
                        KERNEL##_sums(sums, a, x, iy, ix, c, 4);                                    \
                    } else {                                                                        \
                        KERNEL##_sums(sums, a, x, iy, ix, c, 1);                                    \
                    }                                                                               \
                    for (int32_t i = 0; i < count; i++) {                                           \
                        out[c + i] = cg_wide_result(&a->sum, sums[i], c + i);                       \
                    }                                                                               \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }

CG_CONV_2D_S16(cg_conv_2d_s16, cg_dot_s16)
CG_CONV_2D_S16(cg_conv_2d_dsp_s16, cg_dot_dsp_s16)
CG_CONV_2D_S16(cg_conv_2d_mve_s16, cg_dot_mve_s16)

#endif
