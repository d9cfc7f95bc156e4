/* SPDX-License-Identifier: 0BSD
 *
 * PRELU: a where it is not negative, a * b elsewhere. Codes have a factor for each side; both round
 * twice.
 */
#ifndef CG_PRELU_H
#define CG_PRELU_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t a_offset, b_offset, output_offset;
    int32_t positive_multiplier, positive_shift;
    int32_t negative_multiplier, negative_shift;
    int32_t low, high;
} cg_prelu_args;

CG_KERNEL int32_t cg_prelu_code(const cg_prelu_args *k, int32_t a, int32_t b)
{
    const int32_t v = a + k->a_offset;
    const int32_t scaled =
        v >= 0 ? cg_requantize_twice(v, k->positive_multiplier, k->positive_shift)
               : cg_requantize_twice(v * (b + k->b_offset), k->negative_multiplier,
                                     k->negative_shift);
    return cg_clamp(cg_add32(scaled, k->output_offset), k->low, k->high);
}

CG_BINARY(cg_prelu_f32, cg_binary_args, f32, f32, a >= 0.0f ? a : a * b)
CG_BINARY(cg_prelu_qs8, cg_prelu_args, s8, s8, (cg_s8)cg_prelu_code(k, a, b))
CG_BINARY(cg_prelu_qu8, cg_prelu_args, u8, u8, (cg_u8)cg_prelu_code(k, a, b))
CG_BINARY_MIXED(cg_prelu_qs16, cg_prelu_args, s16, s8, s16, (cg_s16)cg_prelu_code(k, a, b))

#endif
