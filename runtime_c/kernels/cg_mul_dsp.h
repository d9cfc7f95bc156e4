/* SPDX-License-Identifier: 0BSD
 *
 * MUL of int8 codes for cores with the DSP extension, where the product is shifted to the right. Half of a
 * negative number goes away from 0 as in cg_dot_dsp.h: the sign is one more summand.
 */
#ifndef CG_MUL_DSP_H
#define CG_MUL_DSP_H

#include "cg_dsp.h"
#include "cg_mul.h"

CG_KERNEL int8_t cg_mul_dsp_one(const cg_mul_args *k, int32_t a, int32_t b)
{
    const int32_t twice = 2 * (a + k->a_offset) * (b + k->b_offset);
    const int32_t v = cg_high_mul_rounded(twice, k->multiplier);
    const int32_t summands = ((int32_t)1 << (-k->shift - 1)) + k->output_offset * ((int32_t)1 << -k->shift);
    return cg_code8((v + (v >> 31) + summands) >> -k->shift, k->act_min, k->act_max);
}

CG_BINARY(cg_mul_dsp_s8, cg_mul_args, s8, s8, cg_mul_dsp_one(k, a, b))

#endif
