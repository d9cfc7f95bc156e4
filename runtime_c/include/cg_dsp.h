/* SPDX-License-Identifier: 0BSD
 *
 * What kernels for cores with the DSP extension (Cortex-M4, M7, M33) share.
 *
 * Where CG_DSP_ASM is defined, inner loops are assembly: they need all of the registers, which no
 * compiler grants to C. Everywhere else C does the same on the same packed data, and gives the same bytes.
 */
#ifndef CG_DSP_H
#define CG_DSP_H

#include "cg_view.h"

#if defined(__GNUC__) && defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && !defined(__ARM_BIG_ENDIAN) \
    && !defined(CG_NO_ASSEMBLY)
#define CG_DSP_ASM
#endif

/* How far loops in assembly are unrolled, and the same less 1. */
#ifdef CG_OPTIMIZE_SIZE
#define CG_DSP_TURNS "2"
#define CG_DSP_TURNS_MASK "1"
#else
#define CG_DSP_TURNS "8"
#define CG_DSP_TURNS_MASK "7"
#endif

/* A function that the layers of a model share instead of inlining it. With --optimize size they
 * share what calls it. */
#if defined(CG_OPTIMIZE_SIZE)
#define CG_SHARED CG_KERNEL
#elif defined(__GNUC__) || defined(__clang__)
#define CG_SHARED __attribute__((unused)) static CG_NOINLINE
#else
#define CG_SHARED static CG_NOINLINE
#endif

/* A function whose body is assembly. Its name ends in _asm; it takes at most 96 bytes of stack. */
#define CG_ASM __attribute__((naked, unused)) static CG_NOINLINE
/* Its parameters, which only the assembly sees. */
#define CG_IN __attribute__((unused))

/* The upper half of a * b; halves are rounded up if `half` is 2^31, down if it is 0. */
CG_KERNEL int32_t cg_high_mul(int32_t a, int32_t b, int64_t half)
{
    return (int32_t)(((int64_t)a * b + half) >> 32);
}

/* The upper half of a * b, halves rounded up: what SMMULR does. */
CG_KERNEL int32_t cg_high_mul_rounded(int32_t a, int32_t b)
{
#ifdef CG_DSP_ASM
    int32_t high;
    __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
    return high;
#else
    return cg_high_mul(a, b, (int64_t)1 << 31);
#endif
}

/* What SSAT #8 does. */
CG_KERNEL int8_t cg_saturate8(int32_t v)
{
#ifdef CG_DSP_ASM
    __asm__("ssat %0, #8, %0" : "+r"(v));
    return (int8_t)v;
#else
    return (int8_t)cg_clamp(v, -128, 127);
#endif
}

/* The same with a clamp that may be tighter. */
CG_KERNEL int8_t cg_code8(int32_t v, int32_t low, int32_t high)
{
    const int8_t code = cg_saturate8(v);
    return low == -128 && high == 127 ? code : (int8_t)cg_clamp(code, low, high);
}

/* Holds n pixels' channels to a clamp that is tighter than int8; `stride` bytes between pixels. */
CG_KERNEL void cg_clamp_pixels(int8_t *out, int32_t n, int32_t stride, int32_t channels, int32_t low,
                               int32_t high)
{
    if (low == -128 && high == 127) {
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t c = 0; c < channels; c++) {
            out[i * stride + c] = (int8_t)cg_clamp(out[i * stride + c], low, high);
        }
    }
}

#endif
