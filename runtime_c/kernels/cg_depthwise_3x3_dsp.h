/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8, 3x3 with stride 1 and whole fours of channels, for cores with the DSP
 * extension: two output rows at a time, from the four input rows r0 .. r3 that they need.
 *
 * For four channels, each input column becomes eight words, (r0, r1) and (r2, r3) of every channel.
 * Then one channel after the other runs along the columns, 2 x 2 outputs at a time. All that a channel needs is
 * one stream of words, weights scaled and requantised as in cg_taps_dsp.h:
 *
 *     (w00, w10), (w10, w20), (w01, w11), (w11, w21), (w02, w12), (w12, w22)      w[row][column]
 *     b, m, r, e
 *
 * The first words of a column give the upper output two taps and the lower one its first; the second
 * words the upper one its last, the lower one two. An odd last column is computed with its left
 * neighbour once more. A band of one row has both of its rows written to the same place, the right one last.
 *
 * scratch: 32 bytes per column, out_w + 2 of them. A range has whole rows and whole fours of channels.
 */
#ifndef CG_DEPTHWISE_3X3_DSP_H
#define CG_DEPTHWISE_3X3_DSP_H

#include "cg_dsp.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t out_w;                    /* at least 2 */
    int32_t pad_top, pad_left;        /* 0 or 1 */
    int32_t input_zero;
    int32_t act_min, act_max;
    int32_t is_signed;                /* 1: codes below the zero point count */
    const int32_t *stream;
} cg_depthwise_3x3_dsp_args;

enum { CG_DEPTHWISE_3X3_WORDS = 10, CG_DEPTHWISE_3X3_HALVES = 16 };

/* Where a band's outputs lie: the first one, and the way to the next pixel and to the other row. */
typedef struct {
    int8_t *out;
    int32_t pixel, row;
} cg_depthwise_3x3_dsp_to;

#ifdef CG_DSP_ASM

/* `count` columns of four channels; the rows' pixels are `pixel` bytes apart. r12 is the offset in the
 * rows, lr where the words go. Stack: 36 pixel, 40 columns, 44 their number or end. */
CG_ASM void cg_depthwise_3x3_pairs_asm(const int8_t *r0 CG_IN, const int8_t *r1 CG_IN,
                                       const int8_t *r2 CG_IN, const int8_t *r3 CG_IN,
                                       int32_t pixel CG_IN, int16_t *columns CG_IN,
                                       int32_t count CG_IN)
{
    __asm__(".syntax unified\n push {r4-r11, lr}\n ldr lr, [sp, #40]\n ldr r4, [sp, #44]\n"
            "add r4, lr, r4, lsl #5\n ldr r5, [sp, #36]\n strd r5, r4, [sp, #40]\n"
            "mov r12, #0\n"
            "1: ldr r4, [r0, r12]\n ldr r5, [r1, r12]\n ldr r6, [r2, r12]\n ldr r7, [r3, r12]\n"
            "pkhbt r8, r4, r5, lsl #16\n pkhtb r9, r5, r4, asr #16\n"
            "pkhbt r10, r6, r7, lsl #16\n pkhtb r11, r7, r6, asr #16\n"
            "sxtb16 r4, r8\n sxtb16 r5, r10\n sxtb16 r6, r8, ror #8\n sxtb16 r7, r10, ror #8\n"
            "sxtb16 r8, r9\n sxtb16 r10, r9, ror #8\n sxtb16 r9, r11\n sxtb16 r11, r11, ror #8\n"
            "stm lr!, {r4-r11}\n ldrd r4, r5, [sp, #40]\n add r12, r4\n cmp lr, r5\n bne 1b\n"
            "pop {r4-r11, pc}\n");
}

/* Column X of four: its words into r0 and r1, then what outputs of column A, of the upper and lower
 * row, take of it with the weights in W0 and W1. */
