/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8, for Helium, by windows: one out channel per in channel, filters up to 3x3 with
 * strides 1 or 2.
 *
 * Four input rows are interleaved into the scratch memory, up to sixteen channels at a time, so that one
 * word holds four rows of a column:
 *
 *     column 0: channel 0 rows 0..3, channel 1 rows 0..3, ...   column 1: ...
 *
 * One load then gathers a 4x4 window of a channel, and VMLADAV with the filter shifted by 0, 1, 4
 * and 5 lanes gives 2x2 outputs. Stride 2 has one output per window, so eight windows at a time.
 */
#ifndef CG_DEPTHWISE_WINDOW_MVE_H
#define CG_DEPTHWISE_WINDOW_MVE_H

#include "cg_dense_mve.h"
#include "cg_interleave_mve.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t stride;                   /* 1 or 2, in both directions */
    int32_t pad_top, pad_left;
    int32_t input_zero;
    int32_t columns;                  /* of the input that the whole output needs */
    const int8_t *filters;            /* per channel 5 zeros, then 3x3 taps: column by column, each
                                       * with a 0 behind it but the last; 5 zeros at the end */
    const int32_t *scales;            /* per channel: bias, multiplier, shift */
    cg_mve_layer layer;               /* depth, weights and scales are not used */
} cg_depthwise_window_mve_args;

/* One output in plain C; (iy, ix) is its first input position. */
CG_KERNEL int8_t cg_depthwise_mve_one(const cg_depthwise_window_mve_args *a, const cg_src *x,
                                      int32_t iy, int32_t ix, int32_t c)
{
    const int8_t *filter = a->filters + 16 * c + 5;
    const int32_t *scales = a->scales + 3 * c;
    int32_t sum = scales[0];
    for (int32_t k = 0; k < 11; k++) {
        const int32_t row = iy + k % 4, col = ix + k / 4;
        const int32_t inside = row >= 0 && row < a->in_h && col >= 0 && col < a->in_w;
        const int32_t v = inside ? ((const int8_t *)cg_at(x, row, col))[c] : a->input_zero;
        sum = cg_add32(sum, v * filter[k]);
    }
    return cg_mve_code(&a->layer, sum, scales[1], scales[2]);
}

#if CG_MVE && !defined(CG_OPTIMIZE_SIZE)

/* Four input rows: where they start, and the step from column to column. A row outside the map is a
 * vector of zero points and a step of 0. */
typedef struct {
    const int8_t *row[4];
    int32_t step[4];
} cg_depthwise_mve_band;

CG_KERNEL cg_depthwise_mve_band cg_depthwise_mve_rows(const cg_src *x, int32_t in_h, int32_t iy,
                                                      int32_t ix, const int8_t *outside)
{
    cg_depthwise_mve_band b;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t inside = iy + k >= 0 && iy + k < in_h;
        b.row[k] = inside ? (const int8_t *)cg_at(x, iy + k, ix) : outside;
        b.step[k] = inside ? x->pixel : 0;
    }
    return b;
}

/* Interleaves n columns of the channels from c on. */
CG_KERNEL void cg_depthwise_mve_interleave(const cg_depthwise_mve_band *b, int32_t c,
                                           int32_t channels, int32_t unit, int8_t *to, int32_t n)
{
    const int32_t s0 = b->step[0], s1 = b->step[1], s2 = b->step[2], s3 = b->step[3];
    const int8_t *p0 = b->row[0] + (s0 != 0 ? c : 0), *p1 = b->row[1] + (s1 != 0 ? c : 0);
    const int8_t *p2 = b->row[2] + (s2 != 0 ? c : 0), *p3 = b->row[3] + (s3 != 0 ? c : 0);
    for (int32_t k = 0; k < n; k++) {
        cg_interleave_4(p0, p1, p2, p3, channels, to);
        p0 += s0;
        p1 += s1;
        p2 += s2;
        p3 += s3;
        to += unit;
    }
}

/* The scratch memory of one band: its column 0 is input column `ix`. */
CG_KERNEL void cg_depthwise_mve_fill(const cg_depthwise_window_mve_args *a,
                                     const cg_depthwise_mve_band *b, int32_t ix, int32_t c,
                                     int32_t channels, int32_t unit, int8_t *t)
{
    const int32_t before = cg_max(-ix, 0);
    const int32_t end = cg_min(a->columns, a->in_w - ix);
    cg_mve_fill(t, (int8_t)a->input_zero, before * unit);
    cg_depthwise_mve_interleave(b, c, channels, unit, t + before * unit, end - before);
    cg_mve_fill(t + end * unit, (int8_t)a->input_zero, (a->columns - end) * unit);
}

