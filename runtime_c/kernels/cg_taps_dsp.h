/* SPDX-License-Identifier: 0BSD
 *
 * Sums over taps, each channel for itself, requantised to int8: one output pixel of a depthwise
 * convolution with any window. Taps are offsets of pixels of the input, in pairs; four channels at a
 * time, PKHBT and SXTB16 bring the two taps of a channel into one word for SMLAD.
 *
 * All that four channels c .. c+3 need is one stream of words:
 *
 *     b0 .. b3                     sums to start from: biases with the zero point's share
 *     4 words per pair of taps     (w of the first tap, w of the second), for c .. c+3
 *     m, r, e for c, .., c+3       requantisation, as in cg_dot_dsp.h
 *
 * Weights are int16, scaled by 2, in forms "relu" by 4 so that one SMMLA does the first rounding.
 */
#ifndef CG_TAPS_DSP_H
#define CG_TAPS_DSP_H

#include "cg_dsp.h"

typedef struct {
    const int32_t *stream;            /* of the first four channels */
    int32_t pairs;                    /* of taps */
    int32_t is_signed;                /* 1: codes below the zero point count */
    const int8_t *base;               /* of the input: what taps are offsets from */
    const int8_t *zeros;              /* a pixel of zero points, for taps outside the map */
} cg_taps_args;

/* The offset of a tap outside the map: on cores that run the assembly that of the zero points, modulo
 * 2^32; elsewhere, where it may not fit 32 bits, a mark. */
CG_KERNEL int32_t cg_tap_outside(const cg_taps_args *a)
{
#ifdef CG_DSP_ASM
    return (int32_t)((uintptr_t)a->zeros - (uintptr_t)a->base);
#else
    (void)a;
    return INT32_MIN;
#endif
}

CG_KERNEL const int8_t *cg_tap_at(const cg_taps_args *a, int32_t offset)
{
#ifdef CG_DSP_ASM
    return (const int8_t *)((uintptr_t)a->base + (uintptr_t)offset);
#else
    return offset == INT32_MIN ? a->zeros : a->base + offset;
#endif
}

/* Words of the stream of four channels. */
CG_KERNEL int32_t cg_taps_quad_words(const cg_taps_args *a)
{
    return 16 + 4 * a->pairs;
}

/* The first `channels` of four, in C; p holds the taps, c is the first of the four channels. */
CG_KERNEL void cg_taps_quad(int8_t *out, const int32_t *p, int32_t c, int32_t channels,
                            const cg_taps_args *a, const int32_t *stream)
{
    for (int32_t i = 0; i < channels; i++) {
        uint32_t sum = (uint32_t)stream[i];
        for (int32_t pair = 0; pair < a->pairs; pair++) {
            const int32_t w = stream[4 + 4 * pair + i];
            sum += (uint32_t)((int16_t)w * cg_tap_at(a, p[2 * pair])[c + i]);
            sum += (uint32_t)((int16_t)(w >> 16) * cg_tap_at(a, p[2 * pair + 1])[c + i]);
        }
        const int32_t *q = stream + 4 + 4 * a->pairs + 3 * i;
        int32_t x = cg_high_mul((int32_t)sum, q[0], a->is_signed != 0 ? (int64_t)1 << 31 : 0);
        x += a->is_signed != 0 ? x >> 31 : 0;
        out[c + i] = cg_saturate8((x + q[1]) >> q[2]);
    }
}

#ifdef CG_DSP_ASM

#ifdef CG_OPTIMIZE_SIZE
#define CG_TAPS_TURNS "1"
#define CG_TAPS_TURNS_MASK "0"
#else
#define CG_TAPS_TURNS "4"
#define CG_TAPS_TURNS_MASK "3"
#endif

/* The loop over quads of channels: r12 walks the stream, r2 the taps, r3 is where the channel of a tap at
 * offset 0 lies, r4-r7 are the sums. Stack: 0 taps, 4 where in the unrolled loop to start, 8 end of the
 * stream, 12 from r3 to the output, 52 end of the taps, 56 where r3 starts. */
