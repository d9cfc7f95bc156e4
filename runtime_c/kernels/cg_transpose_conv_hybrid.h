/* SPDX-License-Identifier: 0BSD
 *
 * TRANSPOSE_CONV of float data with int8 weights [out channel][filter row][filter column][in channel].
 * The image is quantised to int8 with a zero point first. Unlike in other hybrid operators every
 * product becomes a float of its own before it is added, as in the reference.
 */
#ifndef CG_TRANSPOSE_CONV_HYBRID_H
#define CG_TRANSPOSE_CONV_HYBRID_H

#include "cg_hybrid.h"
#include "cg_transpose_window.h"

typedef struct {
    int32_t in_h, in_w, in_channels;  /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t pad_top, pad_left;
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    float act_min, act_max;
    const int8_t *weights;
    const float *scales;              /* of the weights */
    const float *bias;                /* null: none */
} cg_transpose_conv_hybrid_args;

/* One output element, from the inputs in `v` and `h`, whose codes lie densely. */
CG_KERNEL float cg_transpose_conv_hybrid_taps(const cg_transpose_conv_hybrid_args *a,
                                              const int8_t *codes, const cg_codes *k, int32_t oy,
                                              int32_t ox, cg_inputs v, cg_inputs h, int32_t c)
{
    const int8_t *w = a->weights + (ptrdiff_t)c * a->filter_h * a->filter_w * a->in_channels;
    const float scale = a->scales[a->per_channel != 0 ? c : 0];
    float sum = 0.0f;
    for (int32_t iy = v.first; iy < v.end; iy++) {
        const int32_t ky = oy + a->pad_top - iy * a->stride_h;
        for (int32_t ix = h.first; ix < h.end; ix++) {
            const int32_t kx = ox + a->pad_left - ix * a->stride_w;
            const int8_t *p = codes + (ptrdiff_t)(iy * a->in_w + ix) * a->in_channels;
            const int8_t *q = w + (ky * a->filter_w + kx) * a->in_channels;
            for (int32_t i = 0; i < a->in_channels; i++) {
                sum += (float)((p[i] - k->zero_point) * q[i]) * scale * k->scale;
            }
        }
    }
    return sum;
}

CG_KERNEL void cg_transpose_conv_hybrid(const cg_transpose_conv_hybrid_args *a, const cg_src *x,
                                        const cg_dst *y, const cg_range *r, void *scratch)
{
    int8_t *codes = (int8_t *)scratch;
    const cg_codes k = cg_encode_map(x, a->in_h, a->in_w, a->in_channels, 1, codes);
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const cg_inputs v = cg_transpose_inputs(oy, a->in_h, a->filter_h, a->stride_h, a->pad_top);
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_inputs h =
                cg_transpose_inputs(ox, a->in_w, a->filter_w, a->stride_w, a->pad_left);
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                const float bias = a->bias != NULL ? a->bias[c] : 0.0f;
                const float sum = cg_transpose_conv_hybrid_taps(a, codes, &k, oy, ox, v, h, c);
                out[c] = cg_clamp_f32(sum + bias, a->act_min, a->act_max);
            }
        }
    }
}

#endif
