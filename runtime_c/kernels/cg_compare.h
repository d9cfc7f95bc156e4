/* SPDX-License-Identifier: 0BSD
 *
 * EQUAL, NOT_EQUAL, LESS, LESS_EQUAL: 1 where it holds, else 0. GREATER is LESS with the operands
 * exchanged.
 *
 * Quantised codes are compared by what they mean: the distance to the zero point, with 8 more bits,
 * times the scale, which rounds twice. So unequal reals may count as equal.
 */
#ifndef CG_COMPARE_H
#define CG_COMPARE_H

#include "cg_broadcast.h"
#include "cg_fixed_point.h"

typedef struct {
    cg_step a, b;
    int32_t a_offset, a_multiplier, a_shift;
    int32_t b_offset, b_multiplier, b_shift;
} cg_compare_args;

/* The real value of the code `q` - `offset`, times 256. */
CG_KERNEL int32_t cg_compare_real(int32_t q, int32_t offset, int32_t multiplier, int32_t shift)
{
    return cg_requantize_twice((q + offset) * 256, multiplier, shift);
}

/* Kernels cg_<name>_<type> of plain numbers. */
#define CG_COMPARE(name, type, operator) \
    CG_BINARY(cg_##name##_##type, cg_binary_args, type, b8, (cg_b8)(a operator b))

/* Kernels cg_<name>_q<type> of quantised codes. */
#define CG_COMPARE_CODES(name, type, operator)                                                     \
    CG_BINARY(cg_##name##_q##type, cg_compare_args, type, b8,                                      \
              (cg_b8)(cg_compare_real(a, k->a_offset, k->a_multiplier, k->a_shift)                 \
                      operator cg_compare_real(b, k->b_offset, k->b_multiplier, k->b_shift)))

#define CG_COMPARE_ALL(name, operator)      \
    CG_COMPARE(name, f32, operator)         \
    CG_COMPARE(name, s16, operator)         \
    CG_COMPARE(name, s32, operator)         \
    CG_COMPARE(name, s64, operator)         \
    CG_COMPARE_CODES(name, s8, operator)    \
    CG_COMPARE_CODES(name, u8, operator)

CG_COMPARE_ALL(equal, ==)
CG_COMPARE_ALL(not_equal, !=)
CG_COMPARE_ALL(less, <)
CG_COMPARE_ALL(less_equal, <=)
CG_COMPARE(equal, b8, ==)
CG_COMPARE(not_equal, b8, !=)
CG_COMPARE_CODES(equal, s16, ==)
CG_COMPARE_CODES(not_equal, s16, !=)

#endif
