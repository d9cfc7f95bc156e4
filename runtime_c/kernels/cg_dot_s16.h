/* SPDX-License-Identifier: 0BSD
 *
 * Products of int16 data with int8 weights, for one or four output channels at a time.
 *
 * Sums of at most CG_DOT_S16_RUN products fit 32 bits, whatever the values are, so that only every
 * run of so many is added in 64 bits. There is one pair of functions for each family of kernels:
 *
 *     cg_dot_s16           plain C
 *     cg_dot_dsp_s16       SMLAD: inputs 0, 2 and 1, 3 of four, as SXTB16 takes out weights
 *     cg_dot_mve_s16       VMLADAVA: eight at a time
 *
 * A function adds n products to sums[0]; the one that ends in 4 adds to sums[0 .. 3], the weights of
 * whose channels lie `step` bytes apart.
 */
#ifndef CG_DOT_S16_H
#define CG_DOT_S16_H

#include <string.h>

#include "cg_dsp.h"
#include "cg_element.h"
#include "cg_mve.h"

enum { CG_DOT_S16_RUN = 504 };

/* What is left of a run, one product after the other. */
CG_KERNEL int32_t cg_dot_s16_rest(int32_t sum, const cg_s16 *x, const int8_t *w, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        sum += x[k] * w[k];
    }
    return sum;
}

CG_SHARED void cg_dot_s16(int64_t *sums, const cg_s16 *x, const int8_t *w, int32_t n)
{
    for (int32_t done = 0; done < n; done += CG_DOT_S16_RUN) {
        sums[0] += cg_dot_s16_rest(0, x + done, w + done, cg_min(n - done, CG_DOT_S16_RUN));
    }
}

CG_SHARED void cg_dot_s16_4(int64_t *sums, const cg_s16 *x, const int8_t *w, int32_t step, int32_t n)
{
    while (n > 0) {
        const int32_t run = cg_min(n, CG_DOT_S16_RUN);
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int32_t k = 0; k < run; k++) {
            s0 += x[k] * w[k];
            s1 += x[k] * w[step + k];
            s2 += x[k] * w[2 * step + k];
            s3 += x[k] * w[3 * step + k];
        }
        sums[0] += s0;
        sums[1] += s1;
        sums[2] += s2;
        sums[3] += s3;
        x += run;
        w += run;
        n -= run;
    }
}

#ifdef CG_DSP_ASM

CG_KERNEL uint32_t cg_word_of(const void *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Four inputs in two words: 0 and 2, and 1 and 3. */
typedef struct {
    uint32_t even, odd;
} cg_inputs4;

CG_KERNEL cg_inputs4 cg_inputs4_of(const cg_s16 *x)
{
    const uint32_t low = cg_word_of(x), high = cg_word_of(x + 2);
    cg_inputs4 four;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(four.even) : "r"(low), "r"(high));
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(four.odd) : "r"(high), "r"(low));
    return four;
}

/* Adds the products with four weights. */
CG_KERNEL int32_t cg_add_products4(int32_t sum, cg_inputs4 four, const int8_t *w)
{
    const uint32_t word = cg_word_of(w);
    uint32_t pair;
    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(pair), "r"(four.even));
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(pair), "r"(four.odd));
    return sum;
}

CG_SHARED void cg_dot_dsp_s16(int64_t *sums, const cg_s16 *x, const int8_t *w, int32_t n)
{
    while (n > 0) {
        const int32_t run = cg_min(n, CG_DOT_S16_RUN), fours = run & ~3;
        int32_t sum = 0;
        for (int32_t k = 0; k < fours; k += 4) {
            sum = cg_add_products4(sum, cg_inputs4_of(x + k), w + k);
        }
        sums[0] += cg_dot_s16_rest(sum, x + fours, w + fours, run - fours);
        x += run;
        w += run;
        n -= run;
    }
}

/* Four weights of one channel times the inputs in r10 and r9. */
#define CG_DOT_S16_CHANNEL(SUM, WEIGHTS)                                                            \
    "ldr.w r11, " WEIGHTS "\n sxtb16 r8, r11\n sxtb16 r11, r11, ror #8\n"                           \
    "smlad " SUM ", r8, r10, " SUM "\n smlad " SUM ", r11, r9, " SUM "\n"

