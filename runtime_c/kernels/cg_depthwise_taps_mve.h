/* SPDX-License-Identifier: 0BSD
 *
 * DEPTHWISE_CONV_2D, int8, for Helium, by taps: one out channel per in channel, filters of up to 16 taps.
 *
 * The taps of one output and up to sixteen channels are interleaved into the scratch memory, so that one
 * load gathers all taps of a channel.
 */
#ifndef CG_DEPTHWISE_TAPS_MVE_H
#define CG_DEPTHWISE_TAPS_MVE_H

#include "cg_dense_mve.h"
#include "cg_interleave_mve.h"

typedef struct {
    int32_t in_h, in_w;               /* the whole input map */
    int32_t filter_h, filter_w;       /* at most 16 taps */
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t padded;                   /* whether windows leave the map */
    int32_t input_zero;
    cg_mve_layer layer;               /* weights per 8 channels: 8 biases, then 16 taps of each */
} cg_depthwise_taps_mve_args;

/* One output of channel c in plain C; (iy, ix) is its first input position. */
CG_KERNEL int8_t cg_depthwise_taps_one(const cg_depthwise_taps_mve_args *a, const cg_src *x,
                                       int32_t iy, int32_t ix, int32_t c)
{
    const int32_t *block = a->layer.weights + c / 8 * 40;
    const int32_t *scales = a->layer.scales + c / 4 * 8 + c % 4;
    const int8_t *w = (const int8_t *)(block + 8) + c % 8 * 16;
    int32_t sum = block[c % 8];
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t row = iy + ky * a->dilation_h, col = ix + kx * a->dilation_w;
            const int32_t inside = row >= 0 && row < a->in_h && col >= 0 && col < a->in_w;
            const int32_t v = inside ? ((const int8_t *)cg_at(x, row, col))[c] : a->input_zero;
            sum = cg_add32(sum, v * w[ky * a->filter_w + kx]);
        }
    }
    return cg_mve_code(&a->layer, sum, scales[0], scales[4]);
}

#if CG_MVE

/* Where the taps of an output lie; those outside the map are at `outside`, up to the next four the
 * last one is repeated. */
CG_KERNEL void cg_depthwise_taps_find(const cg_depthwise_taps_mve_args *a, const cg_src *x, int32_t iy,
                                      int32_t ix, const int8_t *outside, const int8_t *at[16])
{
    int32_t n = 0;
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t row = iy + ky * a->dilation_h;
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t col = ix + kx * a->dilation_w;
            const int32_t inside = row >= 0 && row < a->in_h && col >= 0 && col < a->in_w;
            at[n++] = inside ? (const int8_t *)cg_at(x, row, col) : outside;
        }
    }
    for (; n % 4 != 0; n++) {
        at[n] = at[n - 1];
    }
}

/* Taps of up to sixteen channels from c on, four by four: word 16 * j + k is taps 4 * j .. of
 * channel c + k. */
CG_KERNEL void cg_depthwise_taps_interleave(const int8_t *const at[16], int32_t taps, int32_t c,
                                            int32_t channels, int8_t *t)
{
    for (int32_t j = 0; j < taps; j += 4) {
        cg_interleave_4(at[j] + c, at[j + 1] + c, at[j + 2] + c, at[j + 3] + c, channels, t);
        t += 64;
    }
}

/* Where the words of four channels are, four by four taps in one, in scratch memory `t`. */
CG_KERNEL uint32x4_t cg_depthwise_taps_words(const int8_t *t)
{
    return vaddq_n_u32(vmulq_n_u32(vidupq_n_u32(0, 1), 64), (uint32_t)(uintptr_t)t);
}

#ifdef CG_OPTIMIZE_SIZE

CG_KERNEL int32_t cg_depthwise_taps_is_fast(const cg_mve_layer *l)
{
    (void)l;
    return 1;
}

/* Channels c .. c + 3, `left` of which are left, of layers of any constants. */
CG_KERNEL void cg_depthwise_taps_4(const cg_mve_layer *l, int32_t c, int32_t left, uint32x4_t words,
                                   int8_t *out)
{
    const int32_t *block = l->weights + c / 8 * 40;
    const int32_t *bias = block + c % 8;
    const int8_t *w = (const int8_t *)(block + 8) + c % 8 * 16;
    const int32x4_t sums = {
        vmladavaq_s8(bias[0], vreinterpretq_s8_s32(vldrwq_gather_base_s32(words, 0)), vldrbq_s8(w)),
        vmladavaq_s8(bias[1], vreinterpretq_s8_s32(vldrwq_gather_base_s32(words, 4)), vldrbq_s8(w + 16)),
        vmladavaq_s8(bias[2], vreinterpretq_s8_s32(vldrwq_gather_base_s32(words, 8)), vldrbq_s8(w + 32)),
        vmladavaq_s8(bias[3], vreinterpretq_s8_s32(vldrwq_gather_base_s32(words, 12)), vldrbq_s8(w + 48)),
    };
    cg_mve_put_4(l, sums, l->scales + 2 * c, out + c, left);
}

