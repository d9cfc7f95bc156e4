/* SPDX-License-Identifier: 0BSD
 *
 * What the int8 kernels for Helium (Cortex-M55, M85) share: dot products of packed weights, and the
 * way from int32 sums to int8 codes.
 *
 * Packed weights are a stream of blocks of four out channels, in words:
 *
 *     4 x int32   bias, into which the input's zero point is folded
 *     4 x 16      weights of inputs 0..15, one channel after the other
 *     4 x 16      weights of inputs 16..31
 *     ...
 *     4 x rest    weights of the last depth % 16 inputs
 *
 * The table ends with the few bytes that the last vector reads in vain. Beside it lies the table of
 * scales: 4 multipliers, then 4 shifts (negative: to the right) for every block.
 *
 * VMLADAVA adds sixteen products to one even core register. Eight of those registers are free, so
 * a block of sums is eight wide: two pixels by four channels, or one pixel by eight. Compilers run
 * short of even registers there, which is why these loops are written in assembly.
 *
 * Everything is also there in plain C, for cores without Helium, for -O0, where the registers are
 * not free, and for compilers other than GCC; both give the same bytes.
 */
#ifndef CG_MVE_H
#define CG_MVE_H

#include "cg_fixed_point.h"

#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__) \
    && defined(__GNUC__) && !defined(__clang__)
#define CG_MVE 1
#include <arm_mve.h>
#else
#define CG_MVE 0
#endif

/* How sums become codes. */
enum {
    CG_MVE_ONCE,                      /* one rounding, halves upwards; shifts <= 0 */
    CG_MVE_TWICE_POSITIVE,            /* two roundings; negative results are clamped away; shifts <= 0 */
    CG_MVE_TWICE_RIGHT,               /* two roundings; shifts < 0 */
    CG_MVE_TWICE                      /* two roundings; any shift */
};

/* A layer whose outputs are dot products of `depth` inputs and packed weights. */
typedef struct {
    int32_t depth, channels;
    int32_t rounding;                 /* CG_MVE_... */
    int32_t output_offset;
    int32_t act_min, act_max;
    const int32_t *weights;
    const int32_t *scales;
} cg_mve_layer;

/* Words of packed weights per block of four channels. */
CG_KERNEL int32_t cg_mve_block(const cg_mve_layer *l)
{
    return 4 + l->depth;
}

/* Eight sums: two pixels by four channels, or one pixel by two blocks of four channels. */
typedef struct {
#if CG_MVE
    int32x4_t a, b;
#else
    int32_t a[4], b[4];
#endif
} cg_mve_sums;

/* The four sums of one pixel and the block at `w`, in plain C. */
CG_KERNEL void cg_mve_dot_1x4(int32_t sums[4], const int32_t *w, const int8_t *x, int32_t depth)
{
    const int8_t *q = (const int8_t *)(w + 4);
    for (int32_t j = 0; j < 4; j++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < depth; k++) {
            const int32_t first = k - k % 16;
            const int32_t width = cg_min(depth - first, 16);
            sum += x[k] * q[first * 4 + j * width + k % 16];
        }
        sums[j] = cg_add32(w[j], sum);
    }
}

/* The code of one sum. */
CG_KERNEL int8_t cg_mve_code(const cg_mve_layer *l, int32_t sum, int32_t multiplier, int32_t shift)
{
    int32_t v;
    if (l->rounding == CG_MVE_ONCE) {
        const int64_t high = ((int64_t)sum * multiplier) >> 32;
        v = (int32_t)(shift < 0 ? (high + ((int64_t)1 << (-shift - 1))) >> -shift : high);
    } else {
        v = cg_requantize_twice(sum, multiplier, shift);
    }
    return (int8_t)cg_clamp(v + l->output_offset, l->act_min, l->act_max);
}

#if CG_MVE

/* Sixteen inputs of two pixels, in X and Y, times four weight vectors STEP bytes apart. */
#define CG_MVE_STEP_2X4(X, Y, STEP)                                                   \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r0, " X ", %q[t]\n\t"           \
    "vmladava.s8 r8, " Y ", %q[t]\n\t"                                                \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r2, " X ", %q[t]\n\t"           \
    "vmladava.s8 r10, " Y ", %q[t]\n\t"                                               \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r4, " X ", %q[t]\n\t"           \
    "vmladava.s8 r12, " Y ", %q[t]\n\t"                                               \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r6, " X ", %q[t]\n\t"           \
    "vmladava.s8 lr, " Y ", %q[t]\n\t"