/* Adds the products of n inputs, a multiple of 4 and more than 0, to four sums. r0 is 3 * step, r12 where
 * the inputs end. */
CG_ASM void cg_dot_s16_asm(int32_t *sums CG_IN, const cg_s16 *x CG_IN, const int8_t *w CG_IN,
                           int32_t step CG_IN, int32_t n CG_IN)
{
    __asm__(".syntax unified\n push {r4-r11, lr}\n ldr r12, [sp, #36]\n add r12, r1, r12, lsl #1\n"
            "push {r0}\n ldm r0, {r4-r7}\n add r0, r3, r3, lsl #1\n"
            "1: ldr r8, [r1], #4\n ldr r9, [r1], #4\n"
            "pkhbt r10, r8, r9, lsl #16\n pkhtb r9, r9, r8, asr #16\n"
            CG_DOT_S16_CHANNEL("r5", "[r2, r3]") CG_DOT_S16_CHANNEL("r6", "[r2, r3, lsl #1]")
            CG_DOT_S16_CHANNEL("r7", "[r2, r0]") CG_DOT_S16_CHANNEL("r4", "[r2], #4")
            "cmp r1, r12\n bne 1b\n pop {r0}\n stm r0, {r4-r7}\n pop {r4-r11, pc}\n");
}

CG_SHARED void cg_dot_dsp_s16_4(int64_t *sums, const cg_s16 *x, const int8_t *w, int32_t step, int32_t n)
{
    while (n > 0) {
        const int32_t run = cg_min(n, CG_DOT_S16_RUN), fours = run & ~3;
        int32_t s[4] = { 0, 0, 0, 0 };
        if (fours > 0) {
            cg_dot_s16_asm(s, x, w, step, fours);
        }
        for (int32_t i = 0; i < 4; i++) {
            sums[i] += cg_dot_s16_rest(s[i], x + fours, w + i * step + fours, run - fours);
        }
        x += run;
        w += run;
        n -= run;
    }
}

#else
#define cg_dot_dsp_s16 cg_dot_s16
#define cg_dot_dsp_s16_4 cg_dot_s16_4
#endif

#if CG_MVE

CG_SHARED void cg_dot_mve_s16(int64_t *sums, const cg_s16 *x, const int8_t *w, int32_t n)
{
    int64_t sum = sums[0];
    for (; n > 0; n -= 8, x += 8, w += 8) {
        const mve_pred16_t lanes = vctp16q((uint32_t)n);
        sum = vmlaldavaq_s16(sum, vldrhq_z_s16(x, lanes), vldrbq_z_s16(w, lanes));
    }
    sums[0] = sum;
}

CG_SHARED void cg_dot_mve_s16_4(int64_t *sums, const cg_s16 *x, const int8_t *w, int32_t step, int32_t n)
{
    const int8_t *w1 = w + step, *w2 = w1 + step, *w3 = w2 + step;
    while (n > 0) {
        int32_t run = cg_min(n, CG_DOT_S16_RUN);
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        n -= run;
        for (; run > 0; run -= 8, x += 8, w += 8, w1 += 8, w2 += 8, w3 += 8) {
            const mve_pred16_t lanes = vctp16q((uint32_t)run);
            const int16x8_t v = vldrhq_z_s16(x, lanes);
            s0 = vmladavaq_s16(s0, v, vldrbq_z_s16(w, lanes));
            s1 = vmladavaq_s16(s1, v, vldrbq_z_s16(w1, lanes));
            s2 = vmladavaq_s16(s2, v, vldrbq_z_s16(w2, lanes));
            s3 = vmladavaq_s16(s3, v, vldrbq_z_s16(w3, lanes));
        }
        sums[0] += s0;
        sums[1] += s1;
        sums[2] += s2;
        sums[3] += s3;
    }
}

#else
#define cg_dot_mve_s16 cg_dot_s16
#define cg_dot_mve_s16_4 cg_dot_s16_4
#endif

#endif
