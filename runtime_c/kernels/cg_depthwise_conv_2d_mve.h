/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8, for Helium, by lanes: one out channel per in channel, any filter, eight channels
 * at a time. Weights are [filter row][filter column][channel], biases are padded to whole blocks of four;
 * layer.scales as in cg_dense_mve.h.
 */
#ifndef CG_DEPTHWISE_CONV_2D_MVE_H
#define CG_DEPTHWISE_CONV_2D_MVE_H

#include "cg_mve.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t input_offset;
    const int8_t *filters;
    const int32_t *bias;
    cg_mve_layer layer;               /* depth and weights are not used */
} cg_depthwise_conv_2d_mve_args;

/* Filter taps [y0, y1) x [x0, x1) lie inside the map; (y, x) is the input position of tap (0, 0). */
typedef struct {
    int32_t y, x;
    int32_t y0, y1, x0, x1;
} cg_depthwise_mve_taps;

/* The first tap from which positions are at least `bound`. */
CG_KERNEL int32_t cg_depthwise_mve_tap(int32_t first, int32_t dilation, int32_t bound, int32_t taps)
{
    return cg_clamp((bound - first + dilation - 1) / dilation, 0, taps);
}

CG_KERNEL cg_depthwise_mve_taps cg_depthwise_mve_inside(const cg_depthwise_conv_2d_mve_args *a,
                                                        int32_t oy, int32_t ox)
{
    const int32_t iy = oy * a->stride_h - a->pad_top, ix = ox * a->stride_w - a->pad_left;
    const cg_depthwise_mve_taps t = {
        iy, ix,
        iy >= 0 ? 0 : cg_depthwise_mve_tap(iy, a->dilation_h, 0, a->filter_h),
        cg_depthwise_mve_tap(iy, a->dilation_h, a->in_h, a->filter_h),
        ix >= 0 ? 0 : cg_depthwise_mve_tap(ix, a->dilation_w, 0, a->filter_w),
        cg_depthwise_mve_tap(ix, a->dilation_w, a->in_w, a->filter_w),
    };
    return t;
}

#if CG_MVE

/* Four int8 as int32, those from `left` on as 0 where channels do not fill blocks of eight. */
CG_KERNEL int32x4_t cg_depthwise_mve_load(const int8_t *p, int32_t channels, int32_t left)
{
    return channels % 8 == 0 ? vldrbq_s32(p) : vldrbq_z_s32(p, vctp32q((uint32_t)cg_max(left, 0)));
}

/* Adds the products of one tap and four channels, of which `left` exist. */
CG_KERNEL int32x4_t cg_depthwise_mve_tap_4(const cg_depthwise_conv_2d_mve_args *a, int32x4_t sums,
                                           const int8_t *x, const int8_t *w, int32_t left)
{
    const int32x4_t in = cg_depthwise_mve_load(x, a->layer.channels, left);
    const int32x4_t by = cg_depthwise_mve_load(w, a->layer.channels, left);
    return vaddq_s32(sums, vmulq_s32(vaddq_n_s32(in, a->input_offset), by));
}

CG_KERNEL cg_mve_sums cg_depthwise_mve_bias(const int32_t *first, const int32_t *second)
{
    return (cg_mve_sums){ vldrwq_s32(first), vldrwq_s32(second) };
}

/* The first four sums twice. */
CG_KERNEL cg_mve_sums cg_depthwise_mve_twice(cg_mve_sums s)
{
    return (cg_mve_sums){ s.a, s.a };
}

CG_KERNEL void cg_depthwise_mve_tap_8(const cg_depthwise_conv_2d_mve_args *a, cg_mve_sums *s,
                                      const int8_t *x, const int8_t *w, int32_t left)
{
    s->a = cg_depthwise_mve_tap_4(a, s->a, x, w, left);
    s->b = cg_depthwise_mve_tap_4(a, s->b, x + 4, w + 4, left - 4);
}

#else

CG_KERNEL cg_mve_sums cg_depthwise_mve_bias(const int32_t *first, const int32_t *second)
{
    return (cg_mve_sums){ { first[0], first[1], first[2], first[3] },
                          { second[0], second[1], second[2], second[3] } };
}

CG_KERNEL cg_mve_sums cg_depthwise_mve_twice(cg_mve_sums s)
{
    return cg_depthwise_mve_bias(s.a, s.a);
}

CG_KERNEL void cg_depthwise_mve_tap_8(const cg_depthwise_conv_2d_mve_args *a, cg_mve_sums *s,
                                      const int8_t *x, const int8_t *w, int32_t left)
{
    for (int32_t j = 0; j < cg_min(left, 8); j++) {
        int32_t *sum = j < 4 ? &s->a[j] : &s->b[j - 4];
        *sum = cg_add32(*sum, (x[j] + a->input_offset) * w[j]);
    }
}

#endif

/* Sums of channels c .. c + 7 of one output. */
CG_KERNEL cg_mve_sums cg_depthwise_mve_sums(const cg_depthwise_conv_2d_mve_args *a, const cg_src *x,
                                            const cg_depthwise_mve_taps *t, int32_t c)
{
    const int32_t all = a->layer.channels, left = all - c;
    cg_mve_sums s = cg_depthwise_mve_bias(a->bias + c, a->bias + (left > 4 ? c + 4 : c));
    for (int32_t ky = t->y0; ky < t->y1; ky++) {
        const int8_t *w = a->filters + (ky * a->filter_w + t->x0) * all + c;
        const int8_t *p = (const int8_t *)cg_at(x, t->y + ky * a->dilation_h,
                                                t->x + t->x0 * a->dilation_w) + c;
        for (int32_t kx = t->x0; kx < t->x1; kx++) {
            cg_depthwise_mve_tap_8(a, &s, p, w, left);
            p += a->dilation_w * x->pixel;
            w += all;
        }
    }
    return s;
}

/* Any filter, by lanes. Channels of the range start at a multiple of 8. */
CG_KERNEL void cg_depthwise_conv_2d_mve_s8(const cg_depthwise_conv_2d_mve_args *a, const cg_src *x,
                                           const cg_dst *y, const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_depthwise_mve_taps t = cg_depthwise_mve_inside(a, oy, ox);
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c += 8) {
                const int32_t left = r->c1 - c, second = left > 4 ? 4 : 0;
                const int32_t *scales = a->layer.scales + 2 * c;
                cg_mve_sums s = cg_depthwise_mve_sums(a, x, &t, c);
                if (second == 0) {
                    s = cg_depthwise_mve_twice(s);
                }
                cg_mve_put(&a->layer, s, scales, scales + 2 * second, out + c, out + c + second,
                           left, left - second);
            }
        }
    }
}

#endif