/* Eight sums in even registers, or four if `half`, -> sums times scale plus zero point in the 16-bit
 * lanes of %q[a], in the order a0 b0 a1 b1 ...; where nothing is left to clamp, in their low bytes. */
#define CG_DEPTHWISE_MVE_CODES(HALF)                                                  \
    "vmov %q[a][2], %q[a][0], r0, r4\n\tvmov %q[a][3], %q[a][1], r2, r6\n\t"          \
    "movw r2, #%c[zero]\n\t.if %c[right]\n\tmov r0, #-1\n\t.endif\n\t"                  \
    "vadd.i32 %q[a], %q[a], %[bias]\n\tvqrdmulh.s32 %q[a], %q[a], %[by]\n\t"          \
    ".if %c[right]\n\tvpt.s32 lt, %q[a], zr\n\tvaddt.i32 %q[a], %q[a], r0\n\t.endif\n\t" \
    "vrshl.s32 %q[a], %[shift]\n\tvqmovnb.s32 %q[a], %q[a]\n\t"                       \
    ".if !(" HALF ")\n\t"                                                             \
    "vmov %q[b][2], %q[b][0], r8, r12\n\tvmov %q[b][3], %q[b][1], r10, lr\n\t"        \
    "vadd.i32 %q[b], %q[b], %[bias]\n\tvqrdmulh.s32 %q[b], %q[b], %[by]\n\t"          \
    ".if %c[right]\n\tvpt.s32 lt, %q[b], zr\n\tvaddt.i32 %q[b], %q[b], r0\n\t.endif\n\t" \
    "vrshl.s32 %q[b], %[shift]\n\tvqmovnt.s32 %q[a], %q[b]\n\t.endif\n\t"             \
    "vqadd.s16 %q[a], %q[a], r2\n\t"                                                  \
    ".if %c[narrow]\n\tvqmovnb.s16 %q[a], %q[a]\n\t.endif\n\t"
/* Registers for all that is no vector; GCC does not always find them by itself. */
#define CG_DEPTHWISE_MVE_REGISTERS                                                    \
    register const int8_t *from __asm__("r3") = p;                                    \
    register int32_t bias __asm__("r5") = scales[0];                                  \
    register int32_t by __asm__("r9") = scales[1];                                    \
    register int32_t shift __asm__("r11") = scales[2]
#define CG_DEPTHWISE_MVE_SCALES                                                       \
    [unit] "i"(unit), [bias] "r"(bias), [by] "r"(by), [shift] "r"(shift),            \
    [right] "i"(l->rounding == CG_MVE_TWICE_RIGHT), [zero] "i"(l->output_offset & 0xffff), \
    [narrow] "i"(!cg_depthwise_mve_clamps(l))

/* Whether the clamp does more than int8 does. */
CG_KERNEL int32_t cg_depthwise_mve_clamps(const cg_mve_layer *l)
{
    return l->act_min > INT8_MIN || l->act_max < INT8_MAX;
}

/* The filter of one channel, delayed by 0, 1, 4 and 5 lanes, and the places of four columns. */
typedef struct {
    int8x16_t k0, k1, k4, k5;
    uint32x4_t columns;
} cg_depthwise_mve_filter;

/* 2x4 outputs from 4x4 inputs at a time; with `columns` up to 2 only 2x2. */
CG_KERNEL int16x8_t cg_depthwise_mve_2x4(const cg_mve_layer *l, const int32_t *scales, const int8_t *p,
                                         int32_t unit, const cg_depthwise_mve_filter *f,
                                         int32_t columns)
{
    int32x4_t a, b;
    CG_DEPTHWISE_MVE_REGISTERS;
    __asm__ volatile(
        "vldrw.u32 %q[b], [%[p], %q[o]]\n\tadd %[p], %[p], #2 * %c[unit]\n\t"
        "vmladav.s8 r0, %q[b], %q[k0]\n\tvmladav.s8 r2, %q[b], %q[k1]\n\t"
        "vmladav.s8 r4, %q[b], %q[k4]\n\tvmladav.s8 r6, %q[b], %q[k5]\n\t"
        ".if %c[columns] > 2\n\tvldrw.u32 %q[b], [%[p], %q[o]]\n\t"
        "vmladav.s8 r8, %q[b], %q[k0]\n\tvmladav.s8 r10, %q[b], %q[k1]\n\t"
        "vmladav.s8 r12, %q[b], %q[k4]\n\tvmladav.s8 lr, %q[b], %q[k5]\n\t.endif\n\t"
        CG_DEPTHWISE_MVE_CODES("%c[columns] <= 2")
        : [a] "=&w"(a), [b] "=&w"(b), [p] "+r"(from)
        : [o] "w"(f->columns), [k0] "w"(f->k0), [k1] "w"(f->k1), [k4] "w"(f->k4), [k5] "w"(f->k5),
          [columns] "i"(columns), CG_DEPTHWISE_MVE_SCALES
        : CG_MVE_CLOBBERS);
    return vreinterpretq_s16_s32(a);
}

