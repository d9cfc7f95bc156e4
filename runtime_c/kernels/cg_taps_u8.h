/* SPDX-License-Identifier: 0BSD
 *
 * Sums over taps of uint8 data with uint8 weights, less their zero points, each channel for itself, four
 * channels at a time and modulo 2^32. There is one function for each family of kernels; it adds n taps,
 * `x_step` inputs and `w_step` weights from one to the next.
 */
#ifndef CG_TAPS_U8_H
#define CG_TAPS_U8_H

#include "cg_dot_u8.h"
#include "cg_lanes_dsp.h"

CG_KERNEL int32_t cg_taps_u8_one(const cg_byte_sum *k, int32_t sum, uint8_t x, uint8_t w)
{
    return cg_add32(sum, (x + k->input_offset) * (w + k->weights_offset));
}

CG_SHARED void cg_taps_u8(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, int32_t x_step,
                          const uint8_t *w, int32_t w_step, int32_t n)
{
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (; n > 0; n--, x += x_step, w += w_step) {
        s0 = cg_taps_u8_one(k, s0, x[0], w[0]);
        s1 = cg_taps_u8_one(k, s1, x[1], w[1]);
        s2 = cg_taps_u8_one(k, s2, x[2], w[2]);
        s3 = cg_taps_u8_one(k, s3, x[3], w[3]);
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#ifdef CG_DSP_ASM

/* Bytes 0 and 2, or 1 and 3, of a word plus the offsets in both halves of another. */
CG_KERNEL uint32_t cg_offset_bytes(uint32_t offsets, uint32_t word, int odd)
{
    uint32_t pair;
    if (odd != 0) {
        __asm__("uxtab16 %0, %1, %2, ror #8" : "=r"(pair) : "r"(offsets), "r"(word));
    } else {
        __asm__("uxtab16 %0, %1, %2" : "=r"(pair) : "r"(offsets), "r"(word));
    }
    return pair;
}

CG_SHARED void cg_taps_dsp_u8(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, int32_t x_step,
                              const uint8_t *w, int32_t w_step, int32_t n)
{
    const uint32_t from_x = cg_both_halves(k->input_offset), from_w = cg_both_halves(k->weights_offset);
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    for (; n > 0; n--, x += x_step, w += w_step) {
        const uint32_t v = cg_load4((const int8_t *)x), q = cg_load4((const int8_t *)w);
        const uint32_t even = cg_offset_bytes(from_x, v, 0), odd = cg_offset_bytes(from_x, v, 1);
        const uint32_t w02 = cg_offset_bytes(from_w, q, 0), w13 = cg_offset_bytes(from_w, q, 1);
        __asm__("smlabb %0, %1, %2, %0" : "+r"(s0) : "r"(even), "r"(w02));
        __asm__("smlabb %0, %1, %2, %0" : "+r"(s1) : "r"(odd), "r"(w13));
        __asm__("smlatt %0, %1, %2, %0" : "+r"(s2) : "r"(even), "r"(w02));
        __asm__("smlatt %0, %1, %2, %0" : "+r"(s3) : "r"(odd), "r"(w13));
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

#else
#define cg_taps_dsp_u8 cg_taps_u8
#endif

#if CG_MVE

CG_SHARED void cg_taps_mve_u8(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, int32_t x_step,
                              const uint8_t *w, int32_t w_step, int32_t n)
{
    int32x4_t sum = vldrwq_s32(sums);
    for (; n > 0; n--, x += x_step, w += w_step) {
        const int32x4_t v = vaddq_n_s32(vreinterpretq_s32_u32(vldrbq_u32(x)), k->input_offset);
        const int32x4_t q = vaddq_n_s32(vreinterpretq_s32_u32(vldrbq_u32(w)), k->weights_offset);
        sum = vaddq_s32(sum, vmulq_s32(v, q));
    }
    vstrwq_s32(sums, sum);
}

#else
#define cg_taps_mve_u8 cg_taps_u8
#endif

#endif
