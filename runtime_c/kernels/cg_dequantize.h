/* SPDX-License-Identifier: 0BSD
 *
 * DEQUANTIZE to float: scale * (x - zero point). The product of a float and so small an integer
 * rounds once, so that it is the same in float as in double. Half floats widen without a loss.
 */
#ifndef CG_DEQUANTIZE_H
#define CG_DEQUANTIZE_H

#include "cg_channel_codes.h"

#include <string.h>

typedef struct {
    float scale;
    int32_t zero_point;
} cg_dequantize_args;

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

CG_UNARY_WITH(cg_dequantize_s8, cg_dequantize_args, s8, f32, k->scale * (float)(v - k->zero_point))
CG_UNARY_WITH(cg_dequantize_u8, cg_dequantize_args, u8, f32, k->scale * (float)(v - k->zero_point))
CG_UNARY_WITH(cg_dequantize_s16, cg_dequantize_args, s16, f32,
              k->scale * (float)(v - k->zero_point))
CG_UNARY(cg_dequantize_f16, u16, f32, cg_half_to_f32(v))

#define CG_DEQUANTIZE_CHANNELS(from)                                             \
    CG_UNARY_WITH(cg_dequantize_channels_##from, cg_channel_codes_args, from, f32, \
                  k->scale[col] * (float)(v - k->zero_point[col]))

CG_DEQUANTIZE_CHANNELS(s8)
CG_DEQUANTIZE_CHANNELS(u8)

#endif
