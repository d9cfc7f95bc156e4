/* SPDX-License-Identifier: 0BSD
 *
 * ADD, SUB and MUL of plain integers, modulo 2^32 or 2^64, then the clamp of the activation.
 */
#ifndef CG_ARITHMETIC_H
#define CG_ARITHMETIC_H

#include "cg_broadcast.h"

typedef struct {
    cg_step a, b;
    int64_t act_min, act_max;
} cg_arithmetic_args;

CG_KERNEL int32_t cg_clamp_s32(const cg_arithmetic_args *k, uint32_t v)
{
    return cg_clamp((int32_t)v, (int32_t)k->act_min, (int32_t)k->act_max);
}

CG_KERNEL int64_t cg_clamp_s64(const cg_arithmetic_args *k, uint64_t bits)
{
    const int64_t v = (int64_t)bits;
    const int64_t raised = v < k->act_min ? k->act_min : v;
    return raised > k->act_max ? k->act_max : raised;
}

/* Kernels cg_<name>_s32 and _s64. */
#define CG_ARITHMETIC(name, operator)                                                              \
    CG_BINARY(cg_##name##_s32, cg_arithmetic_args, s32, s32,                                       \
              cg_clamp_s32(k, (uint32_t)a operator (uint32_t)b))                                   \
    CG_BINARY(cg_##name##_s64, cg_arithmetic_args, s64, s64,                                       \
              cg_clamp_s64(k, (uint64_t)a operator (uint64_t)b))

CG_ARITHMETIC(add, +)
CG_ARITHMETIC(sub, -)
CG_ARITHMETIC(mul, *)

#endif
