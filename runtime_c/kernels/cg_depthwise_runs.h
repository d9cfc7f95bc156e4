/* SPDX-License-Identifier: 0BSD
 *
 * The loops of DEPTHWISE_CONV_2D whose inputs have no zero point to pad with. Where every channel reads
 * its own, four of them go along a filter row at a time; all others are summed one by one.
 */
#ifndef CG_DEPTHWISE_RUNS_H
#define CG_DEPTHWISE_RUNS_H

#include "cg_conv_2d_runs.h"

/* Defines KERNEL. KERNEL_run(a, sums, x, x_step, w, n) adds n taps of four channels to int32 sums, which
 * have room for MOST; ONE(a, x, iy, ix, c) gives the sum of one channel, RESULT(&a->sum, sum, c) the
 * output. */
#define CG_DEPTHWISE_RUNS(KERNEL, ARGS, DATA, WEIGHT, WEIGHTS, MOST, ONE, RESULT)                   \
    CG_KERNEL void KERNEL##_four(int32_t *sums, const ARGS *a, const cg_src *x, int32_t iy,         \
                                 int32_t ix, int32_t c)                                             \
    {                                                                                               \
        const cg_run run = cg_next_run(0, a->filter_w, a->dilation_w, ix, a->in_w, 1);              \
        const int32_t end = cg_min(a->filter_w, (a->in_w - ix + a->dilation_w - 1) / a->dilation_w); \
        const int32_t step = a->dilation_w * x->pixel / (int32_t)sizeof(DATA);                      \
        for (int32_t i = 0; i < 4; i++) {                                                           \
            sums[i] = 0;                                                                            \
        }                                                                                           \
        for (int32_t ky = 0; ky < a->filter_h && run.first < end; ky++) {                           \
            const int32_t row = iy + ky * a->dilation_h;                                            \
            if (row >= 0 && row < a->in_h) {                                                        \
                const int32_t tap = ky * a->filter_w + run.first;                                   \
                const int32_t col = ix + run.first * a->dilation_w;                                 \
                KERNEL##_run(a, sums, (const DATA *)cg_at(x, row, col) + c, step,                   \
                             (const WEIGHT *)(WEIGHTS) + (ptrdiff_t)tap * a->channels + c,          \
                             end - run.first);                                                      \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    CG_KERNEL void KERNEL(const ARGS *a, const cg_src *x, const cg_dst *y, const cg_range *r)       \
    {                                                                                               \
        const int fours = a->depth_multiplier == 1 && a->filter_h * a->filter_w <= MOST;            \
        for (int32_t oy = r->y0; oy < r->y1; oy++) {                                                \
            for (int32_t ox = r->x0; ox < r->x1; ox++) {                                            \
                const int32_t iy = oy * a->stride_h - a->pad_top;                                   \
                const int32_t ix = ox * a->stride_w - a->pad_left;                                  \
                DATA *out = (DATA *)cg_put(y, oy, ox);                                              \
                int32_t c = r->c0;                                                                  \
                for (; fours && c + 4 <= r->c1; c += 4) {                                           \
                    int32_t sums[4];                                                                \
                    KERNEL##_four(sums, a, x, iy, ix, c);                                           \
                    for (int32_t i = 0; i < 4; i++) {                                               \
                        out[c + i] = RESULT(&a->sum, sums[i], c + i);                               \
                    }                                                                               \
                }                                                                                   \
                for (; c < r->c1; c++) {                                                            \
                    out[c] = RESULT(&a->sum, ONE(a, x, iy, ix, c), c);                              \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }

#endif
