/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, for cores with the DSP extension where there is no memory for columns (cg_conv_2d_dsp.h):
 * one output pixel at a time, its inputs widened anew for every pair of channels. The weights are the
 * same streams (cg_dot_dsp.h).
 *
 * A window is a list of parts, each some groups of 4 inputs: its taps, where pixels have whole groups,
 * which lie in the map or are zero points in flash; else a single part, brought together in scratch.
 *
 * scratch: 8 bytes per tap, or 4 bytes per group. Channels c0 and c1 of a range are even, or c1 is the
 * last one.
 */
#ifndef CG_CONV_2D_LEAN_DSP_H
#define CG_CONV_2D_LEAN_DSP_H

#include "cg_conv_2d_dsp.h"

/* The parts of a window. */
typedef struct {
    const int8_t *const *p;
    int32_t count;
    int32_t groups;                   /* of each */
} cg_lean_parts;

/* The first `channels` of a pair, in C. */
CG_KERNEL void cg_lean_pair(const cg_lean_parts *parts, const cg_dot_args *a, const int32_t *stream,
                            int32_t channels, int8_t *out)
{
    const int64_t half = (int64_t)1 << 31;
    uint32_t first = (uint32_t)stream[0];
    uint32_t second = (uint32_t)stream[1];
    const int32_t *w = stream + 2;
    for (int32_t part = 0; part < parts->count; part++) {
        for (int32_t k = 0; k < 4 * parts->groups; k++) {
            const int32_t word = w[2 * (k >> 2) + (k & 1)];
            const int16_t both = (int16_t)((k & 2) != 0 ? word >> 16 : word);
            const int32_t v = parts->p[part][k];
            first += (uint32_t)((int8_t)both * v);
            second += (uint32_t)((a->is_apart != 0 ? both >> 8 : both) * v);
        }
        w += 2 * parts->groups;
    }
    out[0] = cg_dot_code(a, cg_high_mul((int32_t)(2u * first), w[0], half), w);
    if (channels > 1) {
        const int32_t d = (int32_t)(a->is_apart != 0 ? 2u * second : second - first);
        const int32_t x = a->is_apart != 0 ? cg_high_mul(d, w[3], half)
            : a->is_signed != 0 ? cg_high_mul(d >> 7, w[3], half)
                                : cg_high_mul(d, w[3], 0);
        out[1] = cg_dot_code(a, x, w + 3);
    }
}

#ifdef CG_DSP_ASM

/* The loop over pairs of channels: r12 walks the stream, r2 the parts, lr one part up to r8; r4 sums D0, r7
 * the odd channel's. r5 is where in the unrolled loop to start, r6 the bytes of a part, r9 the end of
 * the parts. Stack: 0 parts, 8 end of the stream, 12 out. */
#define CG_LEAN_BODY(BYTES, WORD, CODES)                                                            \
    ".syntax unified\n .p2align 2\n push {r4-r11, lr}\n push {r0-r3}\n mov r12, r1\n"              \
    "ldrd r4, r6, [sp, #52]\n add r9, r0, r4, lsl #2\n"                                             \
    "rsb r4, r6, #0\n and r4, r4, #" CG_DSP_TURNS_MASK "\n movs r5, #" BYTES "\n mul r4, r4, r5\n lsl r6, #2\n"         \
    "adr.w r5, 2f\n add r5, r4\n orr r5, r5, #1\n"                                                  \
    "1: ldr r2, [sp]\n ldrd r4, r7, [r12], #8\n"                                                    \
    "3: ldr lr, [r2], #4\n add r8, lr, r6\n bx r5\n"                                                \
    "2: .rept " CG_DSP_TURNS "\n ldr.w r0, [lr], #4\n ldm r12!, {r10, r11}\n sxtb16 r1, r0\n sxtb16 r0, r0, ror #8\n" \
    "sxtb16 r3, r10\n smlad r4, r3, r1, r4\n" WORD("r10") "smlad r7, r10, r1, r7\n"                  \
    "sxtb16 r3, r11\n smlad r4, r3, r0, r4\n" WORD("r11") "smlad r7, r11, r0, r7\n .endr\n"          \
    "cmp lr, r8\n bne 2b\n cmp r2, r9\n bne 3b\n"                                                   \
    "ldr r10, [sp, #12]\n ldm r12!, {r0-r2}\n" CODES                                                 \
    "adds r10, r10, #1\n str r10, [sp, #12]\n ldr r0, [sp, #8]\n"                                   \
    "cmp r12, r0\n bne 1b\n add sp, #16\n pop {r4-r11, pc}\n"

#define CG_LEAN_FUNCTION(NAME, BYTES, WORD, CODES)                                                  \
    CG_ASM void NAME(const int8_t *const *p CG_IN, const int32_t *stream CG_IN,                     \
                     const int32_t *end CG_IN, int8_t *out CG_IN, int32_t count CG_IN,              \
                     int32_t groups CG_IN)                                                          \
    {                                                                                               \
        __asm__(CG_LEAN_BODY(BYTES, WORD, CODES));                                                  \
    }

#ifndef CG_OPTIMIZE_SIZE
CG_LEAN_FUNCTION(cg_lean_relu_asm, "40", CG_DOT_TOGETHER,
                 CG_DOT_CODES1(CG_DOT_RELU0, CG_DOT_RELU1, CG_DOT_ODD_RELU))
