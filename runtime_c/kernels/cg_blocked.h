/* SPDX-License-Identifier: 0BSD
 *
 * What the blocked kernels share. Plain loops over contiguous arrays: compilers for PCs turn them
 * into vector instructions, and small cores find few loads per product.
 */
#ifndef CG_BLOCKED_H
#define CG_BLOCKED_H

#include "cg_fixed_point.h"

/* From sums to codes: adds the bias, rounds twice and clamps. */
typedef struct {
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;              /* to the right, not negative */
    int32_t output_offset;
    int32_t act_min, act_max;
} cg_blocked_scale;

CG_KERNEL void cg_blocked_fill_8(int8_t *to, int32_t value, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        to[i] = (int8_t)value;
    }
}

CG_KERNEL void cg_blocked_fill_32(int32_t *to, int32_t value, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        to[i] = value;
    }
}

CG_KERNEL void cg_blocked_fill_16(int16_t *to, int32_t value, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        to[i] = (int16_t)value;
    }
}

CG_KERNEL void cg_blocked_widen(int16_t *restrict to, const int8_t *restrict from, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

/* Channels whose sums are held in registers at a time: Arm's 32-bit cores have few of them. */
#if defined(__arm__)
#define CG_BLOCKED_CHANNELS 2

CG_KERNEL void cg_blocked_rows(const int16_t *restrict p0, const int16_t *restrict p1,
                               const int8_t *const *q, int32_t depth, int32_t *s0, int32_t *s1)
{
    const int8_t *restrict q0 = q[0], *restrict q1 = q[1];
    int32_t a0 = 0, a1 = 0, b0 = 0, b1 = 0;
    for (int32_t k = 0; k < depth; k++) {
        a0 += p0[k] * q0[k];
        a1 += p0[k] * q1[k];
        b0 += p1[k] * q0[k];
        b1 += p1[k] * q1[k];
    }
    s0[0] = a0;
    s0[1] = a1;
    s1[0] = b0;
    s1[1] = b1;
}
#else
#define CG_BLOCKED_CHANNELS 4

/* Without indexed loads, each pointer of a loop costs an addition per round: take two products at a
 * time. Columns end in a zero if their length is odd, and a byte may be read behind the weights. */
#if defined(__riscv) && defined(__GNUC__)
#define CG_BLOCKED_STEP 2
#define CG_BLOCKED_UNROLL _Pragma("GCC unroll 2")
#else
#define CG_BLOCKED_STEP 1
#define CG_BLOCKED_UNROLL
#endif

CG_KERNEL void cg_blocked_rows(const int16_t *restrict p0, const int16_t *restrict p1,
                               const int8_t *const *q, int32_t depth, int32_t *s0, int32_t *s1)
{
    const int8_t *restrict q0 = q[0], *restrict q1 = q[1], *restrict q2 = q[2], *restrict q3 = q[3];
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
    for (int32_t i = 0; i < depth; i += CG_BLOCKED_STEP) {
        CG_BLOCKED_UNROLL
        for (int32_t k = i; k < i + CG_BLOCKED_STEP; k++) {
            a0 += p0[k] * q0[k];
            a1 += p0[k] * q1[k];
            a2 += p0[k] * q2[k];
            a3 += p0[k] * q3[k];
            b0 += p1[k] * q0[k];
            b1 += p1[k] * q1[k];
            b2 += p1[k] * q2[k];
            b3 += p1[k] * q3[k];
        }
    }
    s0[0] = a0;
    s0[1] = a1;
    s0[2] = a2;
    s0[3] = a3;
    s1[0] = b0;
    s1[1] = b1;
    s1[2] = b2;
    s1[3] = b3;
}
#endif

/* Sums of p0 and p1 with the weights w of n channels, at most CG_BLOCKED_CHANNELS. */
CG_KERNEL void cg_blocked_sums(const int16_t *p0, const int16_t *p1, const int8_t *w,
                               int32_t depth, int32_t n, int32_t *s0, int32_t *s1)
{
    const int8_t *q[CG_BLOCKED_CHANNELS];
    int32_t a[CG_BLOCKED_CHANNELS], b[CG_BLOCKED_CHANNELS];
    for (int32_t i = 0; i < CG_BLOCKED_CHANNELS; i++) {
        q[i] = w + (ptrdiff_t)cg_min(i, n - 1) * depth;
    }
    cg_blocked_rows(p0, p1, q, depth, a, b);
    for (int32_t i = 0; i < n; i++) {
        s0[i] = a[i];
        s1[i] = b[i];
    }
}

/* round(acc * m / 2^31) for a multiplier that is not negative: the low word of a logical shift. */
CG_KERNEL int32_t cg_blocked_high_mul(int32_t acc, int32_t m)
{
    return (int32_t)(uint32_t)((uint64_t)((int64_t)acc * m + (1 << 30)) >> 31);
}

/* The channels of a range of one pixel. */
CG_KERNEL void cg_blocked_store(const cg_blocked_scale *a, const int32_t *restrict sums,
                                int8_t *restrict out, const cg_range *r)
{
    for (int32_t c = r->c0; c < r->c1; c++) {
        int32_t v = cg_add32(sums[c], a->bias[c]);
        v = cg_rounding_shift(cg_blocked_high_mul(v, a->multiplier[c]), a->shift[c]);
        out[c] = (int8_t)cg_clamp(cg_add32(v, a->output_offset), a->act_min, a->act_max);
    }
}

#endif
