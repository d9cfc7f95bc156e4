/* SPDX-License-Identifier: 0BSD
 *
 * Columns: the int8 inputs of 1, 2 or 3 output pixels, widened to int16 once for all channels.
 *
 * A group is 4 inputs k .. k+3 of every pixel. In a column of n pixels it is 2n words:
 *     (k, k+2) of pixel 0, ..., (k, k+2) of pixel n-1, (k+1, k+3) of pixel 0, ..., (k+1, k+3) of pixel n-1
 * because SXTB16 takes every other byte of a word.
 */
#ifndef CG_WIDEN_DSP_H
#define CG_WIDEN_DSP_H

#include "cg_dsp.h"

enum { CG_COLUMN_PIXELS = 3 };

/* Puts input k of pixel i into a column of n pixels. */
CG_KERNEL void cg_widen_put(int16_t *column, int32_t n, int32_t i, int32_t k, int32_t value)
{
    const int32_t word = (k >> 2) * 2 * n + (k & 1) * n + i;
    column[2 * word + ((k >> 1) & 1)] = (int16_t)value;
}

#ifdef CG_DSP_ASM

/* Each row: `groups` groups from every pixel's pointer; then the pointers go on by `row` bytes in
 * all. LOAD, WIDEN and STORE handle one group, NEXT moves every pointer by r4. r0 is always the first
 * pixel's pointer, r12 where its row ends. ARGS is where the fifth argument, or what stands for it,
 * lies: groups, rows, row. */
#define CG_WIDEN_BODY(ARGS, GROUP, NEXT)                                                          \
    "ldr r4, [sp, #" ARGS "]\n lsls r4, r4, #2\n str r4, [sp, #" ARGS "]\n"                       \
    "ldr r5, [sp, #" ARGS " + 8]\n subs r5, r5, r4\n str r5, [sp, #" ARGS " + 8]\n"               \
    "1: ldr r12, [sp, #" ARGS "]\n add r12, r12, r0\n"                                            \
    "2:\n" GROUP "cmp r0, r12\n bne 2b\n"                                                         \
    "ldr r4, [sp, #" ARGS " + 8]\n" NEXT                                                          \
    "ldr r4, [sp, #" ARGS " + 4]\n subs r4, r4, #1\n str r4, [sp, #" ARGS " + 4]\n bne 1b\n"

CG_ASM void cg_widen3_asm(const int8_t *p0 CG_IN, const int8_t *p1 CG_IN, const int8_t *p2 CG_IN,
                          int16_t *column CG_IN, int32_t groups CG_IN, int32_t rows CG_IN,
                          int32_t row CG_IN)
{
    __asm__(".syntax unified\n push {r4-r11, lr}\n" CG_WIDEN_BODY(
        "36",
        "ldr r4, [r0], #4\n ldr r5, [r1], #4\n ldr r6, [r2], #4\n"
        "sxtb16 r7, r4\n sxtb16 r8, r5\n sxtb16 r9, r6\n"
        "sxtb16 r10, r4, ror #8\n sxtb16 r11, r5, ror #8\n sxtb16 lr, r6, ror #8\n"
        "stm r3!, {r7-r11, lr}\n",
        "add r0, r4\n add r1, r4\n add r2, r4\n") "pop {r4-r11, pc}\n");
}

CG_ASM void cg_widen2_asm(const int8_t *p0 CG_IN, const int8_t *p1 CG_IN, int16_t *column CG_IN,
                          int32_t unused CG_IN, int32_t groups CG_IN, int32_t rows CG_IN,
                          int32_t row CG_IN)
{
    __asm__(".syntax unified\n push {r4-r9, lr}\n" CG_WIDEN_BODY(
        "28",
        "ldr r4, [r0], #4\n ldr r5, [r1], #4\n"
        "sxtb16 r6, r4\n sxtb16 r7, r5\n sxtb16 r8, r4, ror #8\n sxtb16 r9, r5, ror #8\n"
        "stm r2!, {r6-r9}\n",
        "add r0, r4\n add r1, r4\n") "pop {r4-r9, pc}\n");
}

CG_ASM void cg_widen1_asm(const int8_t *p0 CG_IN, int16_t *column CG_IN, int32_t unused0 CG_IN,
                          int32_t unused1 CG_IN, int32_t groups CG_IN, int32_t rows CG_IN,
                          int32_t row CG_IN)
{
    __asm__(".syntax unified\n push {r4-r6, lr}\n" CG_WIDEN_BODY(
        "16",
        "ldr r4, [r0], #4\n sxtb16 r5, r4\n sxtb16 r6, r4, ror #8\n stm r1!, {r5, r6}\n",
        "add r0, r4\n") "pop {r4-r6, pc}\n");
}

#endif

/* Widens `rows` runs of `groups` groups for each of the n pixels at p; the runs of a pixel are `row`
 * bytes apart. All counts are at least 1. Bytes are read in words: 4 * groups of each run. */
CG_KERNEL void cg_widen(const int8_t *const *p, int32_t n, int16_t *column, int32_t groups,
                        int32_t rows, int32_t row)
{
#ifdef CG_DSP_ASM
    if (n == 3) {
        cg_widen3_asm(p[0], p[1], p[2], column, groups, rows, row);
    } else if (n == 2) {
        cg_widen2_asm(p[0], p[1], column, 0, groups, rows, row);
    } else {
        cg_widen1_asm(p[0], column, 0, 0, groups, rows, row);
    }
#else
    for (int32_t y = 0; y < rows; y++) {
        for (int32_t k = 0; k < 4 * groups; k++) {
            for (int32_t i = 0; i < n; i++) {
                cg_widen_put(column, n, i, 4 * groups * y + k, p[i][(ptrdiff_t)y * row + k]);
            }
        }
    }
#endif
}

#endif
