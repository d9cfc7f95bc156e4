/* SPDX-License-Identifier: 0BSD
 *
 * LOGISTIC and TANH, int16, scale 1/32768 and zero point 0 on the way out: straight lines between the
 * values of one table, the logistic function of 0, 1/24, 2/24, ... with 16 fractional bits.
 */
#ifndef CG_SIGMOID_S16_H
#define CG_SIGMOID_S16_H

#include "cg_unary.h"

typedef struct {
    int32_t multiplier, shift;        /* to 1 / (3 * 4096) per code */
    const uint16_t *table;            /* 256 values */
} cg_sigmoid_s16_args;

/* An input code in units of 1 / (3 * 4096), halves upwards. */
CG_KERNEL int32_t cg_sigmoid_position(const cg_sigmoid_s16_args *a, int32_t code)
{
    const int32_t half = a->shift > 0 ? (int32_t)1 << (a->shift - 1) : 0;
    return (code * a->multiplier + half) >> a->shift;
}

/* The logistic function of `distance` >= 0 in table steps of 2^bits, with 16 + bits fractional bits;
 * beyond the table `last`. */
CG_KERNEL int32_t cg_sigmoid_between(const uint16_t *table, int32_t distance, int32_t bits,
                                     int32_t last)
{
    const int32_t step = distance >> bits;
    if (step >= 255) {
        return last;
    }
    const int32_t low = table[step];
    return low * ((int32_t)1 << bits) + (distance & (((int32_t)1 << bits) - 1)) * (table[step + 1] - low);
}

/* 1 / (1 + exp(-x)) */
CG_KERNEL int16_t cg_sigmoid_logistic(const cg_sigmoid_s16_args *a, int32_t code)
{
    const int32_t x = cg_sigmoid_position(a, code);
    const int32_t v = cg_sigmoid_between(a->table, x < 0 ? -x : x, 9, 0x7fff * 1024);
    return (int16_t)((x < 0 ? ((int32_t)1 << 25) - v + 511 : v + 512) >> 10);
}

/* tanh(x) = 2 / (1 + exp(-2 x)) - 1 */
CG_KERNEL int16_t cg_sigmoid_tanh(const cg_sigmoid_s16_args *a, int32_t code)
{
    const int32_t x = cg_sigmoid_position(a, code);
    const int32_t v = cg_sigmoid_between(a->table, x < 0 ? -x : x, 8, 0xffff * 256)
                    - ((int32_t)1 << 23);
    return (int16_t)((x < 0 ? 127 - v : v + 128) >> 8);
}

CG_UNARY_WITH(cg_logistic_s16, cg_sigmoid_s16_args, s16, s16, cg_sigmoid_logistic(k, v))
CG_UNARY_WITH(cg_tanh_s16, cg_sigmoid_s16_args, s16, s16, cg_sigmoid_tanh(k, v))

#endif