#define CG_TAPS_BODY(CODE)                                                                          \
    ".syntax unified\n .p2align 2\n push {r4-r11, lr}\n push {r0-r3}\n mov r12, r1\n"              \
    "ldr r4, [sp, #52]\n add r5, r0, r4, lsl #3\n str r5, [sp, #52]\n"                              \
    "rsb r4, r4, #0\n and r4, r4, #" CG_TAPS_TURNS_MASK "\n movs r5, #56\n mul r4, r4, r5\n"                             \
    "adr.w r5, 2f\n add r4, r4, r5\n orr r4, r4, #1\n str r4, [sp, #4]\n ldr r3, [sp, #56]\n"           \
    "1: ldr r2, [sp]\n ldm r12!, {r4-r7}\n ldr.w pc, [sp, #4]\n"                                    \
    "2: .rept " CG_TAPS_TURNS "\n"                                                                                  \
    "ldrd r0, r1, [r2], #8\n ldr.w r0, [r0, r3]\n ldr.w r1, [r1, r3]\n ldm r12!, {r8-r11}\n"       \
    "pkhbt lr, r0, r1, lsl #16\n pkhtb r1, r1, r0, asr #16\n"                                       \
    "sxtb16 r0, lr\n smlad r4, r0, r8, r4\n sxtb16 lr, lr, ror #8\n smlad r5, lr, r9, r5\n"         \
    "sxtb16 r0, r1\n smlad r6, r0, r10, r6\n sxtb16 r1, r1, ror #8\n smlad r7, r1, r11, r7\n"       \
    ".endr\n ldr r0, [sp, #52]\n cmp r2, r0\n bne 2b\n"                                             \
    "ldr lr, [sp, #12]\n add lr, r3\n"                                                              \
    CODE("r4", "0") CODE("r5", "1") CODE("r6", "2") CODE("r7", "3")                                 \
    "adds r3, #4\n ldr r0, [sp, #8]\n cmp r12, r0\n bne 1b\n add sp, #16\n pop {r4-r11, pc}\n"

#define CG_TAPS_RELU(A, I)                                                                          \
    "ldm r12!, {r8-r10}\n smmla " A ", " A ", r8, r9\n asr " A ", r10\n ssat " A ", #8, " A "\n"    \
    "strb " A ", [lr, #" I "]\n"
#define CG_TAPS_SIGNED(A, I)                                                                        \
    "ldm r12!, {r8-r10}\n smmulr " A ", " A ", r8\n add " A ", " A ", " A ", asr #31\n"             \
    "add " A ", r9\n asr " A ", r10\n ssat " A ", #8, " A "\n strb " A ", [lr, #" I "]\n"

#ifndef CG_OPTIMIZE_SIZE
CG_ASM void cg_taps_relu_asm(const int32_t *p CG_IN, const int32_t *stream CG_IN,
                             const int32_t *end CG_IN, uintptr_t out CG_IN, int32_t pairs CG_IN,
                             const int8_t *first CG_IN)
{
    __asm__(CG_TAPS_BODY(CG_TAPS_RELU));
}
#endif

CG_ASM void cg_taps_signed_asm(const int32_t *p CG_IN, const int32_t *stream CG_IN,
                               const int32_t *end CG_IN, uintptr_t out CG_IN, int32_t pairs CG_IN,
                               const int8_t *first CG_IN)
{
    __asm__(CG_TAPS_BODY(CG_TAPS_SIGNED));
}

#endif

/* Channels [c0, c1) of the pixel at out, c0 a multiple of 4; p holds 2 * pairs taps. */
CG_KERNEL void cg_taps(int8_t *out, const int32_t *p, int32_t c0, int32_t c1, const cg_taps_args *a)
{
    const int32_t words = cg_taps_quad_words(a);
    int32_t c = c0;
#ifdef CG_DSP_ASM
    const int32_t *first = a->stream + (ptrdiff_t)(c0 >> 2) * words;
    const int32_t *end = a->stream + (ptrdiff_t)(c1 >> 2) * words;
    const uintptr_t away = (uintptr_t)out - (uintptr_t)a->base;
    if (first != end) {
#ifdef CG_OPTIMIZE_SIZE
        cg_taps_signed_asm(p, first, end, away, a->pairs, a->base + c0);
#else
        if (a->is_signed != 0) {
            cg_taps_signed_asm(p, first, end, away, a->pairs, a->base + c0);
        } else {
            cg_taps_relu_asm(p, first, end, away, a->pairs, a->base + c0);
        }
#endif
        c = c1 & ~3;
    }
#endif
    for (; c < c1; c += 4) {
        cg_taps_quad(out, p, c, cg_min(4, c1 - c), a, a->stream + (ptrdiff_t)(c >> 2) * words);
    }
}

#endif
