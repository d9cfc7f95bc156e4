/* SPDX-License-Identifier: 0BSD
 *
 * SVDF of int8 data: every filter keeps its last results, as int16 or int8, and weighs them over time;
 * units are sums of filters. The zero point of the data is part of `features_bias`.
 */
#ifndef CG_SVDF_S8_H
#define CG_SVDF_S8_H

#include "cg_element.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t inputs, units;
    int32_t rank;                     /* filters per unit */
    int32_t memory;                   /* results that a filter keeps */
    const int8_t *features;           /* [filter][input] */
    const int32_t *features_bias;     /* one per filter */
    int32_t features_multiplier, features_shift;
    const int16_t *time_s16;          /* [filter][result], the oldest first; null: int8 results */
    const int8_t *time_s8;            /* null: int16 results */
    int32_t state_zero_point;         /* of int8 results */
    const int32_t *bias;              /* one per unit; null: none */
    int32_t multiplier, shift, output_zero_point;
} cg_svdf_s8_args;

CG_KERNEL int32_t cg_svdf_feature_s8(const int8_t *w, const int8_t *x, int32_t count, int32_t bias)
{
    int32_t sum = bias;
    for (int32_t i = 0; i < count; i++) {
        sum += w[i] * x[i];
    }
    return sum;
}

/* The results of one filter with a new one, weighed. Sums wrap, as those of the reference do. */
CG_KERNEL int32_t cg_svdf_time_s16(const int16_t *t, const cg_s16 *before, cg_s16 *after,
                                   int32_t memory, int32_t result)
{
    int32_t sum = 0;
    for (int32_t i = 1; i < memory; i++) {
        after[i - 1] = before[i];
        sum = cg_add32(sum, t[i - 1] * after[i - 1]);
    }
    after[memory - 1] = (cg_s16)cg_clamp(result, INT16_MIN, INT16_MAX);
    return cg_add32(sum, t[memory - 1] * after[memory - 1]);
}

/* The same with int8 results. A new one is limited before its zero point is added, and wraps then. */
CG_KERNEL int32_t cg_svdf_time_s8(const int8_t *t, const int8_t *before, int8_t *after,
                                  int32_t memory, int32_t result, int32_t zero_point)
{
    int32_t sum = 0;
    for (int32_t i = 1; i < memory; i++) {
        after[i - 1] = before[i];
        sum += t[i - 1] * (after[i - 1] - zero_point);
    }
    after[memory - 1] = (int8_t)(uint8_t)(cg_clamp(result, -128, 127) + zero_point);
    return sum + t[memory - 1] * (after[memory - 1] - zero_point);
}

/* A unit: the sum of its filters, whose states lie at `before` and `after`. */
CG_KERNEL int8_t cg_svdf_unit_s8(const cg_svdf_s8_args *a, int32_t unit, const int8_t *x,
                                 const void *before, void *after, ptrdiff_t first)
{
    int32_t sum = a->bias != NULL ? a->bias[unit] : 0;
    for (int32_t f = unit * a->rank; f < (unit + 1) * a->rank; f++) {
        const ptrdiff_t row = (ptrdiff_t)f * a->memory, at = first + row;
        const int32_t v = cg_svdf_feature_s8(a->features + (ptrdiff_t)f * a->inputs, x, a->inputs,
                                             a->features_bias[f]);
        const int32_t result = cg_requantize_twice(v, a->features_multiplier, a->features_shift);
        const int32_t weighed =
            a->time_s8 != NULL
                ? cg_svdf_time_s8(a->time_s8 + row, (const int8_t *)before + at,
                                  (int8_t *)after + at, a->memory, result, a->state_zero_point)
                : cg_svdf_time_s16(a->time_s16 + row, (const cg_s16 *)before + at,
                                   (cg_s16 *)after + at, a->memory, result);
        sum = cg_add32(sum, weighed);
    }
    const int32_t code = cg_requantize_twice(sum, a->multiplier, a->shift) + a->output_zero_point;
    return (int8_t)cg_clamp(code, -128, 127);
}

/* x0: the data, x1: the results before; y0: the units, y1: the results with the new ones. */
CG_KERNEL void cg_svdf_s8(const cg_svdf_s8_args *a, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y0, const cg_dst *y1, const cg_range *r)
{
    const void *before = cg_at(x1, 0, 0);
    void *after = cg_put(y1, 0, 0);
    for (int32_t b = r->x0; b < r->x1; b++) {
        const int8_t *x = (const int8_t *)cg_at(x0, 0, b);
        int8_t *y = (int8_t *)cg_put(y0, 0, b);
        const ptrdiff_t first = (ptrdiff_t)b * a->units * a->rank * a->memory;
        for (int32_t u = 0; u < a->units; u++) {
            y[u] = cg_svdf_unit_s8(a, u, x, before, after, first);
        }
    }
}

#endif
