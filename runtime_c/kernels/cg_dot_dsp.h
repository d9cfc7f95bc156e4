/* SPDX-License-Identifier: 0BSD
 *
 * Dot products of one column (cg_widen_dsp.h) with the weights of many channels, requantised to int8.
 *
 * Weights stay int8 in flash, two channels to a halfword: h = s0 + 256 * s1. One SMLAD with h gives
 * D0 + 256 * D1, one with SXTB16(h) = s0 gives D0, and their difference 256 * D1 is exact while
 * |D1| < 2^23. All that a pair of channels needs is one stream of words, read once from front to end:
 *
 *     b0, b0 + 256 * b1            sums to start from: biases with the zero point's share
 *     2 words per group            h(k), h(k+2) and h(k+1), h(k+3), as columns have their inputs
 *     m0, r0, e0, m1, r1, e1       requantisation
 *
 * Requantisation, with x = round(D * m / 2^31): code = (x + 2^(e-1) + zero point * 2^e) >> e, clamped to
 * int8. The constant r holds both summands. Halves of a negative x go down, not up: forms "signed" add
 * x >> 31. Where the clamp stands at the zero point this makes no difference, and forms "relu"
 * leave it out; then r1 also holds the 2^6 of the first rounding and e1 a shift by 7 more, as
 * 256 * D1 * m1 is only divided by 2^32.
 *
 * Streams "apart" are for weights of -128 and for larger sums, |D| < 2^30: s0 and s1 are the two bytes of
 * h, a second SXTB16 takes out s1, and D1 starts from b1 and goes through what D0 does.
 */
#ifndef CG_DOT_DSP_H
#define CG_DOT_DSP_H

#include "cg_widen_dsp.h"

typedef struct {
    const int32_t *stream;            /* of the first pair of channels */
    int32_t groups;                   /* of 4 inputs */
    int32_t is_signed;                /* 1: codes below the zero point count */
    int32_t is_apart;                 /* 1: the stream keeps a pair's weights apart */
} cg_dot_args;

/* Words of one pair's stream. */
CG_KERNEL int32_t cg_dot_pair_words(const cg_dot_args *a)
{
    return 8 + 2 * a->groups;
}

/* The code for x = round(D * m / 2^31), or 2^7 times that before the first rounding. */
CG_KERNEL int8_t cg_dot_code(const cg_dot_args *a, int32_t x, const int32_t *q)
{
    return cg_saturate8((x + (a->is_signed != 0 ? x >> 31 : 0) + q[1]) >> q[2]);
}

/* The first `channels` of a pair, in C, for n pixels `stride` bytes apart. */
CG_KERNEL void cg_dot_pair(const int16_t *column, int32_t n, const cg_dot_args *a,
                           const int32_t *stream, int32_t channels, int8_t *out, int32_t stride)
{
    const int64_t half = (int64_t)1 << 31;
    const int32_t *q = stream + 2 + 2 * a->groups;
    for (int32_t i = 0; i < n; i++) {
        uint32_t first = (uint32_t)stream[0];
        uint32_t second = (uint32_t)stream[1];
        for (int32_t word = 0; word < 2 * a->groups; word++) {
            const int16_t *v = column + 2 * (word * n + i);
            const int16_t low = (int16_t)stream[2 + word];
            const int16_t high = (int16_t)(stream[2 + word] >> 16);
            first += (uint32_t)((int8_t)low * v[0] + (int8_t)high * v[1]);
            second += a->is_apart != 0 ? (uint32_t)((low >> 8) * v[0] + (high >> 8) * v[1])
                                       : (uint32_t)(low * v[0]) + (uint32_t)(high * v[1]);
        }
        out[i * stride] = cg_dot_code(a, cg_high_mul((int32_t)(2u * first), q[0], half), q);
        if (channels > 1) {
            const int32_t d = (int32_t)(a->is_apart != 0 ? 2u * second : second - first);
            const int32_t x = a->is_apart != 0 ? cg_high_mul(d, q[3], half)
                : a->is_signed != 0 ? cg_high_mul(d >> 7, q[3], half)
                                    : cg_high_mul(d, q[3], 0);
            out[i * stride + 1] = cg_dot_code(a, x, q + 3);
        }
    }
}

