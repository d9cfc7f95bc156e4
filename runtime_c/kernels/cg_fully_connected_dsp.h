/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, int8, for cores with the DSP extension: every pixel is one input vector. Weights stay
 * int8, two outputs to a halfword as in cg_dot_dsp.h, four outputs at a time:
 *
 *     b0, b0 + 256 * b1, b2, b2 + 256 * b3                    sums to start from
 *     4 words per group of inputs k .. k+3                     outputs 0 and 1: (k, k+2), (k+1, k+3);
 *                                                              outputs 2 and 3: the same
 *
 * A sum D becomes ((256 * D * m >> 32) + r) >> e, clamped to int8: one rounding like the reference's.
 * Kernels "apart" take streams that start from b0, b1, b2, b3 and keep the two weights of a halfword
 * apart; they scale 16 * D, |D| < 2^27.
 *
 * scratch: null, or 8 bytes per group where an input vector is widened once for all outputs. Without it
 * the vector is widened anew for every four outputs, and must be whole groups.
 */
#ifndef CG_FULLY_CONNECTED_DSP_H
#define CG_FULLY_CONNECTED_DSP_H

#include "cg_widen_dsp.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t groups;                   /* of 4 inputs, the last one filled up with weights of 0 */
    int32_t act_min, act_max;
    const int32_t *stream;
    const int32_t *constants;         /* m, r, e of four outputs */
    int32_t next_constants;           /* words to those of the next four: 12, or 0 where all are equal */
} cg_fully_connected_dsp_args;

/* Input k of a vector, as it is or widened. */
CG_KERNEL int32_t cg_fully_connected_dsp_input(const int8_t *x, const int16_t *wide, int32_t k)
{
    return wide == NULL ? x[k] : wide[4 * (k >> 2) + 2 * (k & 1) + ((k >> 1) & 1)];
}

/* The first `units` of four outputs, in C. */
CG_KERNEL void cg_fully_connected_dsp_four(int8_t *out, int32_t units,
                                           const cg_fully_connected_dsp_args *a, const int8_t *x,
                                           const int16_t *wide, const int32_t *stream,
                                           const int32_t *constants, int32_t is_apart)
{
    for (int32_t i = 0; i < units; i++) {
        uint32_t first = (uint32_t)stream[i & ~1];
        uint32_t second = (uint32_t)stream[i | 1];
        for (int32_t k = 0; k < a->depth; k++) {
            const int32_t word = stream[4 + 4 * (k >> 2) + (i & 2) + (k & 1)];
            const int16_t half = (int16_t)((k & 2) != 0 ? word >> 16 : word);
            const int32_t v = cg_fully_connected_dsp_input(x, wide, k);
            first += (uint32_t)((int8_t)half * v);
            second += (uint32_t)((is_apart != 0 ? half >> 8 : half) * v);
        }
        const uint32_t odd = is_apart != 0 ? 16u * second : second - first;
        const uint32_t scaled = (i & 1) != 0 ? odd : (is_apart != 0 ? 16u : 256u) * first;
        const int32_t *q = constants + 3 * i;
        out[i] = cg_saturate8((cg_high_mul((int32_t)scaled, q[0], 0) + q[1]) >> q[2]);
    }
}

#ifdef CG_DSP_ASM

/* What the odd output of two does to a word of weights, and how four sums are scaled. */
#define CG_DENSE_TOGETHER(WORD) ""
#define CG_DENSE_APART(WORD) "sxtb16 " WORD ", " WORD ", ror #8\n"
#define CG_DENSE_SCALE_TOGETHER "sub r5, r4\n sub r7, r6\n lsl r4, #8\n lsl r6, #8\n"
#define CG_DENSE_SCALE_APART "lsl r4, #4\n lsl r5, #4\n lsl r6, #4\n lsl r7, #4\n"

/* The loop over fours of outputs. r12 walks the stream, lr the inputs up to r3; r4, r6 sum D0, D2 and
 * r5, r7 D0 + 256 * D1, D2 + 256 * D3. Stack: 0 inputs, 4 where in the unrolled loop to start, 8 end of
 * the stream, 12 out, 52 constants, 56 bytes to the next ones, 60 groups. */
