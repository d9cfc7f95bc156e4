/* SPDX-License-Identifier: 0BSD
 *
 * QUANTIZE from float: round(x / scale), halves away from zero, plus the zero point, saturated.
 * Values beyond every code saturate too; NaN becomes the lowest code.
 */
#ifndef CG_QUANTIZE_H
#define CG_QUANTIZE_H

#include "cg_channel_codes.h"
#include "cg_float.h"

typedef struct {
    float scale;
    int32_t zero_point;
} cg_quantize_args;

CG_KERNEL int32_t cg_quantize_code(float x, float scale, int32_t zero_point, int32_t low,
                                   int32_t high)
{
    return cg_clamp(cg_round_f32(x / scale) + zero_point, low, high);
}

CG_KERNEL int32_t cg_quantize_one(const cg_quantize_args *k, float x, int32_t low, int32_t high)
{
    return cg_quantize_code(x, k->scale, k->zero_point, low, high);
}

CG_UNARY_WITH(cg_quantize_f32_s8, cg_quantize_args, f32, s8,
              (int8_t)cg_quantize_one(k, v, INT8_MIN, INT8_MAX))
CG_UNARY_WITH(cg_quantize_f32_u8, cg_quantize_args, f32, u8,
              (uint8_t)cg_quantize_one(k, v, 0, UINT8_MAX))
CG_UNARY_WITH(cg_quantize_f32_s16, cg_quantize_args, f32, s16,
              (int16_t)cg_quantize_one(k, v, INT16_MIN, INT16_MAX))

#define CG_QUANTIZE_CHANNELS(to, low, high)                                               \
    CG_UNARY_WITH(cg_quantize_channels_##to, cg_channel_codes_args, f32, to,              \
                  (cg_##to)cg_quantize_code(v, k->scale[col], k->zero_point[col], low, high))

CG_QUANTIZE_CHANNELS(s8, INT8_MIN, INT8_MAX)
CG_QUANTIZE_CHANNELS(u8, 0, UINT8_MAX)
CG_QUANTIZE_CHANNELS(s16, INT16_MIN, INT16_MAX)

#endif
