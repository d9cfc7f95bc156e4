/* SPDX-License-Identifier: 0BSD
 *
 * The loops of CONV_2D whose inputs have no zero point to pad with, grouped or not: four channels at a
 * time, run by run of inputs that lie one after the other. A run is what a filter row has inside the
 * map where pixels have no gaps, else a tap.
 */
#ifndef CG_CONV_2D_RUNS_H
#define CG_CONV_2D_RUNS_H

#include "cg_view.h"

/* Taps of a filter row whose inputs are one run in memory: the first one and the one behind the last. */
typedef struct {
    int32_t first, end;
} cg_run;

/* The run of taps from `first` on, of `taps` that are `dilation` columns apart; ix is the input column of
 * tap 0. */
CG_KERNEL cg_run cg_next_run(int32_t first, int32_t taps, int32_t dilation, int32_t ix, int32_t in_w,
                             int seamless)
{
    while (first < taps && ix + first * dilation < 0) {
        first++;
    }
    const int32_t end = cg_min(taps, (in_w - ix + dilation - 1) / dilation);
    const cg_run run = { first, seamless != 0 && dilation == 1 ? end : cg_min(end, first + 1) };
    return run;
}

/* Defines KERNEL. KERNEL_run(a, sums, x, w, step, n, channels) adds the products of n inputs to one
 * or four sums, of channels whose weights lie `step` apart; RESULT(FROM, sum, c) is the output. */
#define CG_CONV_2D_RUNS(KERNEL, ARGS, SUM, DATA, WEIGHT, WEIGHTS, RESULT, FROM)                     \
    CG_KERNEL void KERNEL##_sums(SUM *sums, const ARGS *a, const cg_src *x, int32_t iy, int32_t ix, \
                                 int32_t c, int32_t channels)                                       \
    {                                                                                               \
        const int32_t first_in = c / a->group_out * a->group_in;                                    \
        const int32_t step = a->filter_h * a->filter_w * a->group_in;                               \
        const int seamless = x->pixel == a->group_in * (int32_t)sizeof(DATA);                       \
        for (int32_t i = 0; i < channels; i++) {                                                    \
            sums[i] = 0;                                                                            \
        }                                                                                           \
        for (int32_t ky = 0; ky < a->filter_h; ky++) {                                              \
            const int32_t row = iy + ky * a->dilation_h;                                            \
            cg_run run = { 0, 0 };                                                                  \
            while (row >= 0 && row < a->in_h) {                                                     \
                run = cg_next_run(run.end, a->filter_w, a->dilation_w, ix, a->in_w, seamless);      \
                if (run.first >= run.end) {                                                         \
                    break;                                                                          \
                }                                                                                   \
                const int32_t col = ix + run.first * a->dilation_w;                                 \
                const int32_t tap = ky * a->filter_w + run.first;                                   \
                KERNEL##_run(a, sums, (const DATA *)cg_at(x, row, col) + first_in,                  \
                             (const WEIGHT *)(WEIGHTS) + (ptrdiff_t)c * step + tap * a->group_in,   \
                             step, (run.end - run.first) * a->group_in, channels);                  \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    CG_KERNEL void KERNEL(const ARGS *a, const cg_src *x, const cg_dst *y, const cg_range *r)       \
    {                                                                                               \
        for (int32_t oy = r->y0; oy < r->y1; oy++) {                                                \
            for (int32_t ox = r->x0; ox < r->x1; ox++) {                                            \
                const int32_t iy = oy * a->stride_h - a->pad_top;                                   \
                const int32_t ix = ox * a->stride_w - a->pad_left;                                  \
                DATA *out = (DATA *)cg_put(y, oy, ox);                                              \
                int32_t count;                                                                      \
                for (int32_t c = r->c0; c < r->c1; c += count) {                                    \
                    const int32_t left = cg_min(r->c1 - c, a->group_out - c % a->group_out);        \
                    SUM sums[4];                                                                    \
                    count = left >= 4 ? 4 : 1;                                                      \
                    if (count == 4) {                                                               \
                        KERNEL##_sums(sums, a, x, iy, ix, c, 4);                                    \
                    } else {                                                                        \
                        KERNEL##_sums(sums, a, x, iy, ix, c, 1);                                    \
                    }                                                                               \
                    for (int32_t i = 0; i < count; i++) {                                           \
                        out[c + i] = RESULT(FROM, sums[i], c + i);                                  \
                    }                                                                               \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }

#endif