#define CG_3X3_TAPS(UPPER, LOWER, FROM_UPPER, FROM_LOWER, W0, W1)                                   \
    "smlatb " LOWER ", r0, " W0 ", " FROM_LOWER "\n smlad " LOWER ", r1, " W1 ", " LOWER "\n"       \
    "smlad " UPPER ", r0, " W0 ", " FROM_UPPER "\n smlabt " UPPER ", r1, " W1 ", " UPPER "\n"

/* One channel after the other. r12 walks the columns, lr the outputs; r2, r3 sum the left column of
 * outputs, r10, r11 the right one. Stack: 0 m, r, e; 12 pixel, row, row + pixel; 24 end of the columns,
 * 28 stream, 32 columns, 36 out, 40 end of the stream, 84 row, 88 width. */
#define CG_3X3_BODY(CODE)                                                                           \
    ".syntax unified\n push {r4-r11, lr}\n sub sp, #48\n str r3, [sp, #12]\n ldr r4, [sp, #84]\n"   \
    "str r4, [sp, #16]\n add r4, r3\n str r4, [sp, #20]\n ldr r4, [sp, #88]\n"                      \
    "add r4, r0, r4, lsl #5\n str r4, [sp, #24]\n str r0, [sp, #32]\n str r2, [sp, #36]\n"          \
    "add r4, r1, #160\n str r4, [sp, #40]\n"                                                        \
    "3: str r1, [sp, #28]\n add r0, r1, #28\n ldm r0, {r4-r6}\n stm sp, {r4-r6}\n"                  \
    "ldr r12, [sp, #32]\n ldr lr, [sp, #36]\n"                                                      \
    "1: ldr r0, [sp, #28]\n ldm r0, {r4-r10}\n"                                                     \
    "ldrd r0, r1, [r12], #64\n" CG_3X3_TAPS("r2", "r3", "r10", "r10", "r4", "r5")                   \
    "ldrd r0, r1, [r12, #-32]\n" CG_3X3_TAPS("r2", "r3", "r2", "r3", "r6", "r7")                    \
    CG_3X3_TAPS("r10", "r11", "r10", "r10", "r4", "r5")                                             \
    "ldrd r0, r1, [r12]\n" CG_3X3_TAPS("r2", "r3", "r2", "r3", "r8", "r9")                          \
    CG_3X3_TAPS("r10", "r11", "r10", "r11", "r6", "r7")                                             \
    "ldrd r0, r1, [r12, #32]\n" CG_3X3_TAPS("r10", "r11", "r10", "r11", "r8", "r9")                 \
    "ldm sp, {r4-r9}\n" CODE("r11", "[lr, r9]") CODE("r3", "[lr, r8]") CODE("r10", "[lr, r7]")      \
    CODE("r2", "[lr]") "add lr, lr, r7, lsl #1\n"                                                   \
    "ldr r0, [sp, #24]\n sub r0, r12\n cmp r0, #32\n bgt 1b\n bne 2f\n"                             \
    "sub r12, #32\n sub lr, r7\n b 1b\n"                                                            \
    "2: ldr r0, [sp, #32]\n add r0, #8\n str r0, [sp, #32]\n ldr r0, [sp, #24]\n add r0, #8\n"      \
    "str r0, [sp, #24]\n ldr r0, [sp, #36]\n add r0, #1\n str r0, [sp, #36]\n"                      \
    "ldr r1, [sp, #28]\n add r1, #40\n ldr r0, [sp, #40]\n cmp r1, r0\n bne 3b\n"                   \
    "add sp, #48\n pop {r4-r11, pc}\n"

#define CG_3X3_RELU(A, TO)                                                                          \
    "smmla " A ", " A ", r4, r5\n asr " A ", r6\n ssat " A ", #8, " A "\n strb " A ", " TO "\n"
#define CG_3X3_SIGNED(A, TO)                                                                        \
    "smmulr " A ", " A ", r4\n add " A ", " A ", " A ", asr #31\n add " A ", r5\n"                   \
    "asr " A ", r6\n ssat " A ", #8, " A "\n strb " A ", " TO "\n"

