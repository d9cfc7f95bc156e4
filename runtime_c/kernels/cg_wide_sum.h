/* SPDX-License-Identifier: 0BSD
 *
 * Sums of int16 data times int8 weights: 64 bits wide, then one rounding with a multiplier of 15
 * bits; or, where the model's biases are int32, 32 bits wide and rounded twice.
 */
#ifndef CG_WIDE_SUM_H
#define CG_WIDE_SUM_H

#include "cg_element.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t narrow;                   /* 1: sums of 32 bits, rounded twice */
    int32_t act_min, act_max;
    const int32_t *bias;              /* null: none, or wider than 32 bits */
    const int64_t *wide_bias;         /* null: none, or not wider than 32 bits */
    const int32_t *multiplier;        /* per out channel */
    const int8_t *shift;              /* to the right; of narrow sums to the left */
} cg_wide_sum;

/* round(sum * multiplier / 2^shift), halves upwards, modulo 2^32; shift is in [1, 46]. */
CG_KERNEL int32_t cg_requantize_wide(int64_t sum, int32_t multiplier, int32_t shift)
{
    const int64_t half = (int64_t)1 << (shift - 1);
    return (int32_t)(uint32_t)(uint64_t)((sum * multiplier + half) >> shift);
}

/* The bias of channel c. */
CG_KERNEL int64_t cg_wide_bias(const cg_wide_sum *k, int32_t c)
{
    if (k->wide_bias != NULL) {
        return k->wide_bias[c];
    }
    return k->bias != NULL ? k->bias[c] : 0;
}

/* The result of channel c. */
CG_KERNEL int16_t cg_wide_result(const cg_wide_sum *k, int64_t products, int32_t c)
{
    const int64_t sum = products + cg_wide_bias(k, c);
    const int32_t v = k->narrow != 0
        ? cg_requantize_twice((int32_t)(uint32_t)(uint64_t)sum, k->multiplier[c], k->shift[c])
        : cg_requantize_wide(sum, k->multiplier[c], k->shift[c]);
    return (int16_t)cg_clamp(v, k->act_min, k->act_max);
}

#endif
