/* SPDX-License-Identifier: 0BSD
 *
 * ABS, NEG, SIGN. The smallest integers have no counterpart and are their own.
 */
#ifndef CG_SIGN_H
#define CG_SIGN_H

#include "cg_fixed_point.h"
#include "cg_unary.h"

#include <math.h>

CG_UNARY(cg_abs_f32, f32, f32, fabsf(v))
CG_UNARY(cg_abs_s16, s16, s16, (cg_s16)(v < 0 ? -v : v))
CG_UNARY(cg_abs_s32, s32, s32, (cg_s32)(v < 0 ? 0u - (uint32_t)v : (uint32_t)v))

CG_UNARY(cg_neg_f32, f32, f32, -v)
CG_UNARY(cg_neg_s8, s8, s8, (cg_s8)-v)
CG_UNARY(cg_neg_s16, s16, s16, (cg_s16)-v)
CG_UNARY(cg_neg_s32, s32, s32, (cg_s32)(0u - (uint32_t)v))
CG_UNARY(cg_neg_s64, s64, s64, (cg_s64)(UINT64_C(0) - (uint64_t)v))

CG_UNARY(cg_sign_f32, f32, f32, v > 0.0f ? 1.0f : v < 0.0f ? -1.0f : v)
CG_UNARY(cg_sign_s32, s32, s32, (v > 0) - (v < 0))

/* Quantised codes without zero points, from one scale to another. */
typedef struct {
    int32_t multiplier, shift;
} cg_abs_args;

CG_UNARY_WITH(cg_abs_qs16, cg_abs_args, s16, s16,
              (cg_s16)cg_min(cg_requantize_twice(v < 0 ? -v : v, k->multiplier, k->shift),
                             INT16_MAX))

#endif