CG_LEAN_FUNCTION(cg_lean_apart_relu_asm, "48", CG_DOT_APART,
                 CG_DOT_CODES1(CG_DOT_RELU0, CG_DOT_RELU0, CG_DOT_ODD_APART))
#endif
CG_LEAN_FUNCTION(cg_lean_signed_asm, "40", CG_DOT_TOGETHER,
                 CG_DOT_CODES1(CG_DOT_SIGNED, CG_DOT_SIGNED, CG_DOT_ODD_SIGNED))
CG_LEAN_FUNCTION(cg_lean_apart_signed_asm, "48", CG_DOT_APART,
                 CG_DOT_CODES1(CG_DOT_SIGNED, CG_DOT_SIGNED, CG_DOT_ODD_APART))

/* Whole pairs of channels from `stream` to `end`. With --optimize size all streams are "signed". */
CG_KERNEL void cg_lean_pairs(const cg_lean_parts *parts, const cg_dot_args *a, const int32_t *stream,
                             const int32_t *end, int8_t *out)
{
#ifdef CG_OPTIMIZE_SIZE
    if (a->is_apart != 0) {
        cg_lean_apart_signed_asm(parts->p, stream, end, out, parts->count, parts->groups);
    } else {
        cg_lean_signed_asm(parts->p, stream, end, out, parts->count, parts->groups);
    }
#else
    if (a->is_apart != 0 && a->is_signed != 0) {
        cg_lean_apart_signed_asm(parts->p, stream, end, out, parts->count, parts->groups);
    } else if (a->is_apart != 0) {
        cg_lean_apart_relu_asm(parts->p, stream, end, out, parts->count, parts->groups);
    } else if (a->is_signed != 0) {
        cg_lean_signed_asm(parts->p, stream, end, out, parts->count, parts->groups);
    } else {
        cg_lean_relu_asm(parts->p, stream, end, out, parts->count, parts->groups);
    }
#endif
}

#endif

/* Channels [c0, c1) of one pixel, channel 0 of which lies at `out`. */
CG_KERNEL void cg_lean(const cg_lean_parts *parts, const cg_dot_args *a, const cg_range *r, int8_t *out)
{
    const int32_t words = cg_dot_pair_words(a);
    const int32_t *stream = a->stream + (ptrdiff_t)(r->c0 >> 1) * words;
#ifdef CG_DSP_ASM
    const int32_t *end = a->stream + (ptrdiff_t)(r->c1 >> 1) * words;
    if (stream != end) {
        cg_lean_pairs(parts, a, stream, end, out + r->c0);
    }
    if ((r->c1 & 1) != 0) {
        int8_t last[2];
        cg_lean_pairs(parts, a, end, end + words, last);
        out[r->c1 - 1] = last[0];
    }
#else
    for (int32_t c = r->c0; c < r->c1; c += 2, stream += words) {
        cg_lean_pair(parts, a, stream, cg_min(2, r->c1 - c), out + c);
    }
#endif
}

/* The window at (iy, ix) as pointers to its taps. */
CG_KERNEL void cg_lean_taps(const int8_t **p, const cg_conv_2d_dsp_args *a, const cg_src *x, int32_t iy,
                            int32_t ix)
{
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t row = iy + ky * a->dilation_h;
        const int inside = row >= 0 && row < a->in_h;
        const int8_t *line = inside ? (const int8_t *)cg_at(x, row, x->col0) : a->zeros;
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t col = ix + kx * a->dilation_w;
            const int is_tap = inside && col >= 0 && col < a->in_w;
            *p++ = is_tap ? line + (ptrdiff_t)(col - x->col0) * x->pixel : a->zeros;
        }
    }
}

/* The layers of a model share these: only their arguments differ. */
CG_KERNEL void cg_conv_2d_lean_dsp(int32_t is_apart, const cg_conv_2d_dsp_args *a, const cg_src *x,
                                   const cg_dst *y, const cg_range *r, void *scratch)
{
    const cg_dot_args dot = { a->stream, a->groups, a->is_signed, is_apart };
    const int by_taps = a->channels_in % 4 == 0;
    const int8_t *patch = (const int8_t *)scratch;
    const int32_t row_bytes = 4 * cg_conv_2d_dsp_row_groups(a);
    const cg_lean_parts parts = {
        by_taps ? (const int8_t *const *)scratch : &patch,
        by_taps ? a->filter_h * a->filter_w : 1,
        by_taps ? a->channels_in / 4 : a->groups,
    };
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        const int32_t iy = oy * a->stride_h - a->pad_top;
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t ix = ox * a->stride_w - a->pad_left;
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            if (by_taps) {
                cg_lean_taps((const int8_t **)scratch, a, x, iy, ix);
            } else {
                for (int32_t ky = 0; ky < a->filter_h; ky++) {
                    cg_conv_2d_dsp_gather((int8_t *)scratch + row_bytes * ky, iy + ky * a->dilation_h,
                                          ix, a, x);
                }
            }
            cg_lean(&parts, &dot, r, out);
            cg_clamp_pixels(out + r->c0, 1, 0, r->c1 - r->c0, a->act_min, a->act_max);
        }
    }
}

CG_CONV_2D_DSP(cg_conv_2d_lean_dsp_s8, cg_conv_2d_lean_dsp, 0)
CG_CONV_2D_DSP(cg_conv_2d_lean_apart_dsp_s8, cg_conv_2d_lean_dsp, 1)

#endif
