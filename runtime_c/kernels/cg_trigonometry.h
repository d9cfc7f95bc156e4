/* SPDX-License-Identifier: 0BSD
 *
 * SIN and COS of floats of any size, within 3 ulp: the same bits on every machine, and little stack,
 * where C libraries take 500 bytes to reduce large angles.
 */
#ifndef CG_TRIGONOMETRY_H
#define CG_TRIGONOMETRY_H

#include "cg_unary.h"

#include <string.h>

/* An angle as quarter turns and a rest in [-pi/4, pi/4]. */
typedef struct {
    int32_t quarters;
    float rest;
} cg_angle;

/* 96 bits of 2/pi, read from bit `start` of a table of it, times a mantissa of 24 bits: the upper 64
 * bits of what remains modulo 2^96. */
CG_KERNEL uint64_t cg_times_two_over_pi(uint32_t mantissa, int32_t start)
{
    static const uint32_t bits[8] = {
        0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
        0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    };
    const uint32_t *word = &bits[start >> 5];
    const int32_t shift = start & 31;
    uint64_t part[3];
    for (int32_t i = 0; i < 3; i++) {
        part[i] = (((uint64_t)word[i] << 32 | word[i + 1]) << shift) >> 32;
    }
    return (mantissa * part[0] << 32) + mantissa * part[1] + (mantissa * part[2] >> 32);
}

/* Of a finite x. Its mantissa times 2/pi is a fixed-point number of quarter turns: 2 bits before the
 * point, which count, and 62 behind it. The exponent says with which bit of 2/pi it starts. */
CG_KERNEL cg_angle cg_reduced(float x)
{
    cg_angle angle = { 0, x };
    uint32_t code;
    memcpy(&code, &x, sizeof code);
    const int32_t exponent = (int32_t)(code >> 23 & 255u) - 127;
    if (exponent < -1) {              /* |x| < 1/2 */
        return angle;
    }
    const uint64_t turns = cg_times_two_over_pi((code & 0x7fffffu) | 0x800000u, exponent + 7);
    const uint64_t nearest = (turns + ((uint64_t)1 << 61)) >> 62;
    const float rest = (float)(int64_t)(turns - (nearest << 62)) * 3.4061215800e-19f;  /* pi/2^63 */
    angle.quarters = code >> 31 != 0u ? -(int32_t)nearest : (int32_t)nearest;
    angle.rest = code >> 31 != 0u ? -rest : rest;
    return angle;
}

/* The sine of an angle and `more` quarter turns; both polynomials are minimax. */
CG_KERNEL float cg_sine(float x, int32_t more)
{
    if (!(x - x == 0.0f)) {           /* infinite or no number */
        return x - x;
    }
    const cg_angle angle = cg_reduced(x);
    const uint32_t quadrant = (uint32_t)(angle.quarters + more) & 3u;
    const float y = angle.rest, z = y * y;
    const float sine = y + y * z * (-0.16666655f + z * (0.008332161f + z * -0.00019515303f));
    const float cosine =
        1.0f - 0.5f * z + z * z * (0.041666646f + z * (-0.0013887316f + z * 2.443317e-05f));
    const float v = (quadrant & 1u) != 0u ? cosine : sine;
    return (quadrant & 2u) != 0u ? -v : v;
}

CG_UNARY(cg_sin_f32, f32, f32, cg_sine(v, 0))
CG_UNARY(cg_cos_f32, f32, f32, cg_sine(v, 1))

#endif
