/* SPDX-License-Identifier: 0BSD
 *
 * Sums over taps of int16 data with int8 weights, each channel for itself, four channels at a time.
 * At most CG_TAPS_S16_MOST products are summed, so that 32 bits hold them. There is one function for each
 * family of kernels; it adds n taps, `x_step` inputs and `w_step` weights from one to the next.
 */
#ifndef CG_TAPS_S16_H
#define CG_TAPS_S16_H

#include "cg_dot_s16.h"

enum { CG_TAPS_S16_MOST = CG_DOT_S16_RUN };

CG_SHARED void cg_taps_s16(int32_t *sums, const cg_s16 *x, int32_t x_step, const int8_t *w,
                           int32_t w_step, int32_t n)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (; n > 0; n--, x += x_step, w += w_step) {
        s0 += x[0] * w[0];
        s1 += x[1] * w[1];
        s2 += x[2] * w[2];
        s3 += x[3] * w[3];
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#ifdef CG_DSP_ASM

CG_SHARED void cg_taps_dsp_s16(int32_t *sums, const cg_s16 *x, int32_t x_step, const int8_t *w,
                               int32_t w_step, int32_t n)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (; n > 0; n--, x += x_step, w += w_step) {
        const uint32_t low = cg_word_of(x), high = cg_word_of(x + 2), word = cg_word_of(w);
        uint32_t even, odd;
        __asm__("sxtb16 %0, %1" : "=r"(even) : "r"(word));
        __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(word));
        __asm__("smlabb %0, %1, %2, %0" : "+r"(s0) : "r"(low), "r"(even));
        __asm__("smlatb %0, %1, %2, %0" : "+r"(s1) : "r"(low), "r"(odd));
        __asm__("smlabt %0, %1, %2, %0" : "+r"(s2) : "r"(high), "r"(even));
        __asm__("smlatt %0, %1, %2, %0" : "+r"(s3) : "r"(high), "r"(odd));
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#else
#define cg_taps_dsp_s16 cg_taps_s16
#endif

#if CG_MVE

CG_SHARED void cg_taps_mve_s16(int32_t *sums, const cg_s16 *x, int32_t x_step, const int8_t *w,
                               int32_t w_step, int32_t n)
{
    int32x4_t sum = vldrwq_s32(sums);
    for (; n > 0; n--, x += x_step, w += w_step) {
        sum = vaddq_s32(sum, vmulq_s32(vldrhq_s32(x), vldrbq_s32(w)));
    }
    vstrwq_s32(sums, sum);
}

#else
#define cg_taps_mve_s16 cg_taps_s16
#endif

#endif
