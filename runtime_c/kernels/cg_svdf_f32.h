/* SPDX-License-Identifier: 0BSD
 *
 * SVDF of float data: every filter keeps its last results, and weighs them over time; units are sums
 * of filters. Weights are float, or int8 (hybrid: the data are quantised as the kernel runs).
 */
#ifndef CG_SVDF_F32_H
#define CG_SVDF_F32_H

#include "cg_hybrid.h"

typedef struct {
    int32_t inputs, units;
    int32_t rank;                     /* filters per unit */
    int32_t memory;                   /* results that a filter keeps */
    float act_min, act_max;
    const float *features;            /* [filter][input] */
    const float *time;                /* [filter][result], the oldest first */
    const float *bias;                /* null: none */
} cg_svdf_f32_args;

typedef struct {
    int32_t inputs, units;
    int32_t rank;
    int32_t memory;
    float act_min, act_max;
    int32_t asymmetric;               /* 1: quantise with a zero point */
    const int8_t *features;
    float features_scale;
    const int8_t *time;
    float time_scale;
    const float *bias;
} cg_svdf_hybrid_args;

/* Takes the oldest result out and puts a new one behind the others. */
CG_KERNEL void cg_svdf_push_f32(const cg_f32 *before, cg_f32 *after, int32_t memory, float result)
{
    for (int32_t i = 1; i < memory; i++) {
        after[i - 1] = before[i];
    }
    after[memory - 1] = result;
}

CG_KERNEL float cg_svdf_unit_f32(const cg_svdf_f32_args *a, int32_t unit, const cg_f32 *x,
                                 const cg_f32 *before, cg_f32 *after)
{
    float sum = 0.0f;
    for (int32_t k = 0; k < a->rank; k++) {
        const int32_t filter = unit * a->rank + k;
        const float *w = a->features + (ptrdiff_t)filter * a->inputs;
        const float *t = a->time + (ptrdiff_t)filter * a->memory;
        float feature = 0.0f, weighed = 0.0f;
        for (int32_t i = 0; i < a->inputs; i++) {
            feature += w[i] * x[i];
        }
        cg_svdf_push_f32(before + k * a->memory, after + k * a->memory, a->memory, feature);
        for (int32_t i = 0; i < a->memory; i++) {
            weighed += t[i] * after[k * a->memory + i];
        }
        sum += weighed;
    }
    return cg_clamp_f32(a->bias != NULL ? sum + a->bias[unit] : sum, a->act_min, a->act_max);
}

/* x0: the data, x1: the results before; y0: the units, y1: the results with the new ones. */
CG_KERNEL void cg_svdf_f32(const cg_svdf_f32_args *a, const cg_src *x0, const cg_src *x1,
                           const cg_dst *y0, const cg_dst *y1, const cg_range *r)
{
    const cg_f32 *before = (const cg_f32 *)cg_at(x1, 0, 0);
    cg_f32 *after = (cg_f32 *)cg_put(y1, 0, 0);
    for (int32_t b = r->x0; b < r->x1; b++) {
        const cg_f32 *x = (const cg_f32 *)cg_at(x0, 0, b);
        cg_f32 *y = (cg_f32 *)cg_put(y0, 0, b);
        for (int32_t u = 0; u < a->units; u++) {
            const ptrdiff_t first = ((ptrdiff_t)b * a->units + u) * a->rank * a->memory;
            y[u] = cg_svdf_unit_f32(a, u, x, before + first, after + first);
        }
    }
}

CG_KERNEL float cg_svdf_unit_hybrid(const cg_svdf_hybrid_args *a, int32_t unit, const int8_t *codes,
                                    const cg_codes *k, const cg_f32 *before, cg_f32 *after)
{
    float sum = 0.0f;
    for (int32_t j = 0; j < a->rank; j++) {
        const int32_t filter = unit * a->rank + j;
        const int8_t *w = a->features + (ptrdiff_t)filter * a->inputs;
        const int8_t *t = a->time + (ptrdiff_t)filter * a->memory;
        int32_t feature = 0;
        for (int32_t i = 0; i < a->inputs; i++) {
            feature += w[i] * (codes[i] - k->zero_point);
        }
        const float result = (float)feature * (k->scale * a->features_scale);
        cg_svdf_push_f32(before + j * a->memory, after + j * a->memory, a->memory, result);
        float weighed = 0.0f;
        for (int32_t i = 0; i < a->memory; i++) {
            weighed += (float)t[i] * a->time_scale * after[j * a->memory + i];
        }
        sum += weighed;
    }
    return cg_clamp_f32(a->bias != NULL ? sum + a->bias[unit] : sum, a->act_min, a->act_max);
}

/* As `cg_svdf_f32`; scratch holds the codes of one vector of data. */
CG_KERNEL void cg_svdf_hybrid(const cg_svdf_hybrid_args *a, const cg_src *x0, const cg_src *x1,
                              const cg_dst *y0, const cg_dst *y1, const cg_range *r, void *scratch)
{
    int8_t *codes = (int8_t *)scratch;
    const cg_f32 *before = (const cg_f32 *)cg_at(x1, 0, 0);
    cg_f32 *after = (cg_f32 *)cg_put(y1, 0, 0);
    for (int32_t b = r->x0; b < r->x1; b++) {
        const cg_f32 *x = (const cg_f32 *)cg_at(x0, 0, b);
        cg_f32 *y = (cg_f32 *)cg_put(y0, 0, b);
        const cg_codes k = cg_encode_vector(x, a->inputs, a->asymmetric, codes);
        for (int32_t u = 0; u < a->units; u++) {
            const ptrdiff_t first = ((ptrdiff_t)b * a->units + u) * a->rank * a->memory;
            y[u] = cg_svdf_unit_hybrid(a, u, codes, &k, before + first, after + first);
        }
    }
}

#endif
