/* SPDX-License-Identifier: 0BSD
 *
 * Runs of int8 elements in eight 16-bit lanes, for Helium.
 */
#ifndef CG_LANES_MVE_H
#define CG_LANES_MVE_H

#include "cg_mve.h"

#if CG_MVE

/* Elements from p on, or its only one in all lanes if step is 0. Lanes beyond n are 0. */
CG_KERNEL int16x8_t cg_lanes_load(const int8_t *p, int32_t step, int32_t n)
{
    if (step == 0) {
        return vdupq_n_s16(*p);
    }
    return n >= 8 ? vldrbq_s16(p) : vldrbq_z_s16(p, vctp16q((uint32_t)n));
}

/* Stores n of eight codes that are int8 already. */
CG_KERNEL void cg_lanes_store(int8_t *p, int16x8_t codes, int32_t n)
{
    if (n >= 8) {
        vstrbq_s16(p, codes);
    } else {
        vstrbq_p_s16(p, codes, vctp16q((uint32_t)n));
    }
}

/* Sums of n channels from c on over a window of at most 255 pixels. */
CG_KERNEL int16x8_t cg_lanes_sum(const cg_src *x, const cg_range *w, int32_t c, int32_t n)
{
    int16x8_t sum = vdupq_n_s16(0);
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        const int8_t *p = (const int8_t *)cg_at(x, iy, w->x0) + c;
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            sum = vaddq_s16(sum, cg_lanes_load(p, 1, n));
            p += x->pixel;
        }
    }
    return sum;
}

/* cg_requantize_twice of four values. */
CG_KERNEL int32x4_t cg_lanes_twice(int32x4_t v, int32_t multiplier, int32_t shift)
{
    if (shift > 0) {
        v = vshlq_r_s32(v, shift);
    }
    v = vqrdmulhq_n_s32(v, multiplier);
    if (shift < 0) {
        v = vrshlq_n_s32(vaddq_s32(v, vshrq_n_s32(v, 31)), shift);
    }
    return v;
}

/* Even and odd values plus a zero point, clamped: eight codes in order. */
CG_KERNEL int16x8_t cg_lanes_codes(int32x4_t even, int32x4_t odd, int32_t zero, int32_t low, int32_t high)
{
    int16x8_t v = vqmovntq_s32(vqmovnbq_s32(vreinterpretq_s16_s32(even), even), odd);
    v = vqaddq_n_s16(v, (int16_t)zero);
    if (low == INT8_MIN && high == INT8_MAX) {
        return vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(v), v));
    }
    v = vmaxq_s16(v, vdupq_n_s16((int16_t)low));
    return vminq_s16(v, vdupq_n_s16((int16_t)high));
}

#endif
#endif
