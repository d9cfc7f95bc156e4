/* SPDX-License-Identifier: 0BSD
 *
 * AVERAGE_POOL_2D and MAX_POOL_2D, int8, for Helium: eight channels at a time in 16-bit lanes, sixteen for
 * maxima. Averages are of at most 255 elements, so that their sums fit.
 */
#ifndef CG_POOL_2D_MVE_H
#define CG_POOL_2D_MVE_H

#include "cg_lanes_mve.h"
#include "cg_pool_2d.h"

#if CG_MVE

/* Sums divided by count, halves away from 0: n * factor >> (16 + l) with factor = 2^(16 + l) / count,
 * rounded up, and 2^l < count <= 2^(l + 1). What rounding up adds to the quotient is less than
 * n * 2^-15 / count, and so less than the 1 / count to the next integer for all n below 2^15. */
CG_KERNEL int16x8_t cg_pool_2d_mve_mean(int16x8_t sum, int32_t count)
{
    if (count == 1) {
        return sum;
    }
    int32_t l = 0;
    while ((count - 1) >> (l + 1) != 0) {
        l++;
    }
    const uint32_t factor = (((uint32_t)1 << (16 + l)) + (uint32_t)count - 1) / (uint32_t)count;
    const uint16x8_t size = vreinterpretq_u16_s16(vaddq_n_s16(vabsq_s16(sum), (int16_t)(count / 2)));
    const uint16x8_t high = vmulhq_u16(size, vdupq_n_u16((uint16_t)factor));
    const int16x8_t mean = vreinterpretq_s16_u16(vshlq_r_u16(high, -l));
    return vnegq_m_s16(mean, mean, vcmpltq_n_s16(sum, 0));
}

CG_KERNEL void cg_average_pool_2d_mve_s8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                         const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_window(a, oy, ox);
            const int32_t count = (w.y1 - w.y0) * (w.x1 - w.x0);
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c += 8) {
                const int32_t n = (r->c1 - r->c0) % 8 == 0 ? 8 : r->c1 - c;
                int16x8_t v = cg_pool_2d_mve_mean(cg_lanes_sum(x, &w, c, n), count);
                v = vmaxq_s16(v, vdupq_n_s16((int16_t)a->act_min));
                v = vminq_s16(v, vdupq_n_s16((int16_t)a->act_max));
                cg_lanes_store(out + c, v, n);
            }
        }
    }
}

CG_KERNEL void cg_max_pool_2d_mve_s8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                     const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_pool_2d_window(a, oy, ox);
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c += 16) {
                const int32_t n = (r->c1 - r->c0) % 16 == 0 ? 16 : r->c1 - c;
                int8x16_t v = vdupq_n_s8((int8_t)a->act_min);
                for (int32_t iy = w.y0; iy < w.y1; iy++) {
                    const int8_t *p = (const int8_t *)cg_at(x, iy, w.x0) + c;
                    for (int32_t ix = w.x0; ix < w.x1; ix++) {
                        v = vmaxq_s8(v, cg_mve_load(p, n));
                        p += x->pixel;
                    }
                }
                v = vminq_s8(v, vdupq_n_s8((int8_t)a->act_max));
                vstrbq_p_s8(out + c, v, vctp8q((uint32_t)n));
            }
        }
    }
}

#else

CG_KERNEL void cg_average_pool_2d_mve_s8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                         const cg_range *r)
{
    cg_average_pool_2d_s8(a, x, y, r);
}

CG_KERNEL void cg_max_pool_2d_mve_s8(const cg_pool_2d_args *a, const cg_src *x, const cg_dst *y,
                                     const cg_range *r)
{
    cg_max_pool_2d_s8(a, x, y, r);
}

#endif
#endif
