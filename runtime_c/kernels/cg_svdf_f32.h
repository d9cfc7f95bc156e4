/* SPDX-License-Identifier: 0BSD
 *
 * SVDF of float data: every filter keeps its last results, and weighs them over time; units are sums
 * of filters. Weights are float, or int8 (hybrid: the data are quantised as the kernel runs).
 */
#ifndef CG_SVDF_F32_H
#define CG_SVDF_F32_H

#include "cg_hybrid.h"

typedef struct {
    int32_t inputs, filters;
    int32_t memory;                   /* results that a filter keeps */
    const float *features;            /* [filter][input] */
} cg_svdf_keep_f32_args;

typedef struct {
    int32_t inputs, filters;
    int32_t memory;
    int32_t asymmetric;               /* 1: quantise with a zero point */
    const int8_t *features;
    float scale;                      /* of the features */
} cg_svdf_keep_hybrid_args;

typedef struct {
    int32_t units;
    int32_t rank;                     /* filters per unit */
    int32_t memory;
    float act_min, act_max;
    const float *time_f32;            /* [filter][result], the oldest first; null: int8 */
    const int8_t *time_s8;            /* null: float */
    float time_scale;                 /* of int8 ones */
    const float *bias;                /* one per unit; null: none */
} cg_svdf_sum_f32_args;

/* Takes the oldest result out and puts a new one behind the others. */
CG_KERNEL void cg_svdf_push_f32(const cg_f32 *before, cg_f32 *after, int32_t memory, float result)
{
    for (int32_t i = 1; i < memory; i++) {
        after[i - 1] = before[i];
    }
    after[memory - 1] = result;
}

/* x0: the data, x1: the results of all filters; y: these less the oldest, with the new ones. */
CG_KERNEL void cg_svdf_keep_f32(const cg_svdf_keep_f32_args *a, const cg_src *x0, const cg_src *x1,
                                const cg_dst *y, const cg_range *r)
{
    const cg_f32 *before = (const cg_f32 *)cg_at(x1, 0, 0);
    cg_f32 *after = (cg_f32 *)cg_put(y, 0, 0);
    for (int32_t first = r->c0, b = 0; first < r->c1; b++) {
        const cg_f32 *x = (const cg_f32 *)cg_at(x0, 0, b);
        for (int32_t f = 0; f < a->filters; f++, first += a->memory) {
            const float *w = a->features + (ptrdiff_t)f * a->inputs;
            float feature = 0.0f;
            for (int32_t i = 0; i < a->inputs; i++) {
                feature += w[i] * x[i];
            }
            cg_svdf_push_f32(before + first, after + first, a->memory, feature);
        }
    }
}

/* As `cg_svdf_keep_f32`; scratch holds the codes of one vector of data. */
CG_KERNEL void cg_svdf_keep_hybrid(const cg_svdf_keep_hybrid_args *a, const cg_src *x0,
                                   const cg_src *x1, const cg_dst *y, const cg_range *r,
                                   void *scratch)
{
    int8_t *codes = (int8_t *)scratch;
    const cg_f32 *before = (const cg_f32 *)cg_at(x1, 0, 0);
    cg_f32 *after = (cg_f32 *)cg_put(y, 0, 0);
    for (int32_t first = r->c0, b = 0; first < r->c1; b++) {
        const cg_f32 *x = (const cg_f32 *)cg_at(x0, 0, b);
        const cg_codes k = cg_encode_vector(x, a->inputs, a->asymmetric, codes);
        for (int32_t f = 0; f < a->filters; f++, first += a->memory) {
            const int8_t *w = a->features + (ptrdiff_t)f * a->inputs;
            int32_t feature = 0;
            for (int32_t i = 0; i < a->inputs; i++) {
                feature += w[i] * (codes[i] - k.zero_point);
            }
            const float result = (float)feature * (k.scale * a->scale);
            cg_svdf_push_f32(before + first, after + first, a->memory, result);
        }
    }
}

CG_KERNEL float cg_svdf_weighed_f32(const cg_svdf_sum_f32_args *a, ptrdiff_t filter,
                                    const cg_f32 *results)
{
    float sum = 0.0f;
    for (ptrdiff_t i = 0; i < a->memory; i++) {
        const ptrdiff_t t = filter * a->memory + i;
        const float w = a->time_s8 != NULL ? (float)a->time_s8[t] * a->time_scale : a->time_f32[t];
        sum += w * results[i];
    }
    return sum;
}

/* x: the results of all filters, the new ones included; y: the units. */
CG_KERNEL void cg_svdf_sum_f32(const cg_svdf_sum_f32_args *a, const cg_src *x, const cg_dst *y,
                               const cg_range *r)
{
    const cg_f32 *results = (const cg_f32 *)cg_at(x, 0, 0);
    for (int32_t b = r->x0; b < r->x1; b++) {
        cg_f32 *out = (cg_f32 *)cg_put(y, 0, b);
        for (int32_t u = r->c0; u < r->c1; u++) {
            float sum = 0.0f;
            for (int32_t f = u * a->rank; f < (u + 1) * a->rank; f++) {
                const ptrdiff_t first = ((ptrdiff_t)b * a->units * a->rank + f) * a->memory;
                sum += cg_svdf_weighed_f32(a, f, results + first);
            }
            const float v = a->bias != NULL ? sum + a->bias[u] : sum;
            out[u] = cg_clamp_f32(v, a->act_min, a->act_max);
        }
    }
}

#endif