#define CG_DEPTHWISE_MVE_NEXT(SUM)                                                    \
    "vldrw.u32 %q[b], [%[p], %q[o]]\n\tadd %[p], %[p], #2 * %c[unit]\n\t"           \
    "vmladav.s8 " SUM ", %q[b], %q[k]\n\t"

/* 1x8 outputs at stride 2, in the order a0 b0 a1 b1 ... */
CG_KERNEL int16x8_t cg_depthwise_mve_1x8(const cg_mve_layer *l, const int32_t *scales, const int8_t *p,
                                         int32_t unit, const cg_depthwise_mve_filter *f)
{
    int32x4_t a, b;
    CG_DEPTHWISE_MVE_REGISTERS;
    __asm__ volatile(
        CG_DEPTHWISE_MVE_NEXT("r0") CG_DEPTHWISE_MVE_NEXT("r8") CG_DEPTHWISE_MVE_NEXT("r2")
        CG_DEPTHWISE_MVE_NEXT("r10") CG_DEPTHWISE_MVE_NEXT("r4") CG_DEPTHWISE_MVE_NEXT("r12")
        CG_DEPTHWISE_MVE_NEXT("r6") CG_DEPTHWISE_MVE_NEXT("lr")
        CG_DEPTHWISE_MVE_CODES("0")
        : [a] "=&w"(a), [b] "=&w"(b), [p] "+r"(from)
        : [o] "w"(f->columns), [k] "w"(f->k0), CG_DEPTHWISE_MVE_SCALES
        : CG_MVE_CLOBBERS);
    return vreinterpretq_s16_s32(a);
}

/* Where the eight outputs lie, in bytes from the first one. */
CG_KERNEL int32_t cg_depthwise_mve_place(const cg_dst *y, int32_t stride, int32_t lane)
{
    return stride == 2 ? lane * y->pixel
         : (lane & 2) / 2 * y->row + ((lane & 1) * 2 + (lane & 4) / 4) * y->pixel;
}

/* Which of the eight exist. GCC 12 gets constant predicates wrong, so it must not see this one. */
CG_KERNEL mve_pred16_t cg_depthwise_mve_exist(int32_t stride, int32_t rows, int32_t columns)
{
    if (stride == 2) {
        return vctp16q((uint32_t)columns);
    }
    uint32_t mask = columns >= 4 ? 0xffffu : columns == 3 ? 0x33ffu : columns == 2 ? 0x3333u : 0x0033u;
    mask &= rows > 1 ? 0xffffu : 0x0f0fu;
    __asm__("" : "+r"(mask));
    return (mve_pred16_t)mask;
}

/* Clamps and stores those of eight codes that exist. */
CG_KERNEL void cg_depthwise_mve_put(const cg_depthwise_window_mve_args *a, const cg_dst *y, int8_t *out,
                                    int16x8_t v, mve_pred16_t exist)
{
#define CG_PLACE(LANE) (uint16_t)cg_depthwise_mve_place(y, a->stride, LANE)
    const uint16x8_t places = { CG_PLACE(0), CG_PLACE(1), CG_PLACE(2), CG_PLACE(3),
                                CG_PLACE(4), CG_PLACE(5), CG_PLACE(6), CG_PLACE(7) };
#undef CG_PLACE
    if (cg_depthwise_mve_clamps(&a->layer)) {
        v = vmaxq_s16(v, vdupq_n_s16((int16_t)a->layer.act_min));
        v = vminq_s16(v, vdupq_n_s16((int16_t)a->layer.act_max));
    }
    if (y->row + 7 * y->pixel <= UINT16_MAX) {
        vstrbq_scatter_offset_p_s16(out, places, v, exist);
        return;
    }
    int16_t codes[8];
    vstrhq_s16(codes, v);
    for (int32_t lane = 0; lane < 8; lane++) {
        if ((exist >> (2 * lane) & 1) != 0) {
            out[cg_depthwise_mve_place(y, a->stride, lane)] = (int8_t)codes[lane];
        }
    }
}

