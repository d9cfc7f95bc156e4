/* SPDX-License-Identifier: 0BSD
 *
 * What the int8 kernels for Helium (Cortex-M55, M85) share: the way from int32 sums to int8 codes, and
 * moving runs of bytes. Everything is also there in plain C, for cores without Helium, for -O0, where the registers are
 * not free, and for compilers other than GCC; both give the same bytes.
 */
#ifndef CG_MVE_H
#define CG_MVE_H

#include "cg_fixed_point.h"

#if defined(__ARM_FEATURE_MVE) && defined(__OPTIMIZE__) \
    && defined(__GNUC__) && !defined(__clang__) && !defined(CG_NO_ASSEMBLY)
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

/* How a layer makes codes of sums; depth and weights: see cg_dense_mve.h. */
typedef struct {
    int32_t depth, channels;
    int32_t rounding;                 /* CG_MVE_... */
    int32_t output_offset;
    int32_t act_min, act_max;
    const int32_t *weights;
    const int32_t *scales;
    int32_t one_scale;                /* 1: all channels have the scales of the first four */
} cg_mve_layer;

/* The scales of the four channels from c on. */
CG_KERNEL const int32_t *cg_mve_scales(const cg_mve_layer *l, int32_t c)
{
    return l->one_scale != 0 ? l->scales : l->scales + c / 4 * 8;
}

/* Eight sums: two pixels by four channels, or one pixel by two blocks of four channels. */
typedef struct {
#if CG_MVE
    int32x4_t a, b;
#else
    int32_t a[4], b[4];
#endif
} cg_mve_sums;

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

/* What blocks of assembly with eight sums overwrite. */
#define CG_MVE_CLOBBERS                                                               \
    "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "p0", "cc", "memory"

/* The first n of sixteen bytes, the others 0; all of them from n = 16. */
CG_KERNEL int8x16_t cg_mve_load(const int8_t *p, int32_t n)
{
    return n >= 16 ? vldrbq_s8(p) : vldrbq_z_s8(p, vctp8q((uint32_t)n));
}

/* How a layer rounds. Where layers share code, all that round twice do it in the way that is always right. */
CG_KERNEL int32_t cg_mve_rounding(const cg_mve_layer *l)
{
#ifdef CG_OPTIMIZE_SIZE
    return l->rounding == CG_MVE_ONCE ? CG_MVE_ONCE : CG_MVE_TWICE;
#else
    return l->rounding;
#endif
}

/* Four sums, each times its channel's scale at `scales`. */
CG_KERNEL int32x4_t cg_mve_rounded(const cg_mve_layer *l, int32x4_t v, const int32_t *scales)
{
    const int32_t rounding = cg_mve_rounding(l);
    const int32x4_t multiplier = vldrwq_s32(scales);
    int32x4_t shift = vldrwq_s32(scales + 4);
    if (rounding == CG_MVE_ONCE) {
        return vrshlq_s32(vmulhq_s32(v, multiplier), shift);
    }
    if (rounding == CG_MVE_TWICE) {
        v = vshlq_s32(v, vmaxq_s32(shift, vdupq_n_s32(0)));
        shift = vminq_s32(shift, vdupq_n_s32(0));
    }
    v = vqrdmulhq_s32(v, multiplier);
    if (rounding == CG_MVE_TWICE_RIGHT) {
        v = vaddq_s32(v, vshrq_n_s32(v, 31));
    } else if (rounding == CG_MVE_TWICE) {
        v = vaddq_s32(v, vshrq_n_s32(vandq_s32(v, shift), 31));
    }
    return vrshlq_s32(v, shift);
}

/* Codes of up to four channels, `left` of which are left. */
CG_KERNEL void cg_mve_put_4(const cg_mve_layer *l, int32x4_t sums, const int32_t *scales, int8_t *out,
                            int32_t left)
{
    int32x4_t v = vqaddq_n_s32(cg_mve_rounded(l, sums, scales), l->output_offset);
    v = vminq_s32(vmaxq_s32(v, vdupq_n_s32(l->act_min)), vdupq_n_s32(l->act_max));
    vstrbq_p_s32(out, v, vctp32q((uint32_t)left));
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

/* The same where up to 15 bytes behind the source may be read. */
CG_KERNEL int8_t *cg_mve_copy_vectors(int8_t *to, const int8_t *from, int32_t n)
{
    for (int32_t done = 0; done < n; done += 16) {
        vstrbq_s8(to + done, vldrbq_s8(from + done));
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

CG_KERNEL int8_t *cg_mve_copy_vectors(int8_t *to, const int8_t *from, int32_t n)
{
    return cg_mve_copy(to, from, n);
}

CG_KERNEL int8_t *cg_mve_fill(int8_t *to, int8_t value, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        to[k] = value;
    }
    return to + n;
}

#endif

#endif
