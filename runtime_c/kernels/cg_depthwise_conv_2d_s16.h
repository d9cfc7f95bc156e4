/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int16 data without zero points, int8 weights. Weights are
 * [filter row][filter column][out channel]; out channel c reads in channel c / multiplier.
 *
 * Where every channel reads its own, four of them go along a filter row at a time: cg_taps_s16.h.
 */
#ifndef CG_DEPTHWISE_CONV_2D_S16_H
#define CG_DEPTHWISE_CONV_2D_S16_H

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

#define CG_DEPTHWISE_CONV_2D_S16(KERNEL, TAPS)                                                      \
    CG_KERNEL void KERNEL##_four(int32_t *sums, const cg_depthwise_conv_2d_s16_args *a,             \
                                 const cg_src *x, int32_t iy, int32_t ix, int32_t c)                \
    {                                                                                               \
        int32_t first = 0;                                                                          \
        while (first < a->filter_w && ix + first * a->dilation_w < 0) {                             \
            first++;                                                                                \
        }                                                                                           \
        const int32_t room = (a->in_w - ix + a->dilation_w - 1) / a->dilation_w;                    \
        const int32_t n = cg_min(a->filter_w, room) - first;                                        \
        const int32_t step = a->dilation_w * x->pixel / (int32_t)sizeof(cg_s16);                    \
        for (int32_t i = 0; i < 4; i++) {                                                           \
            sums[i] = 0;                                                                            \
        }                                                                                           \
        for (int32_t ky = 0; ky < a->filter_h && n > 0; ky++) {                                     \
            const int32_t row = iy + ky * a->dilation_h;                                            \
            if (row >= 0 && row < a->in_h) {                                                        \
                const int32_t tap = ky * a->filter_w + first;                                       \
                TAPS(sums, (const cg_s16 *)cg_at(x, row, ix + first * a->dilation_w) + c, step,     \
                     a->weights + (ptrdiff_t)tap * a->channels + c, a->channels, n);                \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    CG_KERNEL void KERNEL(const cg_depthwise_conv_2d_s16_args *a, const cg_src *x, const cg_dst *y, \
                          const cg_range *r)                                                        \
    {                                                                                               \
        const int fours = a->depth_multiplier == 1 && a->filter_h * a->filter_w <= CG_TAPS_S16_MOST; \
        for (int32_t oy = r->y0; oy < r->y1; oy++) {                                                \
            for (int32_t ox = r->x0; ox < r->x1; ox++) {                                            \
                const int32_t iy = oy * a->stride_h - a->pad_top;                                   \
                const int32_t ix = ox * a->stride_w - a->pad_left;                                  \
                cg_s16 *out = (cg_s16 *)cg_put(y, oy, ox);                                          \
                int32_t c = r->c0;                                                                  \
                for (; fours && c + 4 <= r->c1; c += 4) {                                           \
                    int32_t sums[4];                                                                \
                    KERNEL##_four(sums, a, x, iy, ix, c);                                           \
                    for (int32_t i = 0; i < 4; i++) {                                               \
                        out[c + i] = cg_wide_result(&a->sum, sums[i], c + i);                       \
                    }                                                                               \
                }                                                                                   \
                for (; c < r->c1; c++) {                                                            \
                    const int64_t sum = cg_depthwise_conv_2d_s16_taps(a, x, iy, ix, c);             \
                    out[c] = cg_wide_result(&a->sum, sum, c);                                       \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }

CG_DEPTHWISE_CONV_2D_S16(cg_depthwise_conv_2d_s16, cg_taps_s16)
CG_DEPTHWISE_CONV_2D_S16(cg_depthwise_conv_2d_dsp_s16, cg_taps_dsp_s16)
CG_DEPTHWISE_CONV_2D_S16(cg_depthwise_conv_2d_mve_s16, cg_taps_mve_s16)

#endif