#define CG_MVE_LOAD_2X4                                                               \
    "vldrb.u8 %q[a], [%[x]], #16\n\tvldrb.u8 %q[b], [%[y]], #16\n\t"                  \
    CG_MVE_STEP_2X4("%q[a]", "%q[b]", "16")
#define CG_MVE_REST_2X4                                                               \
    "vpstt\n\tvldrbt.u8 %q[a], [%[x]]\n\tvldrbt.u8 %q[b], [%[y]]\n\t"                 \
    CG_MVE_STEP_2X4("%q[a]", "%q[b]", "%c[rest]")

/* Sixteen inputs of one pixel times four weight vectors from each of two streams. */
#define CG_MVE_STEP_1X8(STEP)                                                         \
    "vldrb.u8 %q[b], [%[w]], #" STEP "\n\tvmladava.s8 r0, %q[a], %q[b]\n\t"           \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r2, %q[a], %q[t]\n\t"           \
    "vldrb.u8 %q[b], [%[w]], #" STEP "\n\tvmladava.s8 r4, %q[a], %q[b]\n\t"           \
    "vldrb.u8 %q[t], [%[w]], #" STEP "\n\tvmladava.s8 r6, %q[a], %q[t]\n\t"           \
    "vldrb.u8 %q[b], [%[y]], #" STEP "\n\tvmladava.s8 r8, %q[a], %q[b]\n\t"           \
    "vldrb.u8 %q[t], [%[y]], #" STEP "\n\tvmladava.s8 r10, %q[a], %q[t]\n\t"          \
    "vldrb.u8 %q[b], [%[y]], #" STEP "\n\tvmladava.s8 r12, %q[a], %q[b]\n\t"          \
    "vldrb.u8 %q[t], [%[y]], #" STEP "\n\tvmladava.s8 lr, %q[a], %q[t]\n\t"
#define CG_MVE_LOAD_1X8 "vldrb.u8 %q[a], [%[x]], #16\n\t" CG_MVE_STEP_1X8("16")
#define CG_MVE_REST_1X8 "vpst\n\tvldrbt.u8 %q[a], [%[x]]\n\t" CG_MVE_STEP_1X8("%c[rest]")

/* All of depth: `blocks` whole vectors, `unroll` of them per turn, and the rest, whose surplus lanes
 * are loaded as 0. The assembler leaves out what is not asked for. */
#define CG_MVE_TURNS(LOAD, REST)                                                      \
    ".if %c[blocks] > 0\n\t"                                                          \
    ".if %c[blocks] > %c[unroll]\n\tmov %[n], #%c[blocks] / %c[unroll]\n\t.endif\n"   \
    "1:\n\t" LOAD                                                                     \
    ".if %c[unroll] > 1\n\t" LOAD ".endif\n\t"                                        \
    ".if %c[unroll] > 2\n\t" LOAD ".endif\n\t"                                        \
    ".if %c[unroll] > 3\n\t" LOAD ".endif\n\t"                                        \
    ".if %c[blocks] > %c[unroll]\n\tsubs %[n], #1\n\tbne 1b\n\t.endif\n\t"            \
    ".endif\n\t"                                                                      \
    ".if %c[rest] > 0\n\tmov %[n], #%c[rest]\n\tvctp.8 %[n]\n\t" REST ".endif\n\t"

/* The two times four sums as two vectors. */
#define CG_MVE_RESULT                                                                 \
    "vmov %q[a][2], %q[a][0], r0, r4\n\tvmov %q[a][3], %q[a][1], r2, r6\n\t"          \
    "vmov %q[b][2], %q[b][0], r8, r12\n\tvmov %q[b][3], %q[b][1], r10, lr\n\t"

#define CG_MVE_CONSTANTS                                                              \
    [blocks] "i"(depth / 16), [unroll] "i"(cg_mve_unroll(depth / 16)), [rest] "i"(depth % 16)
#define CG_MVE_CLOBBERS                                                               \
    "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "p0", "cc", "memory"