#ifdef CG_DSP_ASM

/* The loop over pairs. r12 walks the stream, lr the column; r4-r6 sum D0 and r7-r9 D0 + 256 * D1.
 * Stack: 0 column, 4 where in the unrolled loop to start, 8 end of the stream, 12 out, 52 stride,
 * 56 end of the column. BYTES is the code size of a GROUP, COLUMN what it takes of the column; the
 * loop is entered in the middle so that the number of groups need not be a multiple of 8. */
#define CG_DOT_BODY(COLUMN, BYTES, GROUP, SPREAD, CODES)                                            \
    ".syntax unified\n .p2align 2\n push {r4-r11, lr}\n push {r0-r3}\n mov r12, r1\n mov lr, r0\n" \
    "ldr r3, [sp, #56]\n movs r2, #" COLUMN "\n mla r2, r3, r2, r0\n str r2, [sp, #56]\n"          \
    "rsb r3, r3, #0\n and r3, r3, #7\n movs r2, #" BYTES "\n mul r3, r3, r2\n"                      \
    "adr.w r2, 2f\n add r3, r3, r2\n orr r3, r3, #1\n str r3, [sp, #4]\n"                           \
    "1: ldrd r4, r7, [r12], #8\n" SPREAD "ldr.w pc, [sp, #4]\n"                                     \
    "2: .rept 8\n" GROUP ".endr\n ldr r0, [sp, #56]\n cmp lr, r0\n bne 2b\n"                        \
    "ldr r10, [sp, #12]\n ldr r3, [sp, #52]\n ldm r12!, {r0-r2}\n" CODES                            \
    "adds r10, r10, #1\n str r10, [sp, #12]\n ldr lr, [sp]\n ldr r0, [sp, #8]\n"                    \
    "cmp r12, r0\n bne 1b\n add sp, #16\n pop {r4-r11, pc}\n"

/* 4 inputs of 3, 2 and 1 pixels: 24, 16 and 8 multiplications. ODD brings a word to what sums of the
 * odd channel multiply. */
#define CG_DOT_TOGETHER(WORD) ""
#define CG_DOT_APART(WORD) "sxtb16 " WORD ", " WORD ", ror #8\n"
#define CG_DOT_GROUP3(ODD)                                                                          \
    "ldm r12!, {r10, r11}\n ldm lr!, {r0-r2}\n sxtb16 r3, r10\n"                                    \
    "smlad r4, r3, r0, r4\n smlad r5, r3, r1, r5\n smlad r6, r3, r2, r6\n" ODD("r10")              \
    "smlad r7, r10, r0, r7\n smlad r8, r10, r1, r8\n smlad r9, r10, r2, r9\n"                       \
    "ldm lr!, {r0-r2}\n sxtb16 r3, r11\n"                                                           \
    "smlad r4, r3, r0, r4\n smlad r5, r3, r1, r5\n smlad r6, r3, r2, r6\n" ODD("r11")              \
    "smlad r7, r11, r0, r7\n smlad r8, r11, r1, r8\n smlad r9, r11, r2, r9\n"
#define CG_DOT_GROUP2(ODD)                                                                          \
    "ldm r12!, {r10, r11}\n ldm lr!, {r0-r3}\n sxtb16 r6, r10\n"                                    \
    "smlad r4, r6, r0, r4\n smlad r5, r6, r1, r5\n" ODD("r10")                                      \
    "smlad r7, r10, r0, r7\n smlad r8, r10, r1, r8\n sxtb16 r6, r11\n"                              \
    "smlad r4, r6, r2, r4\n smlad r5, r6, r3, r5\n" ODD("r11")                                      \
    "smlad r7, r11, r2, r7\n smlad r8, r11, r3, r8\n"
#define CG_DOT_GROUP1(ODD)                                                                          \
    "ldm r12!, {r10, r11}\n ldm lr!, {r0, r1}\n sxtb16 r3, r10\n smlad r4, r3, r0, r4\n" ODD("r10") \
    "smlad r7, r10, r0, r7\n sxtb16 r3, r11\n smlad r4, r3, r1, r4\n" ODD("r11")                   \
    "smlad r7, r11, r1, r7\n"

