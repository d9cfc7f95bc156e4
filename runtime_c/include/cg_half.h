/* SPDX-License-Identifier: 0BSD
 *
 * Halves: IEEE floats of 16 bits, which C has no type for.
 */
#ifndef CG_HALF_H
#define CG_HALF_H

#include "cg_view.h"

#include <string.h>

/* The value of the bits of an IEEE half. */
CG_KERNEL float cg_half_to_f32(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 31u;
    const uint32_t fraction = half & 1023u;
    if (exponent == 0) {
        const float tiny = (float)fraction * (1.0f / 16777216.0f);
        return sign != 0 ? -tiny : tiny;
    }
    const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
    const uint32_t bits = sign | wide << 23 | fraction << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of the half nearest to v, of two the even one; what is too large becomes infinite. */
CG_KERNEL uint16_t cg_half_of_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (rest >= 0x477ff000u) {                      /* 65520 */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (rest < 0x38800000u) {                       /* 2^-14: the last bit of 1/2 + |v| is 2^-24 */
        const float sum = 0.5f + (v < 0.0f ? -v : v);
        memcpy(&rest, &sum, sizeof rest);
        return (uint16_t)(sign | (rest - 0x3f000000u));
    }
    rest += 0xfffu + (rest >> 13 & 1u);
    return (uint16_t)(sign | (rest - 0x38000000u) >> 13);
}

#endif