/* Vectors per turn of a loop: all of them if there are few. */
CG_KERNEL int32_t cg_mve_unroll(int32_t blocks)
{
    return blocks > 0 && blocks <= 4 ? blocks : blocks % 4 == 0 ? 4 : blocks % 3 == 0 ? 3
         : blocks % 2 == 0 ? 2 : 1;
}

/* For compilers that do not see that `depth` is a constant. */
CG_KERNEL cg_mve_sums cg_mve_dot_unknown(const int32_t *w0, const int32_t *w1, const int8_t *x,
                                         const int8_t *y, int32_t depth)
{
    int32_t sums[8];
    cg_mve_dot_1x4(sums, w0, x, depth);
    cg_mve_dot_1x4(sums + 4, w1, y, depth);
    return (cg_mve_sums){ vldrwq_s32(sums), vldrwq_s32(sums + 4) };
}

/* Pixels x and y by the four channels of the block at `*stream`, which moves on to the next. */
CG_KERNEL cg_mve_sums cg_mve_dot_2x4(const int32_t **stream, const int8_t *x, const int8_t *y,
                                     int32_t depth)
{
    const int32_t *w = *stream;
    if (!__builtin_constant_p(depth)) {
        *stream = w + 4 + depth;
        return cg_mve_dot_unknown(w, w, x, y, depth);
    }
    cg_mve_sums s;
    int8x16_t t;
    int32_t n;
    __asm__ volatile(
        "ldm %[w], {r0, r2, r4, r6}\n\tldm %[w]!, {r8, r10, r12, lr}\n\t"
        CG_MVE_TURNS(CG_MVE_LOAD_2X4, CG_MVE_REST_2X4) CG_MVE_RESULT
        : [a] "=&w"(s.a), [b] "=&w"(s.b), [t] "=&w"(t), [n] "=&r"(n),
          [w] "+r"(w), [x] "+r"(x), [y] "+r"(y)
        : CG_MVE_CONSTANTS
        : CG_MVE_CLOBBERS);
    *stream = w;
    return s;
}

/* The same for at most 32 inputs, which the caller keeps in registers: x0, y0 the first sixteen. */
CG_KERNEL cg_mve_sums cg_mve_dot_2x4_kept(const int32_t **stream, int8x16_t x0, int8x16_t x1,
                                          int8x16_t y0, int8x16_t y1, int32_t depth)
{
    const int32_t *w = *stream;
    cg_mve_sums s;
    int8x16_t t;
    __asm__ volatile(
        "ldm %[w], {r0, r2, r4, r6}\n\tldm %[w]!, {r8, r10, r12, lr}\n\t"
        ".if %c[depth] >= 16\n\t" CG_MVE_STEP_2X4("%q[x0]", "%q[y0]", "16")
        ".else\n\t" CG_MVE_STEP_2X4("%q[x0]", "%q[y0]", "%c[depth]") ".endif\n\t"
        ".if %c[depth] == 32\n\t" CG_MVE_STEP_2X4("%q[x1]", "%q[y1]", "16")
        ".elseif %c[depth] > 16\n\t" CG_MVE_STEP_2X4("%q[x1]", "%q[y1]", "%c[depth] - 16") ".endif\n\t"
        CG_MVE_RESULT
        : [a] "=&w"(s.a), [b] "=&w"(s.b), [t] "=&w"(t), [w] "+r"(w)
        : [x0] "w"(x0), [x1] "w"(x1), [y0] "w"(y0), [y1] "w"(y1), [depth] "i"(depth)
        : CG_MVE_CLOBBERS);
    *stream = w;
    return s;
}

/* Pixel x by the eight channels of the blocks at `w` and `y`. */
CG_KERNEL cg_mve_sums cg_mve_dot_1x8(const int32_t *w, const int32_t *y, const int8_t *x, int32_t depth)
{
    if (!__builtin_constant_p(depth)) {
        return cg_mve_dot_unknown(w, y, x, x, depth);
    }
    cg_mve_sums s;
    int8x16_t t;
    int32_t n;
    __asm__ volatile(
        "ldm %[w]!, {r0, r2, r4, r6}\n\tldm %[y]!, {r8, r10, r12, lr}\n\t"
        CG_MVE_TURNS(CG_MVE_LOAD_1X8, CG_MVE_REST_1X8) CG_MVE_RESULT
        : [a] "=&w"(s.a), [b] "=&w"(s.b), [t] "=&w"(t), [n] "=&r"(n),
          [w] "+r"(w), [x] "+r"(x), [y] "+r"(y)
        : CG_MVE_CONSTANTS
        : CG_MVE_CLOBBERS);
    return s;
}