CG_ASM void cg_depthwise_3x3_relu_asm(const int16_t *columns CG_IN, const int32_t *stream CG_IN,
                                      int8_t *out CG_IN, int32_t pixel CG_IN, int32_t row CG_IN,
                                      int32_t width CG_IN)
{
    __asm__(CG_3X3_BODY(CG_3X3_RELU));
}

CG_ASM void cg_depthwise_3x3_signed_asm(const int16_t *columns CG_IN, const int32_t *stream CG_IN,
                                        int8_t *out CG_IN, int32_t pixel CG_IN, int32_t row CG_IN,
                                        int32_t width CG_IN)
{
    __asm__(CG_3X3_BODY(CG_3X3_SIGNED));
}

#else

/* One output in C: of column `col`, channel i, the upper (0) or lower (1) row. */
CG_KERNEL int8_t cg_depthwise_3x3_dsp_code(const cg_depthwise_3x3_dsp_args *a, const int16_t *columns,
                                           const int32_t *s, int32_t col, int32_t i, int32_t lower)
{
    const int32_t *q = s + 7;
    uint32_t sum = (uint32_t)s[6];
    for (int32_t kx = 0; kx < 3; kx++) {
        const int16_t *v = columns + CG_DEPTHWISE_3X3_HALVES * (col + kx) + 4 * i + lower;
        sum += (uint32_t)((int16_t)s[2 * kx] * v[0]);
        sum += (uint32_t)((int16_t)(s[2 * kx] >> 16) * v[1]);
        sum += (uint32_t)((int16_t)(s[2 * kx + 1] >> 16) * v[2]);
    }
    int32_t x = cg_high_mul((int32_t)sum, q[0], a->is_signed != 0 ? (int64_t)1 << 31 : 0);
    x += a->is_signed != 0 ? x >> 31 : 0;
    return cg_saturate8((x + q[1]) >> q[2]);
}

#endif

/* Brings four channels of four rows into columns. */
CG_KERNEL void cg_depthwise_3x3_dsp_pairs(int16_t *columns, const int8_t *const *rows, int32_t count,
                                          int32_t pixel)
{
#ifdef CG_DSP_ASM
    cg_depthwise_3x3_pairs_asm(rows[0], rows[1], rows[2], rows[3], pixel, columns, count);
#else
    for (int32_t col = 0; col < count; col++) {
        for (int32_t k = 0; k < CG_DEPTHWISE_3X3_HALVES; k++) {
            columns[CG_DEPTHWISE_3X3_HALVES * col + k] = rows[k & 3][col * pixel + (k >> 2)];
        }
    }
#endif
}

/* Four channels of a band. */
CG_KERNEL void cg_depthwise_3x3_dsp_four(const cg_depthwise_3x3_dsp_to *to,
                                         const cg_depthwise_3x3_dsp_args *a, const int16_t *columns,
                                         const int32_t *stream)
{
#ifdef CG_DSP_ASM
    if (a->is_signed != 0) {
        cg_depthwise_3x3_signed_asm(columns, stream, to->out, to->pixel, to->row, a->out_w);
    } else {
        cg_depthwise_3x3_relu_asm(columns, stream, to->out, to->pixel, to->row, a->out_w);
    }
#else
    for (int32_t i = 0; i < 4; i++) {
        const int32_t *s = stream + CG_DEPTHWISE_3X3_WORDS * i;
        for (int32_t col = 0; col < a->out_w; col++) {
            int8_t *out = to->out + col * to->pixel + i;
            out[to->row] = cg_depthwise_3x3_dsp_code(a, columns, s, col, i, 1);
            out[0] = cg_depthwise_3x3_dsp_code(a, columns, s, col, i, 0);
        }
    }
#endif
}

