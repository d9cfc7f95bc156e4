/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, for the DSP extension and for Helium where no packed form is right or has memory, and for
 * groups: the weights of the portable kernel, four channels at a time (cg_conv_2d_runs.h), without scratch.
 */
#ifndef CG_CONV_2D_RUNS_S8_H
#define CG_CONV_2D_RUNS_S8_H

#include "cg_conv_2d.h"
#include "cg_conv_2d_runs.h"
#include "cg_dsp.h"
#include "cg_mve.h"

/* Adds (x + offset) * w of n inputs to the sums of channels whose weights lie `step` bytes apart. */
CG_KERNEL void cg_dot_s8_rest(int32_t *sums, int32_t offset, const int8_t *x, const int8_t *w,
                              int32_t step, int32_t n, int32_t channels)
{
    for (int32_t i = 0; i < channels; i++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < n; k++) {
            sum += (x[k] + offset) * w[i * step + k];
        }
        sums[i] = cg_add32(sums[i], sum);
    }
}

#ifdef CG_DSP_ASM

/* Four weights of one channel times the inputs in r10 and r9. */
#define CG_DOT_S8_CHANNEL(SUM, WEIGHTS)                                                             \
    "ldr.w r11, " WEIGHTS "\n sxtb16 r8, r11\n sxtb16 r11, r11, ror #8\n"                           \
    "smlad " SUM ", r8, r10, " SUM "\n smlad " SUM ", r11, r9, " SUM "\n"

/* n is a multiple of 4 and more than 0; the offset comes in both halves of a word, lr. r0 is 3 * step, r12
 * where the inputs end. */
CG_ASM void cg_dot_s8_asm(int32_t *sums CG_IN, const int8_t *x CG_IN, const int8_t *w CG_IN,
                          int32_t step CG_IN, int32_t n CG_IN, uint32_t offset CG_IN)
{
    __asm__(".syntax unified\n push {r4-r11, lr}\n ldr r12, [sp, #36]\n add r12, r1\n"
            "ldr lr, [sp, #40]\n push {r0}\n ldm r0, {r4-r7}\n add r0, r3, r3, lsl #1\n"
            "1: ldr r11, [r1], #4\n sxtab16 r10, lr, r11\n sxtab16 r9, lr, r11, ror #8\n"
            CG_DOT_S8_CHANNEL("r5", "[r2, r3]") CG_DOT_S8_CHANNEL("r6", "[r2, r3, lsl #1]")
            CG_DOT_S8_CHANNEL("r7", "[r2, r0]") CG_DOT_S8_CHANNEL("r4", "[r2], #4")
            "cmp r1, r12\n bne 1b\n pop {r0}\n stm r0, {r4-r7}\n pop {r4-r11, pc}\n");
}

CG_KERNEL void cg_dot_dsp_s8(int32_t *sums, int32_t offset, const int8_t *x, const int8_t *w,
                             int32_t step, int32_t n, int32_t channels)
{
    const int32_t fours = channels == 4 ? n & ~3 : 0;
    if (fours > 0) {
        const uint32_t both = ((uint32_t)offset & 0xffffu) | ((uint32_t)offset << 16);
        cg_dot_s8_asm(sums, x, w, step, fours, both);
    }
    if (fours < n) {
        cg_dot_s8_rest(sums, offset, x + fours, w + fours, step, n - fours, channels);
    }
}

#else
#define cg_dot_dsp_s8 cg_dot_s8_rest
#endif

#if CG_MVE

CG_SHARED void cg_dot_mve_s8(int32_t *sums, int32_t offset, const int8_t *x, const int8_t *w,
                             int32_t step, int32_t n, int32_t channels)
{
    for (int32_t i = 0; i < channels; i += 2, w += 2 * step) {
        const int8_t *next = i + 1 < channels ? w + step : w;
        int32_t s0 = 0, s1 = 0, w0 = 0, w1 = 0;
        for (int32_t done = 0; done < n; done += 16) {
            const mve_pred16_t lanes = vctp8q((uint32_t)(n - done));
            const int8x16_t v = vldrbq_z_s8(x + done, lanes);
            const int8x16_t a = vldrbq_z_s8(w + done, lanes), b = vldrbq_z_s8(next + done, lanes);
            s0 = vmladavaq_s8(s0, v, a);
            s1 = vmladavaq_s8(s1, v, b);
            w0 = vaddvaq_s8(w0, a);
            w1 = vaddvaq_s8(w1, b);
        }
        sums[i] = cg_add32(sums[i], s0 + offset * w0);
        if (i + 1 < channels) {
            sums[i + 1] = cg_add32(sums[i + 1], s1 + offset * w1);
        }
    }
}

#else
#define cg_dot_mve_s8 cg_dot_s8_rest
#endif

/* The code of channel c's products. */
CG_KERNEL int8_t cg_conv_2d_runs_code(const cg_conv_2d_args *a, int32_t products, int32_t c)
{
    const int32_t sum = cg_add32(products, a->bias != NULL ? a->bias[c] : 0);
    const int32_t v = cg_requantize_twice(sum, a->multiplier[c], a->shift[c]);
    return (int8_t)cg_clamp(cg_add32(v, a->output_offset), a->act_min, a->act_max);
}

#define CG_CONV_2D_S8(KERNEL, DOT)                                                                  \
    CG_KERNEL void KERNEL##_run(const cg_conv_2d_args *a, int32_t *sums, const int8_t *x,           \
                                const int8_t *w, int32_t step, int32_t n, int32_t channels)         \
    {                                                                                               \
        DOT(sums, a->input_offset, x, w, step, n, channels);                                        \
    }                                                                                               \
    CG_CONV_2D_RUNS(KERNEL, cg_conv_2d_args, int32_t, int8_t, int8_t, a->weights,                   \
                    cg_conv_2d_runs_code, a)

CG_CONV_2D_S8(cg_conv_2d_runs_dsp_s8, cg_dot_dsp_s8)
CG_CONV_2D_S8(cg_conv_2d_runs_mve_s8, cg_dot_mve_s8)

#endif
