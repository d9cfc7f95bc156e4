/* SPDX-License-Identifier: 0BSD
 *
 * CONV_2D, int8, 3x3 with stride 1, for cores with the DSP extension, by Winograd's F(2x2, 3x3): 16
 * multiplications for four outputs where the window takes 36, and exact in integers.
 *
 *     4 y = A' [U * (B d B')] A,  U = G g G'       d: 4x4 inputs, g: the filter, y: 2x2 outputs
 *     B = 1 0 -1 0    G = 1  0 0     A' = 2 1  1  0
 *         0 1  1 0        1  1 1          0 1 -1 -2
 *         0 -1 1 0        1 -1 1
 *         0 1  0 -1       0  0 1
 *
 * G is twice the usual one in its inner rows, so that U is whole; A is in its outer ones, to match. Both
 * B d B', |.| <= 512, and U, |.| <= 1152, fit 16 bits; their products are summed modulo 2^32, which
 * does no harm as 4 y fits. Four tiles of outputs go at a time. The stream of weights, by pairs of channels:
 *
 *     16 x 1 word per two inputs and channel       U; inputs k, k+2 and k+1, k+3 as in cg_widen_dsp.h
 *     b0, b1                                       sums to start from, the zero point's share included
 *     m0, r0, e0, m1, r1, e1                       requantisation as in cg_dot_dsp.h
 *
 * scratch: 128 bytes per input channel for B d B' of four tiles, then 512 bytes for their products.
 * Channels c0 and c1 of a range are even, or c1 is the last one.
 */
#ifndef CG_CONV_2D_WINOGRAD_DSP_H
#define CG_CONV_2D_WINOGRAD_DSP_H

#include "cg_lanes_dsp.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t channels_in;              /* a multiple of 8 */
    int32_t pad_top, pad_left;
    int32_t act_min, act_max;
    int32_t is_signed;                /* 1: codes below the zero point count */
    const int8_t *zeros;              /* a pixel of zero points, for what is outside */
    const int32_t *stream;
} cg_conv_2d_winograd_dsp_args;

enum { CG_WINOGRAD_TILES = 4, CG_WINOGRAD_POINTS = 16 };

#ifdef CG_DSP_ASM

CG_KERNEL uint32_t cg_winograd_add(uint32_t a, uint32_t b)
{
    uint32_t sums;
    __asm__("sadd16 %0, %1, %2" : "=r"(sums) : "r"(a), "r"(b) : "cc");
    return sums;
}

CG_KERNEL uint32_t cg_winograd_sub(uint32_t a, uint32_t b)
{
    uint32_t differences;
    __asm__("ssub16 %0, %1, %2" : "=r"(differences) : "r"(a), "r"(b) : "cc");
    return differences;
}

/* Channels 0 and 2, or 1 and 3, of a word of four. */
CG_KERNEL uint32_t cg_winograd_widen(uint32_t word, int32_t odd)
{
    uint32_t pair;
    if (odd != 0) {
        __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    } else {
        __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
    }
    return pair;
}

/* Products of four tiles with two channels. r12 walks the stream, lr the tiles; r4-r7 sum the even
 * channel's, r8-r11 the odd one's. Stack: 0 products, 4 bytes of a point's tiles, 8 end of the
 * products, 12 end of the point's tiles. */