/* All channels of one output. */
CG_KERNEL void cg_depthwise_taps_pixel(const cg_depthwise_taps_mve_args *a, const int8_t *const at[16],
                                       int8_t *out, int8_t *t)
{
    for (int32_t c = 0; c < a->layer.channels; c += 16) {
        const int32_t n = cg_min(a->layer.channels - c, 16);
        cg_depthwise_taps_interleave(at, a->filter_h * a->filter_w, c, n, t);
        for (int32_t k = 0; k < n; k += 4) {
            cg_depthwise_taps_4(&a->layer, c + k, n - k, cg_depthwise_taps_words(t + 4 * k), out);
        }
    }
}

#else

CG_KERNEL int32_t cg_depthwise_taps_is_fast(const cg_mve_layer *l)
{
    return cg_dense_is_fast(l);
}

#define CG_DEPTHWISE_TAPS(SUM, PLACE)                                                 \
    "vldrw.u32 %q[a], [%q[o], #" PLACE "]\n\tvldrb.u8 %q[b], [%[w]], #16\n\t"         \
    "vmladava.s8 " SUM ", %q[a], %q[b]\n\t"

/* Eight channels, whose words start at the first of `words`. */
CG_KERNEL void cg_depthwise_taps_8(const cg_mve_layer *l, cg_dense_at *at, uint32x4_t words)
{
    int32x4_t a, b, t;
    register const int32_t *w __asm__("r3") = at->weights;
    register const int32_t *s __asm__("r1") = at->scales;
    register int8_t *out __asm__("r5") = at->out;
    __asm__ volatile(
        "ldm %[w]!, {r0, r2, r4, r6}\n\tldm %[w]!, {r8, r10, r12, lr}\n\t"
        CG_DEPTHWISE_TAPS("r0", "0") CG_DEPTHWISE_TAPS("r2", "4") CG_DEPTHWISE_TAPS("r4", "8")
        CG_DEPTHWISE_TAPS("r6", "12") CG_DEPTHWISE_TAPS("r8", "16") CG_DEPTHWISE_TAPS("r10", "20")
        CG_DEPTHWISE_TAPS("r12", "24") CG_DEPTHWISE_TAPS("lr", "28") CG_DENSE_FINISH_1X8
        : [a] "=&w"(a), [b] "=&w"(b), [t] "=&w"(t), [w] "+r"(w), [s] "+r"(s), [out] "+r"(out)
        : [o] "w"(words), CG_DENSE_OUTPUT
        : CG_MVE_CLOBBERS);
    *at = (cg_dense_at){ w, s, out };
}

/* All channels of one output. */
CG_KERNEL void cg_depthwise_taps_pixel(const cg_depthwise_taps_mve_args *a, const int8_t *const at[16],
                                       int8_t *out, int8_t *t)
{
    const int32_t all = a->layer.channels;
    const uint32x4_t words = cg_depthwise_taps_words(t);
    cg_dense_at to = { a->layer.weights, a->layer.scales, out };
    for (int32_t c = 0; c < all; c += 16) {
        const int32_t n = all % 16 == 0 ? 16 : cg_min(all - c, 16);
        cg_depthwise_taps_interleave(at, a->filter_h * a->filter_w, c, n, t);
        for (int32_t k = 0; k + 8 <= n; k += 8) {
            cg_depthwise_taps_8(&a->layer, &to, vaddq_n_u32(words, (uint32_t)(4 * k)));
        }
        if (n % 8 != 0) {
            int8_t codes[8];
            to.out = codes;
            cg_depthwise_taps_8(&a->layer, &to, vaddq_n_u32(words, (uint32_t)(n / 8 * 32)));
            for (int32_t k = 0; k < n % 8; k++) {
                out[c + n / 8 * 8 + k] = codes[k];
            }
        }
    }
}

#endif

#endif

/* Filters of up to 16 taps; all channels. Scratch: 256 bytes, and a zero point per channel where
 * windows leave the map. */
CG_KERNEL void cg_depthwise_taps_mve_s8(const cg_depthwise_taps_mve_args *a, const cg_src *x,
                                        const cg_dst *y, const cg_range *r, void *scratch)
{
#if CG_MVE
    const int32_t fast = cg_depthwise_taps_is_fast(&a->layer);
    int8_t *outside = (int8_t *)scratch + 256;
    if (fast && a->padded != 0) {
        cg_mve_fill(outside, (int8_t)a->input_zero, a->layer.channels);
    }
#endif
    (void)scratch;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top, ix = ox * a->stride_w - a->pad_left;
            int8_t *out = (int8_t *)cg_put(y, oy, ox);
#if CG_MVE
            if (fast) {
                const int8_t *at[16];
                cg_depthwise_taps_find(a, x, iy, ix, outside, at);
                cg_depthwise_taps_pixel(a, at, out, (int8_t *)scratch);
                continue;
            }
#endif
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = cg_depthwise_taps_one(a, x, iy, ix, c);
            }
        }
    }
}

#endif