/* One channel of a band: `width` columns of one or two rows from scratch memory `t`. */
CG_KERNEL void cg_depthwise_mve_channel(const cg_depthwise_window_mve_args *a, int32_t c,
                                        const int8_t *t, int32_t unit, const cg_dst *y, int8_t *out,
                                        int32_t rows, int32_t width)
{
    const int8_t *taps = a->filters + 16 * c + 5;
    const int32_t *scales = a->scales + 3 * c;
    const cg_depthwise_mve_filter f = {
        vldrbq_s8(taps), vldrbq_s8(taps - 1), vldrbq_s8(taps - 4), vldrbq_s8(taps - 5),
        vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)unit),
    };
    if (a->stride == 2) {
        for (int32_t x = 0; x < width; x += 8) {
            const int16x8_t v = cg_depthwise_mve_1x8(&a->layer, scales, t, unit, &f);
            cg_depthwise_mve_put(a, y, out, v, cg_depthwise_mve_exist(2, 1, width - x));
            t += 16 * unit;
            out += 8 * y->pixel;
        }
        return;
    }
    const mve_pred16_t all = cg_depthwise_mve_exist(1, rows, 4);
    for (int32_t x = 0; x < width / 4; x++) {
        cg_depthwise_mve_put(a, y, out, cg_depthwise_mve_2x4(&a->layer, scales, t, unit, &f, 4), all);
        t += 4 * unit;
        out += 4 * y->pixel;
    }
    if (width % 4 > 2) {
        const mve_pred16_t some = cg_depthwise_mve_exist(1, rows, 3);
        cg_depthwise_mve_put(a, y, out, cg_depthwise_mve_2x4(&a->layer, scales, t, unit, &f, 4), some);
    } else if (width % 4 > 0) {
        const mve_pred16_t some = cg_depthwise_mve_exist(1, rows, width % 4);
        cg_depthwise_mve_put(a, y, out, cg_depthwise_mve_2x4(&a->layer, scales, t, unit, &f, 2), some);
    }
}

/* Rows [oy, oy + rows), all channels. */
CG_KERNEL void cg_depthwise_mve_make_band(const cg_depthwise_window_mve_args *a, const cg_src *x,
                                          const cg_dst *y, const cg_range *r, int32_t oy, int32_t rows,
                                          int8_t *t)
{
    const int32_t iy = oy * a->stride - a->pad_top, ix = r->x0 * a->stride - a->pad_left;
    int8_t outside[16];
    cg_mve_fill(outside, (int8_t)a->input_zero, 16);
    const cg_depthwise_mve_band b = cg_depthwise_mve_rows(x, a->in_h, iy, cg_max(ix, 0), outside);
    for (int32_t c = r->c0; c < r->c1; c += 16) {
        const int32_t all = a->layer.channels, unit = all < 16 ? 4 * all : 64;
        const int32_t channels = all % 16 == 0 ? 16 : all < 16 ? all : cg_min(16, r->c1 - c);
        int8_t *out = (int8_t *)cg_put(y, oy, r->x0) + c;
        cg_depthwise_mve_fill(a, &b, ix, c, channels, unit, t);
        for (int32_t k = 0; k < channels; k++) {
            cg_depthwise_mve_channel(a, c + k, t + 4 * k, unit, y, out + k, rows, r->x1 - r->x0);
        }
    }
}

#endif

/* Filters up to 3x3 by windows: two rows at a time at stride 1, one at stride 2. */
CG_KERNEL void cg_depthwise_window_mve_s8(const cg_depthwise_window_mve_args *a, const cg_src *x,
                                          const cg_dst *y, const cg_range *r, void *scratch)
{
#if CG_MVE && !defined(CG_OPTIMIZE_SIZE)
    if (cg_dense_is_fast(&a->layer) && __builtin_constant_p(a->layer.channels)) {
        const int32_t step = a->stride == 1 ? 2 : 1;
        for (int32_t oy = r->y0; oy < r->y1; oy += step) {
            const int32_t rows = cg_min(step, r->y1 - oy);
            cg_depthwise_mve_make_band(a, x, y, r, oy, rows, (int8_t *)scratch);
        }
        return;
    }
#endif
    (void)scratch;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride - a->pad_top, ix = ox * a->stride - a->pad_left;
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = cg_depthwise_mve_one(a, x, iy, ix, c);
            }
        }
    }
}

#endif
