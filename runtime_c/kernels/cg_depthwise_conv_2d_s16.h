/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int16 data without zero points, int8 weights. Weights are
 * [filter row][filter column][out channel]; out channel c reads in channel c / multiplier.
 *
 * Kernels for other families differ in the functions of cg_taps_s16.h.
 */
#ifndef CG_DEPTHWISE_CONV_2D_S16_H
#define CG_DEPTHWISE_CONV_2D_S16_H

#include "cg_depthwise_runs.h"
#include "cg_taps_s16.h"
#include "cg_wide_sum.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels;                 /* of the whole output */
    int32_t depth_multiplier;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    const int8_t *weights;
    cg_wide_sum sum;
} cg_depthwise_conv_2d_s16_args;

/* The products of one output element; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int64_t cg_depthwise_conv_2d_s16_taps(const cg_depthwise_conv_2d_s16_args *a,
                                                const cg_src *x, int32_t iy, int32_t ix, int32_t c)
{
    const int32_t in = c / a->depth_multiplier;
    int64_t sum = 0;
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t y = iy + ky * a->dilation_h;
        if (y < 0 || y >= a->in_h) {
            continue;
        }
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t col = ix + kx * a->dilation_w;
            if (col < 0 || col >= a->in_w) {
                continue;
            }
            const cg_s16 *p = (const cg_s16 *)cg_at(x, y, col);
            sum += p[in] * a->weights[(ptrdiff_t)(ky * a->filter_w + kx) * a->channels + c];
        }
    }
    return sum;
}

/* A kernel whose sums of four channels are those of TAPS. */
#define CG_DEPTHWISE_CONV_2D_S16(KERNEL, TAPS)                                                      \
    CG_KERNEL void KERNEL##_run(const cg_depthwise_conv_2d_s16_args *a, int32_t *sums,              \
                                const cg_s16 *x, int32_t x_step, const int8_t *w, int32_t n)        \
    {                                                                                               \
        TAPS(sums, x, x_step, w, a->channels, n);                               \
    }                                                                                               \
    CG_DEPTHWISE_RUNS(KERNEL, cg_depthwise_conv_2d_s16_args, cg_s16, int8_t, a->weights,            \
                      CG_TAPS_S16_MOST, cg_depthwise_conv_2d_s16_taps, cg_wide_result)

CG_DEPTHWISE_CONV_2D_S16(cg_depthwise_conv_2d_s16, cg_taps_s16)
CG_DEPTHWISE_CONV_2D_S16(cg_depthwise_conv_2d_dsp_s16, cg_taps_dsp_s16)
CG_DEPTHWISE_CONV_2D_S16(cg_depthwise_conv_2d_mve_s16, cg_taps_mve_s16)

#endif
