/* SPDX-License-Identifier: 0BSD
 *
 * DEQUANTIZE to float: scale * (x - zero point). The product of a float and so small an integer
 * rounds once, so that it is the same in float as in double. Half floats widen without a loss.
 */
#ifndef CG_DEQUANTIZE_H
#define CG_DEQUANTIZE_H

#include "cg_channel_codes.h"
#include "cg_half.h"

typedef struct {
    float scale;
    int32_t zero_point;
} cg_dequantize_args;

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
