/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, uint8. Weights are [filter row][filter column][out channel]; out channel c reads
 * in channel c / multiplier. Kernels for other families differ in the functions of cg_taps_u8.h.
 */
#ifndef CG_DEPTHWISE_CONV_2D_U8_H
#define CG_DEPTHWISE_CONV_2D_U8_H

#include "cg_depthwise_runs.h"
#include "cg_taps_u8.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels;                 /* of the whole output */
    int32_t depth_multiplier;
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    cg_byte_sum sum;
} cg_depthwise_conv_2d_u8_args;

/* The products of one output element; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int32_t cg_depthwise_conv_2d_u8_taps(const cg_depthwise_conv_2d_u8_args *a,
                                               const cg_src *x, int32_t iy, int32_t ix, int32_t c)
{
    const int32_t in = c / a->depth_multiplier;
    int32_t sum = 0;
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
            const uint8_t *p = (const uint8_t *)cg_at(x, y, col) + in;
            const uint8_t *q = a->sum.weights + (ptrdiff_t)(ky * a->filter_w + kx) * a->channels + c;
            sum += cg_byte_products(&a->sum, p, q, 1);
        }
    }
    return sum;
}

/* A kernel whose sums of four channels are those of TAPS; they are modulo 2^32, whatever the taps. */
#define CG_DEPTHWISE_CONV_2D_U8(KERNEL, TAPS)                                                       \
    CG_KERNEL void KERNEL##_run(const cg_depthwise_conv_2d_u8_args *a, int32_t *sums,               \
                                const uint8_t *x, int32_t x_step, const uint8_t *w, int32_t n)      \
    {                                                                                               \
        TAPS(sums, &a->sum, x, x_step, w, a->channels, n);                                          \
    }                                                                                               \
    CG_DEPTHWISE_RUNS(KERNEL, cg_depthwise_conv_2d_u8_args, uint8_t, uint8_t, a->sum.weights,       \
                      INT32_MAX, cg_depthwise_conv_2d_u8_taps, cg_byte_result)

CG_DEPTHWISE_CONV_2D_U8(cg_depthwise_conv_2d_u8, cg_taps_u8)
CG_DEPTHWISE_CONV_2D_U8(cg_depthwise_conv_2d_dsp_u8, cg_taps_dsp_u8)
CG_DEPTHWISE_CONV_2D_U8(cg_depthwise_conv_2d_mve_u8, cg_taps_mve_u8)

#endif
