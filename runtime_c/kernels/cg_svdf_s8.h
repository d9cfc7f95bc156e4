/* SPDX-License-Identifier: 0BSD
 *
 * SVDF of int8 data: every filter keeps its last results, as int16 or int8, and weighs them over time;
 * units are sums of filters. The zero point of the data is part of the filters' biases.
 */
#ifndef CG_SVDF_S8_H
#define CG_SVDF_S8_H

#include "cg_element.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t inputs, filters;
    int32_t memory;                   /* results that a filter keeps */
    const int8_t *features;           /* [filter][input] */
    const int32_t *bias;              /* one per filter */
    int32_t multiplier, shift;
    int32_t is_narrow;                /* 1: results are int8, 0: int16 */
    int32_t zero_point;               /* of int8 results */
} cg_svdf_keep_s8_args;

typedef struct {
    int32_t units;
    int32_t rank;                     /* filters per unit */
    int32_t memory;
    const int16_t *time_s16;          /* [filter][result], the oldest first; null: int8 results */
    const int8_t *time_s8;            /* null: int16 results */
    int32_t state_zero_point;         /* of int8 results */
    const int32_t *bias;              /* one per unit; null: none */
    int32_t multiplier, shift, output_zero_point;
} cg_svdf_sum_s8_args;

/* The new result of a filter. */
CG_KERNEL int32_t cg_svdf_feature_s8(const cg_svdf_keep_s8_args *a, int32_t filter, const int8_t *x)
{
    const int8_t *w = a->features + (ptrdiff_t)filter * a->inputs;
    int32_t sum = a->bias[filter];
    for (int32_t i = 0; i < a->inputs; i++) {
        sum += w[i] * x[i];
    }
    return cg_requantize_twice(sum, a->multiplier, a->shift);
}

CG_KERNEL void cg_svdf_push_s16(const cg_s16 *before, cg_s16 *after, int32_t memory, int32_t result)
{
    for (int32_t i = 1; i < memory; i++) {
        after[i - 1] = before[i];
    }
    after[memory - 1] = (cg_s16)cg_clamp(result, INT16_MIN, INT16_MAX);
}

/* A new result is limited before its zero point is added, and wraps then. */
CG_KERNEL void cg_svdf_push_s8(const int8_t *before, int8_t *after, int32_t memory, int32_t result,
                               int32_t zero_point)
{
    for (int32_t i = 1; i < memory; i++) {
        after[i - 1] = before[i];
    }
    after[memory - 1] = (int8_t)(uint8_t)(cg_clamp(result, -128, 127) + zero_point);
}

/* x0: the data, x1: the results of all filters; y: these less the oldest, with the new ones. */
CG_KERNEL void cg_svdf_keep_s8(const cg_svdf_keep_s8_args *a, const cg_src *x0, const cg_src *x1,
                               const cg_dst *y, const cg_range *r)
{
    const void *before = cg_at(x1, 0, 0);
    void *after = cg_put(y, 0, 0);
    for (int32_t first = r->c0, b = 0; first < r->c1; b++) {
        const int8_t *x = (const int8_t *)cg_at(x0, 0, b);
        for (int32_t f = 0; f < a->filters; f++, first += a->memory) {
            const int32_t result = cg_svdf_feature_s8(a, f, x);
            if (a->is_narrow != 0) {
                cg_svdf_push_s8((const int8_t *)before + first, (int8_t *)after + first, a->memory,
                                result, a->zero_point);
            } else {
                cg_svdf_push_s16((const cg_s16 *)before + first, (cg_s16 *)after + first, a->memory,
                                 result);
            }
        }
    }
}

/* Results weighed over time. Sums wrap, as those of the reference do. */
CG_KERNEL int32_t cg_svdf_weighed_s8(const cg_svdf_sum_s8_args *a, ptrdiff_t filter,
                                     const void *results, ptrdiff_t first)
{
    int32_t sum = 0;
    for (ptrdiff_t i = 0; i < a->memory; i++) {
        const ptrdiff_t t = filter * a->memory + i, k = first + i;
        const int32_t product =
            a->time_s8 != NULL
                ? a->time_s8[t] * (((const int8_t *)results)[k] - a->state_zero_point)
                : a->time_s16[t] * ((const cg_s16 *)results)[k];
        sum = cg_add32(sum, product);
    }
    return sum;
}

/* x: the results of all filters, the new ones included; y: the units. */
CG_KERNEL void cg_svdf_sum_s8(const cg_svdf_sum_s8_args *a, const cg_src *x, const cg_dst *y,
                              const cg_range *r)
{
    const void *results = cg_at(x, 0, 0);
    for (int32_t b = r->x0; b < r->x1; b++) {
        int8_t *out = (int8_t *)cg_put(y, 0, b);
        for (int32_t u = r->c0; u < r->c1; u++) {
            int32_t sum = a->bias != NULL ? a->bias[u] : 0;
            for (int32_t f = u * a->rank; f < (u + 1) * a->rank; f++) {
                const ptrdiff_t first = ((ptrdiff_t)b * a->units * a->rank + f) * a->memory;
                sum = cg_add32(sum, cg_svdf_weighed_s8(a, f, results, first));
            }
            const int32_t code = cg_requantize_twice(sum, a->multiplier, a->shift);
            out[u] = (int8_t)cg_clamp(code + a->output_zero_point, -128, 127);
        }
    }
}

#endif