#define CG_DENSE_BODY(INPUT, BYTES, LOAD, ODD, SCALE)                                               \
    ".syntax unified\n .p2align 2\n push {r4-r11, lr}\n push {r0-r3}\n mov r12, r1\n"              \
    "ldr r4, [sp, #60]\n add r3, r0, r4, lsl #" INPUT "\n"                                          \
    "rsb r4, r4, #0\n and r4, r4, #" CG_DSP_TURNS_MASK "\n movs r5, #" BYTES "\n mul r4, r4, r5\n"    \
    "adr.w r5, 2f\n add r4, r4, r5\n orr r4, r4, #1\n str r4, [sp, #4]\n"                           \
    "1: ldr lr, [sp]\n ldm r12!, {r4-r7}\n ldr.w pc, [sp, #4]\n"                                    \
    "2: .rept " CG_DSP_TURNS "\n" LOAD "ldm r12!, {r8-r11}\n"                                       \
    "sxtb16 r2, r8\n smlad r4, r2, r0, r4\n" ODD("r8") "smlad r5, r8, r0, r5\n"                     \
    "sxtb16 r2, r9\n smlad r4, r2, r1, r4\n" ODD("r9") "smlad r5, r9, r1, r5\n"                     \
    "sxtb16 r2, r10\n smlad r6, r2, r0, r6\n" ODD("r10") "smlad r7, r10, r0, r7\n"                  \
    "sxtb16 r2, r11\n smlad r6, r2, r1, r6\n" ODD("r11") "smlad r7, r11, r1, r7\n"                  \
    ".endr\n cmp lr, r3\n bne 2b\n"                                                                 \
    SCALE "ldr r0, [sp, #52]\n ldr lr, [sp, #12]\n"                                                 \
    CG_DENSE_CODE("r4") CG_DENSE_CODE("r5") CG_DENSE_CODE("r6") CG_DENSE_CODE("r7")                 \
    "str lr, [sp, #12]\n ldrd r0, r1, [sp, #52]\n add r0, r1\n str r0, [sp, #52]\n"                 \
    "ldr r0, [sp, #8]\n cmp r12, r0\n bne 1b\n add sp, #16\n pop {r4-r11, pc}\n"

#define CG_DENSE_CODE(A)                                                                            \
    "ldm r0!, {r8-r10}\n smmla " A ", " A ", r8, r9\n asr " A ", r10\n ssat " A ", #8, " A "\n"     \
    "strb " A ", [lr], #1\n"

#define CG_DENSE_FUNCTION(NAME, INPUT, BYTES, LOAD, ODD, SCALE)                                     \
    CG_ASM void NAME(const void *x CG_IN, const int32_t *stream CG_IN, const int32_t *end CG_IN,    \
                     int8_t *out CG_IN, const int32_t *constants CG_IN, int32_t step CG_IN,         \
                     int32_t groups CG_IN)                                                          \
    {                                                                                               \
        __asm__(CG_DENSE_BODY(INPUT, BYTES, LOAD, ODD, SCALE));                                     \
    }

#define CG_DENSE_LOAD_BYTES "ldr r0, [lr], #4\n sxtb16 r1, r0, ror #8\n sxtb16 r0, r0\n"
#define CG_DENSE_LOAD_WIDE "ldrd r0, r1, [lr], #8\n"
CG_DENSE_FUNCTION(cg_dense_bytes_asm, "2", "64", CG_DENSE_LOAD_BYTES, CG_DENSE_TOGETHER,
                  CG_DENSE_SCALE_TOGETHER)
CG_DENSE_FUNCTION(cg_dense_wide_asm, "3", "56", CG_DENSE_LOAD_WIDE, CG_DENSE_TOGETHER,
                  CG_DENSE_SCALE_TOGETHER)
CG_DENSE_FUNCTION(cg_dense_bytes_apart_asm, "2", "80", CG_DENSE_LOAD_BYTES, CG_DENSE_APART,
                  CG_DENSE_SCALE_APART)
CG_DENSE_FUNCTION(cg_dense_wide_apart_asm, "3", "72", CG_DENSE_LOAD_WIDE, CG_DENSE_APART,
                  CG_DENSE_SCALE_APART)

/* Fours of outputs from `stream` to `end`. */
CG_KERNEL void cg_dense_fours(int8_t *out, const cg_fully_connected_dsp_args *a, const int8_t *x,
                              const int16_t *wide, const int32_t *stream, const int32_t *end,
                              const int32_t *constants, int32_t is_apart)
{
    const int32_t step = 4 * a->next_constants;
    if (wide == NULL && is_apart == 0) {
        cg_dense_bytes_asm(x, stream, end, out, constants, step, a->groups);
    } else if (wide == NULL) {
        cg_dense_bytes_apart_asm(x, stream, end, out, constants, step, a->groups);
    } else if (is_apart == 0) {
        cg_dense_wide_asm(wide, stream, end, out, constants, step, a->groups);
    } else {
        cg_dense_wide_apart_asm(wide, stream, end, out, constants, step, a->groups);
    }
}

#endif

