/* SPDX-License-Identifier: 0BSD
 *
 * Products of uint8 data with uint8 weights, less their zero points, for one or four output channels at a
 * time and modulo 2^32. There is one pair of functions for each family of kernels:
 *
 *     cg_dot_dsp_u8        UXTAB16 takes two bytes out of a word and adds the offset, for SMLAD
 *     cg_dot_mve_u8        VMLADAVA: sixteen at a time, and the sums of both factors for the offsets
 *
 * A function adds n products to sums[0]; the one that ends in 4 adds to sums[0 .. 3], the weights of
 * whose channels lie `step` bytes apart. The offsets of k are those of inputs and weights.
 */
#ifndef CG_DOT_U8_H
#define CG_DOT_U8_H

#include "cg_byte_sum.h"
#include "cg_dsp.h"
#include "cg_mve.h"

/* Four channels' products one after the other. */
CG_KERNEL void cg_dot_u8_rest(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, const uint8_t *w,
                              int32_t step, int32_t n)
{
    for (int32_t i = 0; i < 4; i++) {
        sums[i] = cg_add32(sums[i], cg_byte_products(k, x, w + i * step, n));
    }
}

CG_KERNEL void cg_dot_u8(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, const uint8_t *w, int32_t n)
{
    sums[0] = cg_add32(sums[0], cg_byte_products(k, x, w, n));
}

#ifdef CG_DSP_ASM

/* Four weights of one channel times the inputs in r10 and r9. */
#define CG_DOT_U8_CHANNEL(SUM, WEIGHTS)                                                             \
    "ldr.w r11, " WEIGHTS "\n uxtab16 r8, lr, r11\n uxtab16 r11, lr, r11, ror #8\n"                 \
    "smlad " SUM ", r8, r10, " SUM "\n smlad " SUM ", r11, r9, " SUM "\n"

/* Adds the products of n inputs, a multiple of 4 and more than 0, to four sums. The offsets come in both
 * halves of a word. r0 is 3 * step, r12 where the inputs end. Stack: 0 sums, 44 offset of the inputs. */
CG_ASM void cg_dot_u8_asm(int32_t *sums CG_IN, const uint8_t *x CG_IN, const uint8_t *w CG_IN,
                          int32_t step CG_IN, int32_t n CG_IN, uint32_t x_offset CG_IN,
                          uint32_t w_offset CG_IN)
{
    __asm__(".syntax unified\n push {r4-r11, lr}\n ldr r12, [sp, #36]\n add r12, r1\n"
            "ldr lr, [sp, #44]\n push {r0}\n ldm r0, {r4-r7}\n add r0, r3, r3, lsl #1\n"
            "1: ldr r11, [r1], #4\n ldr r8, [sp, #44]\n"
            "uxtab16 r10, r8, r11\n uxtab16 r9, r8, r11, ror #8\n"
            CG_DOT_U8_CHANNEL("r5", "[r2, r3]") CG_DOT_U8_CHANNEL("r6", "[r2, r3, lsl #1]")
            CG_DOT_U8_CHANNEL("r7", "[r2, r0]") CG_DOT_U8_CHANNEL("r4", "[r2], #4")
            "cmp r1, r12\n bne 1b\n pop {r0}\n stm r0, {r4-r7}\n pop {r4-r11, pc}\n");
}

/* An offset in both halves of a word. */
CG_KERNEL uint32_t cg_both_halves(int32_t offset)
{
    return ((uint32_t)offset & 0xffffu) | ((uint32_t)offset << 16);
}

CG_KERNEL void cg_dot_dsp_u8_4(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, const uint8_t *w,
                               int32_t step, int32_t n)
{
    const int32_t fours = n & ~3;
    if (fours > 0) {
        cg_dot_u8_asm(sums, x, w, step, fours, cg_both_halves(k->input_offset),
                      cg_both_halves(k->weights_offset));
    }
    if (fours < n) {
        cg_dot_u8_rest(sums, k, x + fours, w + fours, step, n - fours);
    }
}

#else
#define cg_dot_dsp_u8_4 cg_dot_u8_rest
#endif
#define cg_dot_dsp_u8 cg_dot_u8

#if CG_MVE

/* What the offsets add: to the products of n inputs with weights, whose sums are these. */
CG_KERNEL uint32_t cg_dot_u8_offsets(const cg_byte_sum *k, uint32_t inputs, uint32_t weights, int32_t n)
{
    const uint32_t from_x = (uint32_t)k->input_offset, from_w = (uint32_t)k->weights_offset;
    return from_w * inputs + from_x * weights + from_x * from_w * (uint32_t)n;
}

CG_SHARED void cg_dot_mve_u8_4(int32_t *sums, const cg_byte_sum *k, const uint8_t *x, const uint8_t *w,
                               int32_t step, int32_t n)
{
    for (int32_t i = 0; i < 4; i += 2, w += 2 * step) {
        uint32_t inputs = 0, s0 = 0, s1 = 0, w0 = 0, w1 = 0;
        for (int32_t done = 0; done < n; done += 16) {
            const mve_pred16_t lanes = vctp8q((uint32_t)(n - done));
            const uint8x16_t v = vldrbq_z_u8(x + done, lanes);
            const uint8x16_t a = vldrbq_z_u8(w + done, lanes), b = vldrbq_z_u8(w + step + done, lanes);
            inputs = vaddvaq_u8(inputs, v);
            s0 = vmladavaq_u8(s0, v, a);
            s1 = vmladavaq_u8(s1, v, b);
            w0 = vaddvaq_u8(w0, a);
            w1 = vaddvaq_u8(w1, b);
        }
        sums[i] = cg_add32(sums[i], (int32_t)(s0 + cg_dot_u8_offsets(k, inputs, w0, n)));
        sums[i + 1] = cg_add32(sums[i + 1], (int32_t)(s1 + cg_dot_u8_offsets(k, inputs, w1, n)));
    }
}

#else
#define cg_dot_mve_u8_4 cg_dot_u8_rest
#endif
#define cg_dot_mve_u8 cg_dot_u8

#endif