#define CG_DOT_SPREAD3 "mov r5, r4\n mov r6, r4\n mov r8, r7\n mov r9, r7\n"
#define CG_DOT_SPREAD2 "mov r5, r4\n mov r8, r7\n"
#define CG_DOT_SPREAD1 ""

/* From sums to codes in memory, for one sum. r0-r2 are the constants, r3 is the stride. */
#define CG_DOT_RELU0(A, TO) \
    "smmlar " A ", " A ", r0, r1\n asr " A ", r2\n ssat " A ", #8, " A "\n strb " A ", " TO "\n"
#define CG_DOT_RELU1(A, TO) \
    "smmla " A ", " A ", r0, r1\n asr " A ", r2\n ssat " A ", #8, " A "\n strb " A ", " TO "\n"
#define CG_DOT_SIGNED(A, TO)                                                                        \
    "smmulr " A ", " A ", r0\n add " A ", " A ", " A ", asr #31\n add " A ", r1\n"                   \
    "asr " A ", r2\n ssat " A ", #8, " A "\n strb " A ", " TO "\n"

/* Both channels of 1, 2 and 3 pixels; ODD brings the odd channel's second sum, S of (S, D0), to what Q1
 * expects: 256 * D1, or twice D1. */
#define CG_DOT_ODD_RELU(S, D0) "sub " S ", " D0 "\n"
#define CG_DOT_ODD_SIGNED(S, D0) "sub " S ", " D0 "\n asr " S ", #7\n"
#define CG_DOT_ODD_APART(S, D0) "lsl " S ", #1\n"
#define CG_DOT_CODES1(Q0, Q1, ODD)                                                                  \
    ODD("r7", "r4") "lsl r4, #1\n" Q0("r4", "[r10]")                                                \
    "ldm r12!, {r0-r2}\n" Q1("r7", "[r10, #1]!")
#define CG_DOT_CODES2(Q0, Q1, ODD)                                                                  \
    ODD("r7", "r4") ODD("r8", "r5") "lsl r4, #1\n lsl r5, #1\n"                                     \
    Q0("r4", "[r10]") Q0("r5", "[r10, r3]")                                                         \
    "ldm r12!, {r0-r2}\n" Q1("r7", "[r10, #1]!") Q1("r8", "[r10, r3]")
#define CG_DOT_CODES3(Q0, Q1, ODD)                                                                  \
    ODD("r7", "r4") ODD("r8", "r5") ODD("r9", "r6") "lsl r4, #1\n lsl r5, #1\n lsl r6, #1\n"        \
    Q0("r4", "[r10]") Q0("r5", "[r10, r3]") Q0("r6", "[r10, r3, lsl #1]")                           \
    "ldm r12!, {r0-r2}\n" Q1("r7", "[r10, #1]!") Q1("r8", "[r10, r3]")                              \
    Q1("r9", "[r10, r3, lsl #1]")

#define CG_DOT_FUNCTION(NAME, COLUMN, BYTES, GROUP, SPREAD, CODES)                                  \
    CG_ASM void NAME(const int16_t *column CG_IN, const int32_t *stream CG_IN,                      \
                     const int32_t *end CG_IN, int8_t *out CG_IN, int32_t stride CG_IN,             \
                     int32_t groups CG_IN)                                                          \
    {                                                                                               \
        __asm__(CG_DOT_BODY(COLUMN, BYTES, GROUP, SPREAD, CODES));                                  \
    }

