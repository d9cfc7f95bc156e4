/* SPDX-License-Identifier: 0BSD
 *
 * Sums of uint8 data times uint8 weights, both with a zero point; one scale for all out channels. What
 * comes behind the sum rounds twice.
 */
#ifndef CG_BYTE_SUM_H
#define CG_BYTE_SUM_H

#include "cg_fixed_point.h"

typedef struct {
    int32_t input_offset, weights_offset, output_offset;
    int32_t multiplier, shift;
    int32_t act_min, act_max;
    const uint8_t *weights;
    const int32_t *bias;              /* null: none */
} cg_byte_sum;

/* The products of n neighbours. */
CG_KERNEL int32_t cg_byte_products(const cg_byte_sum *k, const uint8_t *x, const uint8_t *w, int32_t n)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += (x[i] + k->input_offset) * (w[i] + k->weights_offset);
    }
    return sum;
}

/* The result of channel c. */
CG_KERNEL uint8_t cg_byte_result(const cg_byte_sum *k, int32_t products, int32_t c)
{
    const int32_t sum = cg_add32(products, k->bias != NULL ? k->bias[c] : 0);
    const int32_t v = cg_requantize_twice(sum, k->multiplier, k->shift);
    return (uint8_t)cg_clamp(cg_add32(v, k->output_offset), k->act_min, k->act_max);
}

#endif
