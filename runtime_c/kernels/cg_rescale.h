/* SPDX-License-Identifier: 0BSD
 *
 * RELU and LEAKY_RELU, int16 without zero points: codes of one scale as codes of another, with a factor
 * for each sign. Rounds twice.
 */
#ifndef CG_RESCALE_H
#define CG_RESCALE_H

#include "cg_fixed_point.h"
#include "cg_unary.h"

typedef struct {
    int32_t multiplier, shift;        /* at and above 0 */
    int32_t below_multiplier, below_shift;
    int32_t below_sign;               /* -1: the result below is negated */
    int32_t act_min, act_max;
} cg_rescale_args;

CG_KERNEL int32_t cg_rescale_one(const cg_rescale_args *a, int32_t x)
{
    const int32_t v = x >= 0
        ? cg_requantize_twice(x, a->multiplier, a->shift)
        : cg_requantize_twice(x, a->below_multiplier, a->below_shift) * a->below_sign;
    return cg_clamp(v, a->act_min, a->act_max);
}

CG_UNARY_WITH(cg_rescale_s16, cg_rescale_args, s16, s16, (int16_t)cg_rescale_one(k, v))

#endif