CG_ASM void cg_winograd_asm(const uint32_t *tiles CG_IN, const int32_t *stream CG_IN,
                            int32_t *products CG_IN, int32_t bytes CG_IN)
{
    __asm__(".syntax unified\n push {r4-r11, lr}\n add r4, r2, #512\n mov r5, r0\n push {r2-r5}\n"
            "mov lr, r0\n mov r12, r1\n"
            "1: ldr r0, [sp, #12]\n ldr r1, [sp, #4]\n add r0, r1\n str r0, [sp, #12]\n"
            "movs r4, #0\n movs r5, #0\n movs r6, #0\n movs r7, #0\n"
            "mov r8, r4\n mov r9, r4\n mov r10, r4\n mov r11, r4\n"
            "2: .rept 4\n ldrd r2, r3, [r12], #8\n ldrd r0, r1, [lr], #8\n"
            "smlad r4, r2, r0, r4\n smlad r8, r3, r0, r8\n smlad r5, r2, r1, r5\n smlad r9, r3, r1, r9\n"
            "ldrd r0, r1, [lr], #8\n"
            "smlad r6, r2, r0, r6\n smlad r10, r3, r0, r10\n smlad r7, r2, r1, r7\n smlad r11, r3, r1, r11\n"
            ".endr\n ldr r0, [sp, #12]\n cmp lr, r0\n bne 2b\n"
            "ldr r0, [sp]\n stm r0!, {r4-r11}\n str r0, [sp]\n ldr r1, [sp, #8]\n cmp r0, r1\n bne 1b\n"
            "add sp, #16\n pop {r4-r11, pc}\n");
}

#else

CG_KERNEL uint32_t cg_winograd_add(uint32_t a, uint32_t b)
{
    return ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u));
}

CG_KERNEL uint32_t cg_winograd_sub(uint32_t a, uint32_t b)
{
    return ((a - b) & 0xffffu) | ((a & 0xffff0000u) - (b & 0xffff0000u));
}

CG_KERNEL uint32_t cg_winograd_widen(uint32_t word, int32_t odd)
{
    int8_t x[4];
    memcpy(x, &word, sizeof x);
    return ((uint32_t)x[odd] & 0xffffu) | ((uint32_t)x[odd + 2] << 16);
}

#endif

/* Words of the stream of two channels. */
CG_KERNEL int32_t cg_winograd_pair_words(const cg_conv_2d_winograd_dsp_args *a)
{
    return CG_WINOGRAD_POINTS * a->channels_in + 8;
}

/* products[point][channel][tile] of two channels. */
CG_KERNEL void cg_winograd_products(int32_t *products, const uint32_t *tiles, const int32_t *stream,
                                    const cg_conv_2d_winograd_dsp_args *a)
{
#ifdef CG_DSP_ASM
    cg_winograd_asm(tiles, stream, products, 8 * a->channels_in);
#else
    for (int32_t i = 0; i < 2 * CG_WINOGRAD_POINTS * CG_WINOGRAD_TILES; i++) {
        const int32_t point = i >> 3, channel = (i >> 2) & 1, tile = i & 3;
        uint32_t sum = 0;
        for (int32_t k = point * a->channels_in / 2; k < (point + 1) * a->channels_in / 2; k++) {
            const int32_t w = stream[2 * k + channel];
            const uint32_t v = tiles[CG_WINOGRAD_TILES * k + tile];
            sum += (uint32_t)((int16_t)w * (int16_t)v);
            sum += (uint32_t)((int16_t)(w >> 16) * (int16_t)(v >> 16));
        }
        products[i] = (int32_t)sum;
    }
#endif
}

/* Column j of d from c on, in B d: one of two halves of a word of channels. */
CG_KERNEL void cg_winograd_column(uint32_t t[4][4], const int8_t *const *p, int32_t j, int32_t c,
                                  int32_t odd)
{
    const uint32_t d0 = cg_winograd_widen(cg_load4(p[j] + c), odd);
    const uint32_t d1 = cg_winograd_widen(cg_load4(p[4 + j] + c), odd);
    const uint32_t d2 = cg_winograd_widen(cg_load4(p[8 + j] + c), odd);
    const uint32_t d3 = cg_winograd_widen(cg_load4(p[12 + j] + c), odd);
    t[0][j] = cg_winograd_sub(d0, d2);
    t[1][j] = cg_winograd_add(d1, d2);
    t[2][j] = cg_winograd_sub(d2, d1);
    t[3][j] = cg_winograd_sub(d1, d3);
}

