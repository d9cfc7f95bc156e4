/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, uint8. Weights are [filter row][filter column][out channel]; out channel c reads
 * in channel c / multiplier.
 */
#ifndef CG_DEPTHWISE_CONV_2D_U8_H
#define CG_DEPTHWISE_CONV_2D_U8_H

#include "cg_byte_sum.h"

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

CG_KERNEL void cg_depthwise_conv_2d_u8(const cg_depthwise_conv_2d_u8_args *a, const cg_src *x,
                                       const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            uint8_t *out = (uint8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t sum = cg_depthwise_conv_2d_u8_taps(a, x, iy, ix, c);
                out[c] = cg_byte_result(&a->sum, sum, c);
            }
        }
    }
}

#endif