/* Fills the columns left and right of the map with the zero point. */
CG_KERNEL void cg_depthwise_3x3_dsp_pad(int16_t *columns, const cg_depthwise_3x3_dsp_args *a)
{
    for (int32_t col = 0; col < a->out_w + 2; col++) {
        if (col < a->pad_left || col >= a->pad_left + a->in_w) {
            for (int32_t k = 0; k < CG_DEPTHWISE_3X3_HALVES; k++) {
                columns[CG_DEPTHWISE_3X3_HALVES * col + k] = (int16_t)a->input_zero;
            }
        }
    }
}

/* Puts the zero point where the rows from iy on are outside the map. */
CG_KERNEL void cg_depthwise_3x3_dsp_outside(int16_t *columns, int32_t count, int32_t iy,
                                            const cg_depthwise_3x3_dsp_args *a)
{
    for (int32_t i = 0; i < 4; i++) {
        if (iy + i < 0 || iy + i >= a->in_h) {
            for (int32_t k = i; k < CG_DEPTHWISE_3X3_HALVES * count; k += 4) {
                columns[k] = (int16_t)a->input_zero;
            }
        }
    }
}

/* Two output rows, or the last one; iy is the input row of the upper one's first tap. */
CG_KERNEL void cg_depthwise_3x3_dsp_band(cg_depthwise_3x3_dsp_to to, int32_t iy,
                                         const cg_depthwise_3x3_dsp_args *a, const cg_src *x,
                                         const cg_range *r, int16_t *columns)
{
    const int32_t count = cg_min(a->in_w, a->out_w + 2 - a->pad_left);
    int16_t *inner = columns + CG_DEPTHWISE_3X3_HALVES * a->pad_left;
    const int8_t *rows[4];
    for (int32_t i = 0; i < 4; i++) {
        rows[i] = (const int8_t *)cg_at(x, cg_clamp(iy + i, 0, a->in_h - 1), 0);
    }
    for (int32_t c = r->c0; c < r->c1; c += 4) {
        const int8_t *four[4] = { rows[0] + c, rows[1] + c, rows[2] + c, rows[3] + c };
        const cg_depthwise_3x3_dsp_to out = { to.out + c, to.pixel, to.row };
        cg_depthwise_3x3_dsp_pairs(inner, four, count, x->pixel);
        cg_depthwise_3x3_dsp_outside(inner, count, iy, a);
        cg_depthwise_3x3_dsp_four(&out, a, columns, a->stream + CG_DEPTHWISE_3X3_WORDS * c);
    }
    cg_clamp_pixels(to.out + r->c0, a->out_w, to.pixel, r->c1 - r->c0, a->act_min, a->act_max);
    cg_clamp_pixels(to.out + to.row + r->c0, a->out_w, to.pixel, r->c1 - r->c0, a->act_min,
                    a->act_max);
}

/* The layers of a model share this one: only its arguments differ. */
CG_SHARED void cg_depthwise_3x3_dsp_run(const cg_depthwise_3x3_dsp_args *a, const cg_src *x,
                                        const cg_dst *y, const cg_range *r, void *scratch)
{
    int16_t *columns = (int16_t *)scratch;
    cg_depthwise_3x3_dsp_pad(columns, a);
    for (int32_t oy = r->y0; oy < r->y1; oy += 2) {
        cg_depthwise_3x3_dsp_to to = { (int8_t *)cg_put(y, oy, 0), y->pixel, 0 };
        if (oy + 1 < r->y1) {
            to.row = (int32_t)((int8_t *)cg_put(y, oy + 1, 0) - to.out);
        }
        cg_depthwise_3x3_dsp_band(to, oy - a->pad_top, a, x, r, columns);
    }
}

CG_KERNEL void cg_depthwise_3x3_dsp_s8(const cg_depthwise_3x3_dsp_args *a, const cg_src *x,
                                       const cg_dst *y, const cg_range *r, void *scratch)
{
    cg_depthwise_3x3_dsp_run(a, x, y, r, scratch);
}

#endif