/* A row of B d, in B d B'; points lie `point` words apart. */
CG_KERNEL void cg_winograd_row(uint32_t *v, const uint32_t t[4], int32_t point)
{
    v[0] = cg_winograd_sub(t[0], t[2]);
    v[point] = cg_winograd_add(t[1], t[2]);
    v[2 * point] = cg_winograd_sub(t[2], t[1]);
    v[3 * point] = cg_winograd_sub(t[1], t[3]);
}

CG_KERNEL void cg_winograd_half(uint32_t *v, const int8_t *const *p, int32_t c, int32_t odd, int32_t point)
{
    uint32_t t[4][4];
    cg_winograd_column(t, p, 0, c, odd);
    cg_winograd_column(t, p, 1, c, odd);
    cg_winograd_column(t, p, 2, c, odd);
    cg_winograd_column(t, p, 3, c, odd);
    cg_winograd_row(v, t[0], point);
    cg_winograd_row(v + 4 * point, t[1], point);
    cg_winograd_row(v + 8 * point, t[2], point);
    cg_winograd_row(v + 12 * point, t[3], point);
}

/* B d B' of one tile, whose 16 pixels p points to. */
CG_KERNEL void cg_winograd_tile(uint32_t *tiles, const int8_t *const *p,
                                const cg_conv_2d_winograd_dsp_args *a)
{
    const int32_t point = CG_WINOGRAD_TILES * a->channels_in / 2;
    for (int32_t c = 0; c < a->channels_in; c += 4, tiles += 2 * CG_WINOGRAD_TILES) {
        cg_winograd_half(tiles, p, c, 0, point);
        cg_winograd_half(tiles + CG_WINOGRAD_TILES, p, c, 1, point);
    }
}

/* How the sums of one channel become codes. */
typedef struct {
    int32_t start, multiplier, summands, shift;
    int32_t is_signed, act_min, act_max;
} cg_winograd_scale;

/* The code of four times a sum of products. */
CG_KERNEL int8_t cg_winograd_code(uint32_t four, const cg_winograd_scale *s)
{
    const int32_t x = cg_high_mul_rounded(((int32_t)four >> 1) + 2 * s->start, s->multiplier);
    const int32_t signs = s->is_signed != 0 ? x >> 31 : 0;
    return cg_code8((x + signs + s->summands) >> s->shift, s->act_min, s->act_max);
}

/* The upper and the lower element of A' times a column of products, which lie 8 words apart. */
CG_KERNEL uint32_t cg_winograd_upper(const int32_t *p)
{
    return 2u * (uint32_t)p[0] + (uint32_t)p[32] + (uint32_t)p[64];
}

CG_KERNEL uint32_t cg_winograd_lower(const int32_t *p)
{
    return (uint32_t)p[32] - (uint32_t)p[64] - 2u * (uint32_t)p[96];
}

/* The outputs of one tile and channel: two pixels of one row. */
CG_KERNEL void cg_winograd_pixels(int8_t *out, int32_t pixel, int32_t two, uint32_t e0, uint32_t e1,
                                  uint32_t e2, uint32_t e3, const cg_winograd_scale *s)
{
    out[0] = cg_winograd_code(2u * e0 + e1 + e2, s);
    if (two != 0) {
        out[pixel] = cg_winograd_code(e1 - e2 - 2u * e3, s);
    }
}

/* Up to four tiles of a band of two output rows. */
typedef struct {
    int32_t oy, ox;                   /* the first tile's upper left output */
    int32_t count;                    /* of tiles */
    int32_t columns;                  /* of outputs in them: twice count, or 1 less */
    int32_t rows;                     /* of outputs: 2, or 1 in a range's last row */
} cg_winograd_group;

/* Brings the tiles' inputs into B d B'. */
CG_KERNEL void cg_winograd_inputs(uint32_t *tiles, const cg_winograd_group *g,
                                  const cg_conv_2d_winograd_dsp_args *a, const cg_src *x)
{
    for (int32_t tile = 0; tile < g->count; tile++) {
        const int8_t *p[16];
        for (int32_t i = 0; i < 16; i++) {
            const int32_t row = g->oy - a->pad_top + (i >> 2);
            const int32_t col = g->ox + 2 * tile - a->pad_left + (i & 3);
            const int inside = row >= 0 && row < a->in_h && col >= 0 && col < a->in_w;
            p[i] = inside ? (const int8_t *)cg_at(x, row, col) : a->zeros;
        }
        cg_winograd_tile(tiles + tile, p, a);
    }
}

