/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int16 data without zero points, int8 weights, grouped or not. Weights are
 * [out channel][filter row][filter column][in channel of the group].
 *
 * Kernels for other families differ in the functions of cg_dot_s16.h.
 */
#ifndef CG_CONV_2D_S16_H
#define CG_CONV_2D_S16_H

#include "cg_conv_2d_runs.h"
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

/* A kernel whose products are those of DOT, for one channel, and DOT_4. */
#define CG_CONV_2D_S16(KERNEL, DOT)                                                                 \
    CG_KERNEL void KERNEL##_run(const cg_conv_2d_s16_args *a, int64_t *sums, const cg_s16 *x,       \
                                const int8_t *w, int32_t step, int32_t n, int32_t channels)         \
    {                                                                                               \
        (void)a;                                                                                    \
        if (channels == 4) {                                                                        \
            DOT##_4(sums, x, w, step, n);                                                           \
        } else {                                                                                    \
            DOT(sums, x, w, n);                                                                     \
        }                                                                                           \
    }                                                                                               \
    CG_CONV_2D_RUNS(KERNEL, cg_conv_2d_s16_args, int64_t, cg_s16, int8_t, a->weights,               \
                    cg_wide_result, &a->sum)

CG_CONV_2D_S16(cg_conv_2d_s16, cg_dot_s16)
CG_CONV_2D_S16(cg_conv_2d_dsp_s16, cg_dot_dsp_s16)
CG_CONV_2D_S16(cg_conv_2d_mve_s16, cg_dot_mve_s16)

#endif