/* The first n of sixteen bytes, the others 0; all of them from n = 16. */
CG_KERNEL int8x16_t cg_mve_load(const int8_t *p, int32_t n)
{
    return n >= 16 ? vldrbq_s8(p) : vldrbq_z_s8(p, vctp8q((uint32_t)n));
}

/* Four sums, each times its channel's scale at `scales`. */
CG_KERNEL int32x4_t cg_mve_rounded(const cg_mve_layer *l, int32x4_t v, const int32_t *scales)
{
    const int32x4_t multiplier = vldrwq_s32(scales);
    int32x4_t shift = vldrwq_s32(scales + 4);
    if (l->rounding == CG_MVE_ONCE) {
        return vrshlq_s32(vmulhq_s32(v, multiplier), shift);
    }
    if (l->rounding == CG_MVE_TWICE) {
        v = vshlq_s32(v, vmaxq_s32(shift, vdupq_n_s32(0)));
        shift = vminq_s32(shift, vdupq_n_s32(0));
    }
    v = vqrdmulhq_s32(v, multiplier);
    if (l->rounding == CG_MVE_TWICE_RIGHT) {
        v = vaddq_s32(v, vshrq_n_s32(v, 31));
    } else if (l->rounding == CG_MVE_TWICE) {
        v = vaddq_s32(v, vshrq_n_s32(vandq_s32(v, shift), 31));
    }
    return vrshlq_s32(v, shift);
}

/* Rounded sums plus the zero point, clamped, in the order a0 b0 a1 b1 ... */
CG_KERNEL int16x8_t cg_mve_clamped(const cg_mve_layer *l, int32x4_t a, int32x4_t b)
{
    int16x8_t v = vqmovntq_s32(vqmovnbq_s32(vreinterpretq_s16_s32(a), a), b);
    v = vqaddq_n_s16(v, (int16_t)l->output_offset);
    if (l->act_min > INT8_MIN) {
        v = vmaxq_s16(v, vdupq_n_s16((int16_t)l->act_min));
    }
    if (l->act_max < INT8_MAX) {
        v = vminq_s16(v, vdupq_n_s16((int16_t)l->act_max));
    }
    return v;
}

/* Codes of up to four channels from s.a and from s.b, each with its scales, place and channels
 * that are left there. */
CG_KERNEL void cg_mve_put(const cg_mve_layer *l, cg_mve_sums s, const int32_t *scales_a,
                          const int32_t *scales_b, int8_t *out_a, int8_t *out_b,
                          int32_t left_a, int32_t left_b)
{
    const int32x4_t a = cg_mve_rounded(l, s.a, scales_a);
    const int32x4_t b = cg_mve_rounded(l, s.b, scales_b);
    const int16x8_t v = cg_mve_clamped(l, a, b);
    const int32x4_t codes = vreinterpretq_s32_s8(vqmovnbq_s16(vreinterpretq_s8_s16(v), v));
    if (l->channels % 4 != 0) {
        vstrbq_p_s32(out_a, codes, vctp32q((uint32_t)left_a));
        vstrbq_p_s32(out_b, vshrq_n_s32(codes, 16), vctp32q((uint32_t)left_b));
    } else {
        vstrbq_s32(out_a, codes);
        vstrbq_s32(out_b, vshrq_n_s32(codes, 16));
    }
}

#else

CG_KERNEL cg_mve_sums cg_mve_dot_2x4(const int32_t **stream, const int8_t *x, const int8_t *y,
                                     int32_t depth)
{
    cg_mve_sums s;
    cg_mve_dot_1x4(s.a, *stream, x, depth);
    cg_mve_dot_1x4(s.b, *stream, y, depth);
    *stream += 4 + depth;
    return s;
}

CG_KERNEL cg_mve_sums cg_mve_dot_1x8(const int32_t *w, const int32_t *y, const int8_t *x, int32_t depth)
{
    cg_mve_sums s;
    cg_mve_dot_1x4(s.a, w, x, depth);
    cg_mve_dot_1x4(s.b, y, x, depth);
    return s;
}

