/* SPDX-License-Identifier: 0BSD
 *
 * ADD and SUB of int8 codes where the larger scale changes exactly, as twice it is the common one. The
 * other operand's change of scale, both roundings included, comes from a table with an element per
 * code; it also holds both zero points. Sums are twice the reference's, so that the upper half of their
 * product with the multiplier, rounded, is the result of the first rounding. Where codes below the zero
 * point do not count they are 4 times the reference's: both roundings then go the same way, and are summands.
 */
#ifndef CG_ADD_TABLE_H
#define CG_ADD_TABLE_H

#include "cg_broadcast.h"
#include "cg_dsp.h"

typedef struct {
    cg_step a, b;
    int32_t table_of_a;               /* 1: the table is for a, 0: for b */
    int32_t unit;                     /* what one code of the other operand is worth */
    const int32_t *table;             /* from code -128 on */
    int32_t multiplier, shift;        /* shift to the right, at least 1 */
    int32_t output_offset;
    int32_t act_min, act_max;
} cg_add_table_args;

CG_KERNEL int8_t cg_add_table_one(const cg_add_table_args *k, int32_t a, int32_t b)
{
    const int32_t *table = k->table + 128;
    const int32_t sum = k->table_of_a != 0 ? b * k->unit + table[a] : a * k->unit + table[b];
    if (k->act_min >= k->output_offset) {
        const int32_t twice = (int32_t)(((int64_t)sum * k->multiplier) >> 32);
        const int32_t summands = 1 + ((int32_t)1 << k->shift) + k->output_offset * ((int32_t)2 << k->shift);
        return cg_code8((twice + summands) >> (k->shift + 1), k->act_min, k->act_max);
    }
    const int32_t rounded = cg_high_mul_rounded(sum, k->multiplier);
    const int32_t summands = (((int32_t)1 << k->shift) >> 1) + k->output_offset * ((int32_t)1 << k->shift);
    return cg_code8((rounded + (rounded >> 31) + summands) >> k->shift, k->act_min, k->act_max);
}

CG_BINARY(cg_add_table_s8, cg_add_table_args, s8, s8, cg_add_table_one(k, a, b))

#endif