/* One channel of every tile; out is its first output, `row` bytes before the one below. */
CG_KERNEL void cg_winograd_put(int8_t *out, int32_t pixel, ptrdiff_t row, const int32_t *products,
                               const cg_winograd_scale *s, const cg_winograd_group *g)
{
    for (int32_t tile = 0; tile < g->count; tile++, products++, out += 2 * pixel) {
        const int32_t two = 2 * tile + 1 < g->columns;
        cg_winograd_pixels(out, pixel, two, cg_winograd_upper(products), cg_winograd_upper(products + 8),
                           cg_winograd_upper(products + 16), cg_winograd_upper(products + 24), s);
        if (g->rows > 1) {
            cg_winograd_pixels(out + row, pixel, two, cg_winograd_lower(products),
                               cg_winograd_lower(products + 8), cg_winograd_lower(products + 16),
                               cg_winograd_lower(products + 24), s);
        }
    }
}

/* All channels of every tile. */
CG_KERNEL void cg_winograd_channels(const cg_winograd_group *g, const cg_conv_2d_winograd_dsp_args *a,
                                    const cg_dst *y, const cg_range *r, const uint32_t *tiles,
                                    int32_t *products)
{
    const int32_t words = cg_winograd_pair_words(a);
    const int32_t *stream = a->stream + (ptrdiff_t)(r->c0 >> 1) * words;
    int8_t *out = (int8_t *)cg_put(y, g->oy, g->ox);
    const ptrdiff_t row = g->rows > 1 ? (int8_t *)cg_put(y, g->oy + 1, g->ox) - out : 0;
    for (int32_t c = r->c0; c < r->c1; c += 2, stream += words) {
        const int32_t *k = stream + CG_WINOGRAD_POINTS * a->channels_in;
        cg_winograd_products(products, tiles, stream, a);
        for (int32_t odd = 0; odd < cg_min(2, r->c1 - c); odd++) {
            const int32_t *m = k + 2 + 3 * odd;
            const cg_winograd_scale scale = {
                k[odd], m[0], m[1], m[2], a->is_signed, a->act_min, a->act_max,
            };
            cg_winograd_put(out + c + odd, y->pixel, row, products + 4 * odd, &scale, g);
        }
    }
}

/* The layers of a model share this one: only its arguments differ. */
CG_SHARED void cg_conv_2d_winograd_dsp_run(const cg_conv_2d_winograd_dsp_args *a, const cg_src *x,
                                           const cg_dst *y, const cg_range *r, void *scratch)
{
    uint32_t *tiles = (uint32_t *)scratch;
    int32_t *products = (int32_t *)scratch + 32 * a->channels_in;
    for (int32_t oy = r->y0; oy < r->y1; oy += 2) {
        for (int32_t ox = r->x0; ox < r->x1; ox += 2 * CG_WINOGRAD_TILES) {
            const int32_t columns = cg_min(r->x1 - ox, 2 * CG_WINOGRAD_TILES);
            const cg_winograd_group g = {
                oy, ox, (columns + 1) / 2, columns, cg_min(r->y1 - oy, 2),
            };
            cg_winograd_inputs(tiles, &g, a, x);
            cg_winograd_channels(&g, a, y, r, tiles, products);
        }
    }
}

CG_KERNEL void cg_conv_2d_winograd_dsp_s8(const cg_conv_2d_winograd_dsp_args *a, const cg_src *x,
                                          const cg_dst *y, const cg_range *r, void *scratch)
{
    cg_conv_2d_winograd_dsp_run(a, x, y, r, scratch);
}

#endif