CG_KERNEL void cg_mve_put(const cg_mve_layer *l, cg_mve_sums s, const int32_t *scales_a,
                          const int32_t *scales_b, int8_t *out_a, int8_t *out_b,
                          int32_t left_a, int32_t left_b)
{
    for (int32_t j = 0; j < cg_min(left_a, 4); j++) {
        out_a[j] = cg_mve_code(l, s.a[j], scales_a[j], scales_a[4 + j]);
    }
    for (int32_t j = 0; j < cg_min(left_b, 4); j++) {
        out_b[j] = cg_mve_code(l, s.b[j], scales_b[j], scales_b[4 + j]);
    }
}

#endif

#if CG_MVE

/* Copies n bytes and returns the end of the copy; up to 15 bytes behind it may be written too. */
CG_KERNEL int8_t *cg_mve_copy(int8_t *to, const int8_t *from, int32_t n)
{
    int32_t done = 0;
    for (; done + 16 <= n; done += 16) {
        vstrbq_s8(to + done, vldrbq_s8(from + done));
    }
    if (n % 16 != 0) {
        vstrbq_s8(to + done, cg_mve_load(from + done, n % 16));
    }
    return to + n;
}

/* The same with one value instead of a source. */
CG_KERNEL int8_t *cg_mve_fill(int8_t *to, int8_t value, int32_t n)
{
    for (int32_t done = 0; done < n; done += 16) {
        vstrbq_s8(to + done, vdupq_n_s8(value));
    }
    return to + n;
}

#else

CG_KERNEL int8_t *cg_mve_copy(int8_t *to, const int8_t *from, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        to[k] = from[k];
    }
    return to + n;
}

CG_KERNEL int8_t *cg_mve_fill(int8_t *to, int8_t value, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        to[k] = value;
    }
    return to + n;
}

#endif

/* Channels [r->c0, r->c1) of two pixels; c0 is a multiple of 4. */
CG_KERNEL void cg_mve_two_pixels(const cg_mve_layer *l, const cg_range *r, const int8_t *x,
                                 const int8_t *y, int8_t *out_x, int8_t *out_y)
{
    const int32_t *w = l->weights + r->c0 / 4 * cg_mve_block(l);
    const int32_t *scales = l->scales + r->c0 * 2;
#if CG_MVE
    if (__builtin_constant_p(l->depth) && l->depth <= 32) {
        const int8x16_t x0 = cg_mve_load(x, l->depth), y0 = cg_mve_load(y, l->depth);
        const int8x16_t x1 = l->depth > 16 ? cg_mve_load(x + 16, l->depth - 16) : x0;
        const int8x16_t y1 = l->depth > 16 ? cg_mve_load(y + 16, l->depth - 16) : y0;
        for (int32_t c = r->c0; c < r->c1; c += 4) {
            const int32_t left = r->c1 - c;
            const cg_mve_sums s = cg_mve_dot_2x4_kept(&w, x0, x1, y0, y1, l->depth);
            cg_mve_put(l, s, scales, scales, out_x + c, out_y + c, left, left);
            scales += 8;
        }
        return;
    }
#endif
    for (int32_t c = r->c0; c < r->c1; c += 4) {
        const int32_t left = r->c1 - c;
        const cg_mve_sums s = cg_mve_dot_2x4(&w, x, y, l->depth);
        cg_mve_put(l, s, scales, scales, out_x + c, out_y + c, left, left);
        scales += 8;
    }
}

/* The same for one pixel. An odd last block of channels is computed twice. */
CG_KERNEL void cg_mve_one_pixel(const cg_mve_layer *l, const cg_range *r, const int8_t *x, int8_t *out)
{
    const int32_t block = cg_mve_block(l);
    const int32_t *w = l->weights + r->c0 / 4 * block;
    const int32_t *scales = l->scales + r->c0 * 2;
    for (int32_t c = r->c0; c < r->c1; c += 8) {
        const int32_t second = c + 4 < r->c1 ? 1 : 0;
        const cg_mve_sums s = cg_mve_dot_1x8(w, w + second * block, x, l->depth);
        int8_t *o = out + c;
        const int32_t left = r->c1 - c;
        cg_mve_put(l, s, scales, scales + second * 8, o, o + second * 4, left, left - second * 4);
        w += 2 * block;
        scales += 16;
    }
}

#endif
