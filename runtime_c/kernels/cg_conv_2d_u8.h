/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, uint8, grouped or not. Weights are [out channel][filter row][filter column][in channel of
 * the group]. Kernels for other families than the portable one go four channels at a time (cg_dot_u8.h).
 */
#ifndef CG_CONV_2D_U8_H
#define CG_CONV_2D_U8_H

#include "cg_conv_2d_runs.h"
#include "cg_dot_u8.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t group_in, group_out;      /* channels per group */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    cg_byte_sum sum;
} cg_conv_2d_u8_args;

/* The products of one output element; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int32_t cg_conv_2d_u8_taps(const cg_conv_2d_u8_args *a, const cg_src *x, int32_t iy,
                                     int32_t ix, int32_t c)
{
    const int32_t first_in = c / a->group_out * a->group_in;
    const uint8_t *w = a->sum.weights + (ptrdiff_t)c * a->filter_h * a->filter_w * a->group_in;
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
            const uint8_t *p = (const uint8_t *)cg_at(x, y, col) + first_in;
            const uint8_t *q = w + (ky * a->filter_w + kx) * a->group_in;
            sum += cg_byte_products(&a->sum, p, q, a->group_in);
        }
    }
    return sum;
}

CG_KERNEL void cg_conv_2d_u8(const cg_conv_2d_u8_args *a, const cg_src *x, const cg_dst *y,
                             const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            uint8_t *out = (uint8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = cg_byte_result(&a->sum, cg_conv_2d_u8_taps(a, x, iy, ix, c), c);
            }
        }
    }
}

/* A kernel whose products are those of DOT, for one channel, and DOT_4. */
#define CG_CONV_2D_U8(KERNEL, DOT)                                                                  \
    CG_KERNEL void KERNEL##_run(const cg_conv_2d_u8_args *a, int32_t *sums, const uint8_t *x,       \
                                const uint8_t *w, int32_t step, int32_t n, int32_t channels)        \
    {                                                                                               \
        if (channels == 4) {                                                                        \
            DOT##_4(sums, &a->sum, x, w, step, n);                                                  \
        } else {                                                                                    \
            DOT(sums, &a->sum, x, w, n);                                                            \
        }                                                                                           \
    }                                                                                               \
    CG_CONV_2D_RUNS(KERNEL, cg_conv_2d_u8_args, int32_t, uint8_t, uint8_t, a->sum.weights,          \
                    cg_byte_result, &a->sum)

CG_CONV_2D_U8(cg_conv_2d_dsp_u8, cg_dot_dsp_u8)
CG_CONV_2D_U8(cg_conv_2d_mve_u8, cg_dot_mve_u8)

#endif