/* Outputs [c0, c1) of one vector; c0 is a multiple of 4. */
CG_KERNEL void cg_fully_connected_dsp_vector(int8_t *out, const cg_range *r,
                                             const cg_fully_connected_dsp_args *a, const int8_t *x,
                                             const int16_t *wide, int32_t is_apart)
{
    const int32_t words = 4 + 4 * a->groups;
    const int32_t *stream = a->stream + (ptrdiff_t)(r->c0 >> 2) * words;
    const int32_t *constants = a->constants + (ptrdiff_t)(r->c0 >> 2) * a->next_constants;
#ifdef CG_DSP_ASM
    const int32_t fours = (r->c1 - r->c0) >> 2, rest = (r->c1 - r->c0) & 3;
    const int32_t *end = stream + (ptrdiff_t)fours * words;
    if (fours > 0) {
        cg_dense_fours(out + r->c0, a, x, wide, stream, end, constants, is_apart);
    }
    if (rest > 0) {
        int8_t last[4];
        constants += (ptrdiff_t)fours * a->next_constants;
        cg_dense_fours(last, a, x, wide, end, end + words, constants, is_apart);
        for (int32_t i = 0; i < rest; i++) {
            out[r->c1 - rest + i] = last[i];
        }
    }
#else
    for (int32_t c = r->c0; c < r->c1; c += 4, stream += words, constants += a->next_constants) {
        cg_fully_connected_dsp_four(out + c, cg_min(4, r->c1 - c), a, x, wide, stream, constants,
                                    is_apart);
    }
#endif
    cg_clamp_pixels(out + r->c0, 1, 0, r->c1 - r->c0, a->act_min, a->act_max);
}

/* Widens a vector whose last group may be short. */
CG_KERNEL void cg_fully_connected_dsp_widen(int16_t *wide, const int8_t *x,
                                            const cg_fully_connected_dsp_args *a)
{
    const int32_t whole = a->depth / 4;
    if (whole > 0) {
        cg_widen(&x, 1, wide, whole, 1, 0);
    }
    for (int32_t k = 4 * whole; k < 4 * a->groups; k++) {
        cg_widen_put(wide, 1, 0, k, k < a->depth ? x[k] : 0);
    }
}

CG_KERNEL void cg_fully_connected_dsp_vectors(int32_t is_apart, const cg_fully_connected_dsp_args *a,
                                              const cg_src *x, const cg_dst *y, const cg_range *r,
                                              void *scratch)
{
    int16_t *wide = (int16_t *)scratch;
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *in = (const int8_t *)cg_at(x, row, col);
            if (wide != NULL) {
                cg_fully_connected_dsp_widen(wide, in, a);
            }
            cg_fully_connected_dsp_vector((int8_t *)cg_put(y, row, col), r, a, in, wide, is_apart);
        }
    }
}

/* The layers of a model share these: only their arguments differ. */
CG_SHARED void cg_fully_connected_dsp_run(const cg_fully_connected_dsp_args *a, const cg_src *x,
                                          const cg_dst *y, const cg_range *r, void *scratch)
{
    cg_fully_connected_dsp_vectors(0, a, x, y, r, scratch);
}

CG_SHARED void cg_fully_connected_apart_dsp_run(const cg_fully_connected_dsp_args *a, const cg_src *x,
                                                const cg_dst *y, const cg_range *r, void *scratch)
{
    cg_fully_connected_dsp_vectors(1, a, x, y, r, scratch);
}

CG_KERNEL void cg_fully_connected_dsp_s8(const cg_fully_connected_dsp_args *a, const cg_src *x,
                                         const cg_dst *y, const cg_range *r)
{
    cg_fully_connected_dsp_run(a, x, y, r, NULL);
}

CG_KERNEL void cg_fully_connected_wide_dsp_s8(const cg_fully_connected_dsp_args *a, const cg_src *x,
                                              const cg_dst *y, const cg_range *r, void *scratch)
{
    cg_fully_connected_dsp_run(a, x, y, r, scratch);
}

CG_KERNEL void cg_fully_connected_apart_dsp_s8(const cg_fully_connected_dsp_args *a, const cg_src *x,
                                               const cg_dst *y, const cg_range *r)
{
    cg_fully_connected_apart_dsp_run(a, x, y, r, NULL);
}

CG_KERNEL void cg_fully_connected_wide_apart_dsp_s8(const cg_fully_connected_dsp_args *a,
                                                    const cg_src *x, const cg_dst *y,
                                                    const cg_range *r, void *scratch)
{
    cg_fully_connected_apart_dsp_run(a, x, y, r, scratch);
}

#endif