/* The functions of one kind of stream for 3, 2 and 1 pixels; B3 .. B1 are what groups take of code. */
#define CG_DOT_FUNCTIONS(KIND, B3, B2, B1, WORD, Q0, Q1, ODD)                                       \
    CG_DOT_FUNCTION(cg_dot3_##KIND##_asm, "24", B3, CG_DOT_GROUP3(WORD), CG_DOT_SPREAD3,            \
                    CG_DOT_CODES3(Q0, Q1, ODD))                                                     \
    CG_DOT_FUNCTION(cg_dot2_##KIND##_asm, "16", B2, CG_DOT_GROUP2(WORD), CG_DOT_SPREAD2,            \
                    CG_DOT_CODES2(Q0, Q1, ODD))                                                     \
    CG_DOT_FUNCTION(cg_dot1_##KIND##_asm, "8", B1, CG_DOT_GROUP1(WORD), CG_DOT_SPREAD1,             \
                    CG_DOT_CODES1(Q0, Q1, ODD))                                                     \
    CG_KERNEL void cg_dot_##KIND(const int16_t *column, int32_t n, const int32_t *stream,           \
                                 const int32_t *end, int8_t *out, int32_t stride, int32_t groups)   \
    {                                                                                               \
        if (n == 3) {                                                                               \
            cg_dot3_##KIND##_asm(column, stream, end, out, stride, groups);                         \
        } else if (n == 2) {                                                                        \
            cg_dot2_##KIND##_asm(column, stream, end, out, stride, groups);                         \
        } else {                                                                                    \
            cg_dot1_##KIND##_asm(column, stream, end, out, stride, groups);                         \
        }                                                                                           \
    }

CG_DOT_FUNCTIONS(relu, "68", "48", "32", CG_DOT_TOGETHER, CG_DOT_RELU0, CG_DOT_RELU1, CG_DOT_ODD_RELU)
CG_DOT_FUNCTIONS(signed, "68", "48", "32", CG_DOT_TOGETHER, CG_DOT_SIGNED, CG_DOT_SIGNED,
                 CG_DOT_ODD_SIGNED)
CG_DOT_FUNCTIONS(apart_relu, "76", "56", "40", CG_DOT_APART, CG_DOT_RELU0, CG_DOT_RELU0,
                 CG_DOT_ODD_APART)
CG_DOT_FUNCTIONS(apart_signed, "76", "56", "40", CG_DOT_APART, CG_DOT_SIGNED, CG_DOT_SIGNED,
                 CG_DOT_ODD_APART)

#endif

/* Whole pairs of channels for n pixels of one column, n from 1 to 3. */
CG_KERNEL void cg_dot_pairs(const int16_t *column, int32_t n, const cg_dot_args *a,
                            const int32_t *stream, const int32_t *end, int8_t *out, int32_t stride)
{
#ifdef CG_DSP_ASM
    if (a->is_apart != 0 && a->is_signed != 0) {
        cg_dot_apart_signed(column, n, stream, end, out, stride, a->groups);
    } else if (a->is_apart != 0) {
        cg_dot_apart_relu(column, n, stream, end, out, stride, a->groups);
    } else if (a->is_signed != 0) {
        cg_dot_signed(column, n, stream, end, out, stride, a->groups);
    } else {
        cg_dot_relu(column, n, stream, end, out, stride, a->groups);
    }
#else
    for (; stream != end; stream += cg_dot_pair_words(a), out += 2) {
        cg_dot_pair(column, n, a, stream, 2, out, stride);
    }
#endif
}

/* The last channel of an odd number, whose pair's other one nobody wants. */
CG_KERNEL void cg_dot_last(const int16_t *column, int32_t n, const cg_dot_args *a,
                           const int32_t *stream, int8_t *out, int32_t stride)
{
#ifdef CG_DSP_ASM
    int8_t codes[2 * CG_COLUMN_PIXELS];
    cg_dot_pairs(column, n, a, stream, stream + cg_dot_pair_words(a), codes, 2);
    for (int32_t i = 0; i < n; i++) {
        out[i * stride] = codes[2 * i];
    }
#else
    cg_dot_pair(column, n, a, stream, 1, out, stride);
#endif
}

/* Channels [c0, c1) for n pixels; c0 is even, c1 is even or the last channel of all. `out` is where
 * channel 0 of the first pixel lies. */
CG_KERNEL void cg_dot(const int16_t *column, int32_t n, const cg_dot_args *a, int32_t c0, int32_t c1,
                      int8_t *out, int32_t stride)
{
    const int32_t *first = a->stream + (ptrdiff_t)(c0 >> 1) * cg_dot_pair_words(a);
    const int32_t *end = a->stream + (ptrdiff_t)(c1 >> 1) * cg_dot_pair_words(a);
    if (first != end) {
        cg_dot_pairs(column, n, a, first, end, out + c0, stride);
    }
    if ((c1 & 1) != 0) {
        cg_dot_last(column, n, a, end, out + c1 - 1, stride);
    }
}

#endif
