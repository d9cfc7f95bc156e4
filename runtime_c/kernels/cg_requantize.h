/* SPDX-License-Identifier: 0BSD
 *
 * QUANTIZE from codes of one type and scale to another, where at least one has more than 8 bits.
 */
#ifndef CG_REQUANTIZE_H
#define CG_REQUANTIZE_H

#include "cg_fixed_point.h"
#include "cg_unary.h"

typedef struct {
    int32_t input_offset, output_offset;
    int32_t multiplier, shift;
} cg_requantize_args;

CG_KERNEL int32_t cg_requantize_one(const cg_requantize_args *k, int32_t x, int32_t low,
                                    int32_t high)
{
    const int32_t v = cg_add32(x, k->input_offset);
    const int32_t scaled = cg_requantize_twice(v, k->multiplier, k->shift);
    return cg_clamp(cg_add32(scaled, k->output_offset), low, high);
}

CG_UNARY_WITH(cg_requantize_s8_s16, cg_requantize_args, s8, s16,
              (int16_t)cg_requantize_one(k, v, INT16_MIN, INT16_MAX))
CG_UNARY_WITH(cg_requantize_u8_s16, cg_requantize_args, u8, s16,
              (int16_t)cg_requantize_one(k, v, INT16_MIN, INT16_MAX))
CG_UNARY_WITH(cg_requantize_s16_s8, cg_requantize_args, s16, s8,
              (int8_t)cg_requantize_one(k, v, INT8_MIN, INT8_MAX))
CG_UNARY_WITH(cg_requantize_s16_s16, cg_requantize_args, s16, s16,
              (int16_t)cg_requantize_one(k, v, INT16_MIN, INT16_MAX))
CG_UNARY_WITH(cg_requantize_s16_s32, cg_requantize_args, s16, s32,
              cg_requantize_one(k, v, INT32_MIN, INT32_MAX))
CG_UNARY_WITH(cg_requantize_s32_s8, cg_requantize_args, s32, s8,
              (int8_t)cg_requantize_one(k, v, INT8_MIN, INT8_MAX))
CG_UNARY_WITH(cg_requantize_s32_s16, cg_requantize_args, s32, s16,
              (int16_t)cg_requantize_one(k, v, INT16_MIN, INT16_MAX))

#endif
