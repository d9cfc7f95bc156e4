/* SPDX-License-Identifier: 0BSD
 *
 * TRANSPOSE_CONV, uint8. Weights are
 * [out channel][filter row][filter column][in channel].
 */
#ifndef CG_TRANSPOSE_CONV_U8_H
#define CG_TRANSPOSE_CONV_U8_H

#include "cg_byte_sum.h"
#include "cg_transpose_window.h"

typedef struct {
    int32_t in_h, in_w, in_channels;  /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;
    cg_byte_sum sum;
} cg_transpose_conv_u8_args;

/* The products of one output element, from the inputs in `v` and `h`. */
CG_KERNEL int32_t cg_transpose_conv_u8_taps(const cg_transpose_conv_u8_args *a, const cg_src *x,
                                            int32_t oy, int32_t ox, cg_inputs v, cg_inputs h,
                                            int32_t c)
{
    const uint8_t *w = a->sum.weights + (ptrdiff_t)c * a->filter_h * a->filter_w * a->in_channels;
    int32_t sum = 0;
    for (int32_t iy = v.first; iy < v.end; iy++) {
        const int32_t ky = oy + a->pad_top - iy * a->stride_h;
        for (int32_t ix = h.first; ix < h.end; ix++) {
            const int32_t kx = ox + a->pad_left - ix * a->stride_w;
            const uint8_t *p = (const uint8_t *)cg_at(x, iy, ix);
            const uint8_t *q = w + (ky * a->filter_w + kx) * a->in_channels;
            sum += cg_byte_products(&a->sum, p, q, a->in_channels);
        }
    }
    return sum;
}

CG_KERNEL void cg_transpose_conv_u8(const cg_transpose_conv_u8_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const cg_inputs v = cg_transpose_inputs(oy, a->in_h, a->filter_h, a->stride_h, a->pad_top);
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_inputs h =
                cg_transpose_inputs(ox, a->in_w, a->filter_w, a->stride_w, a->pad_left);
            uint8_t *out = (uint8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const int32_t sum = cg_transpose_conv_u8_taps(a, x, oy, ox, v, h, c);
                out[c] = cg_byte_result(&a->sum, sum, c);
            }
        }
    }
}

#endif
