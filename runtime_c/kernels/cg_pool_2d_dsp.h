/* SPDX-License-Identifier: 0BSD
 *
 * AVERAGE_POOL_2D and MAX_POOL_2D, int8, for cores with the DSP extension: eight or four channels at a time,
 * what is left of them one by one. Rows of a window have at most 256 pixels, so that 16 bits hold their
 * sums.
 */
#ifndef CG_POOL_2D_DSP_H
#define CG_POOL_2D_DSP_H

#include "cg_lanes_dsp.h"
#include "cg_pool_2d.h"

CG_KERNEL int8_t cg_pool_2d_dsp_mean(const cg_pool_2d_args *a, int32_t sum, int32_t count)
{
    const int32_t half = sum < 0 ? -(count / 2) : count / 2;
    return cg_code8((sum + half) / count, a->act_min, a->act_max);
}

CG_KERNEL void cg_average_pool_2d_dsp_pixel(int8_t *out, const cg_pool_2d_args *a, const cg_src *x,
                                            const cg_range *w, int32_t c0, int32_t c1)
{
    const int32_t count = (w->y1 - w->y0) * (w->x1 - w->x0);
    int32_t c = c0;
    for (; c + 4 <= c1; c += 4) {
        int32_t sums[4];
        cg_window_sum4(sums, x, w, c);
        for (int32_t i = 0; i < 4; i++) {
            out[c + i] = cg_pool_2d_dsp_mean(a, sums[i], count);
        }
    }
    for (; c < c1; c++) {
        out[c] = cg_pool_2d_dsp_mean(a, cg_pool_2d_sum(x, w, c, CG_TYPE_S8), count);
    }
}

/* The largest codes of 4 * words channels from c on, at most 8. */
CG_KERNEL void cg_max_pool_2d_dsp_words(int8_t *out, const cg_src *x, const cg_range *w, int32_t c,
                                        int32_t words)
{
    uint32_t first = 0x80808080u, second = 0x80808080u;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        const int8_t *p = (const int8_t *)cg_at(x, iy, w->x0) + c;
        for (int32_t ix = w->x0; ix < w->x1; ix++, p += x->pixel) {
            first = cg_max4(first, cg_load4(p));
            if (words > 1) {
                second = cg_max4(second, cg_load4(p + 4));
            }
        }
    }
    memcpy(out + c, &first, sizeof first);
    if (words > 1) {
        memcpy(out + c + 4, &second, sizeof second);
    }
}

CG_KERNEL void cg_max_pool_2d_dsp_pixel(int8_t *out, const cg_pool_2d_args *a, const cg_src *x,
                                        const cg_range *w, int32_t c0, int32_t c1)
{
    int32_t c = c0;
    for (; c + 8 <= c1; c += 8) {
        cg_max_pool_2d_dsp_words(out, x, w, c, 2);
    }
    for (; c + 4 <= c1; c += 4) {
        cg_max_pool_2d_dsp_words(out, x, w, c, 1);
    }
    for (; c < c1; c++) {
        out[c] = (int8_t)cg_pool_2d_largest(x, w, c, CG_TYPE_S8);
    }
    cg_clamp_pixels(out + c0, 1, 0, c1 - c0, a->act_min, a->act_max);
}

#define CG_POOL_2D_DSP(KERNEL, PIXEL)                                                               \
    CG_KERNEL void KERNEL(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,               \
                          const cg_range *r)                                                        \
    {                                                                                               \
        for (int32_t oy = r->y0; oy < r->y1; oy++) {                                                \
            for (int32_t ox = r->x0; ox < r->x1; ox++) {                                            \
                const cg_range w = cg_pool_2d_window(a, oy, ox);                                    \
                PIXEL((int8_t *)cg_put(y, oy, ox), a, x, &w, r->c0, r->c1);                         \
            }                                                                                       \
        }                                                                                           \
    }

CG_POOL_2D_DSP(cg_average_pool_2d_dsp_s8, cg_average_pool_2d_dsp_pixel)
CG_POOL_2D_DSP(cg_max_pool_2d_dsp_s8, cg_max_pool_2d_dsp_pixel)

#endif
