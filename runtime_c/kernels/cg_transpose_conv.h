/* SPDX-License-Identifier: 0BSD
 *
 * TRANSPOSE_CONV, int8. Weights are [out channel][filter row][filter column][in channel]. Accumulates
 * (x + input_offset) * w over the inputs that reach an output and rounds twice.
 */
#ifndef CG_TRANSPOSE_CONV_H
#define CG_TRANSPOSE_CONV_H

#include "cg_fixed_point.h"
#include "cg_transpose_window.h"

typedef struct {
    int32_t in_h, in_w, in_channels;  /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;
    int32_t input_offset, output_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* null: none */
    const int32_t *multiplier;        /* per out channel */
    const int8_t *shift;
} cg_transpose_conv_args;

/* One output element before requantisation, from the inputs in `v` and `h`. */
CG_KERNEL int32_t cg_transpose_conv_taps(const cg_transpose_conv_args *a, const cg_src *x,
                                         int32_t oy, int32_t ox, cg_inputs v, cg_inputs h,
                                         int32_t c)
{
    const int8_t *w = a->weights + (ptrdiff_t)c * a->filter_h * a->filter_w * a->in_channels;
    int32_t acc = 0;
    for (int32_t iy = v.first; iy < v.end; iy++) {
        const int32_t ky = oy + a->pad_top - iy * a->stride_h;
        for (int32_t ix = h.first; ix < h.end; ix++) {
            const int32_t kx = ox + a->pad_left - ix * a->stride_w;
            const int8_t *p = (const int8_t *)cg_at(x, iy, ix);
            const int8_t *q = w + (ky * a->filter_w + kx) * a->in_channels;
            for (int32_t k = 0; k < a->in_channels; k++) {
                acc += (p[k] + a->input_offset) * q[k];
            }
        }
    }
    return cg_add32(acc, a->bias != NULL ? a->bias[c] : 0);
}

CG_KERNEL void cg_transpose_conv_s8(const cg_transpose_conv_args *a, const cg_src *x,
                                    const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const cg_inputs v = cg_transpose_inputs(oy, a->in_h, a->filter_h, a->stride_h, a->pad_top);
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_inputs h =
                cg_transpose_inputs(ox, a->in_w, a->filter_w, a->stride_w, a->pad_left);
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                int32_t acc = cg_transpose_conv_taps(a, x, oy, ox, v, h, c);
                acc = cg_requantize_twice(acc, a->multiplier[c], a->shift[c]);
                acc = cg_add32(acc, a->output_offset);
                out[c] = (int8_t)cg_clamp(acc, a->act_min, a->act_max);
            }
        }
    }
}

#endif
