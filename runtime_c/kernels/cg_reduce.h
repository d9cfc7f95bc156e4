/* SPDX-License-Identifier: 0BSD
 *
 * SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL, REDUCE_ANY: the elements that share a result
 * are taken one by one in their order, which decides how floats round. Integers wrap.
 */
#ifndef CG_REDUCE_H
#define CG_REDUCE_H

#include "cg_element.h"
#include "cg_fixed_point.h"
#include "cg_walk.h"

#include <float.h>

typedef struct {
    cg_walk kept;                     /* to the first element of each result */
    cg_walk reduced;                  /* from there to the others */
    int32_t count;                    /* elements per result */
} cg_reduce_args;

/* Defines the kernel `name`: t, of type `total`, is `first` and then `next` for each element v, which
 * follow from t, v and the args k. The result, of type cg_<type>, is made of the last t. */
#define CG_REDUCE(name, args, type, total, first, next, result)                                    \
    CG_KERNEL void name(const args *k, const cg_src *x, const cg_dst *y, const cg_range *r)        \
    {                                                                                              \
        const cg_##type *in = (const cg_##type *)cg_at(x, 0, 0);                                   \
        cg_##type *out = (cg_##type *)cg_put(y, 0, 0);                                             \
        for (int32_t c = r->c0; c < r->c1; c++) {                                                  \
            const cg_##type *p = in + cg_walked(&k->kept, c);                                      \
            total t = (first);                                                                     \
            for (int32_t i = 0; i < k->count; i++) {                                               \
                const cg_##type v = p[cg_walked(&k->reduced, i)];                                  \
                t = (next);                                                                        \
            }                                                                                      \
            out[c] = (result);                                                                     \
        }                                                                                          \
    }

#define CG_REDUCE_PLAIN(name, type, total, first, next) \
    CG_REDUCE(name, cg_reduce_args, type, total, first, next, (cg_##type)t)

CG_REDUCE_PLAIN(cg_sum_f32, f32, float, 0.0f, t + v)
CG_REDUCE_PLAIN(cg_sum_s32, s32, uint32_t, 0u, t + (uint32_t)v)
CG_REDUCE_PLAIN(cg_sum_s64, s64, uint64_t, 0u, t + (uint64_t)v)

CG_REDUCE_PLAIN(cg_prod_f32, f32, float, 1.0f, t * v)
CG_REDUCE_PLAIN(cg_prod_s8, s8, int32_t, 1, (cg_s8)(t * v))
CG_REDUCE_PLAIN(cg_prod_u8, u8, int32_t, 1, (cg_u8)(t * v))
CG_REDUCE_PLAIN(cg_prod_s16, s16, int32_t, 1, (cg_s16)(t * v))
CG_REDUCE_PLAIN(cg_prod_s32, s32, uint32_t, 1u, t * (uint32_t)v)
CG_REDUCE_PLAIN(cg_prod_s64, s64, uint64_t, 1u, t * (uint64_t)v)

CG_REDUCE_PLAIN(cg_reduce_max_s8, s8, int32_t, INT8_MIN, v > t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_max_u8, u8, int32_t, 0, v > t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_max_s16, s16, int32_t, INT16_MIN, v > t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_max_s32, s32, int32_t, INT32_MIN, v > t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_max_s64, s64, int64_t, INT64_MIN, v > t ? v : t)

CG_REDUCE_PLAIN(cg_reduce_min_s8, s8, int32_t, INT8_MAX, v < t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_min_u8, u8, int32_t, UINT8_MAX, v < t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_min_s16, s16, int32_t, INT16_MAX, v < t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_min_s32, s32, int32_t, INT32_MAX, v < t ? v : t)
CG_REDUCE_PLAIN(cg_reduce_min_s64, s64, int64_t, INT64_MAX, v < t ? v : t)

CG_REDUCE_PLAIN(cg_reduce_all_b8, b8, int32_t, 1, t & v)
CG_REDUCE_PLAIN(cg_reduce_any_b8, b8, int32_t, 0, t | v)

/* Floats: over all axes the first element starts, else the largest or smallest finite number, which
 * stays where all elements are beyond it or no number. */
typedef struct {
    cg_walk kept, reduced;
    int32_t count;
    int32_t from_first;
} cg_reduce_float_args;

CG_REDUCE(cg_reduce_max_f32, cg_reduce_float_args, f32, float, k->from_first != 0 ? p[0] : -FLT_MAX,
          v > t ? v : t, t)
CG_REDUCE(cg_reduce_min_f32, cg_reduce_float_args, f32, float, k->from_first != 0 ? p[0] : FLT_MAX,
          v < t ? v : t, t)

/* Codes: the sum of the distances to the zero point, brought to the output's scale; rounds twice. */
typedef struct {
    cg_walk kept, reduced;
    int32_t count;
    int32_t offset;                   /* added to each sum: its elements' zero points */
    int32_t multiplier, shift;
    int32_t output_offset;
    int32_t low, high;
} cg_sum_args;

CG_KERNEL int32_t cg_sum_result(const cg_sum_args *k, int32_t total)
{
    const int32_t distance = cg_add32(total, k->offset);
    const int32_t v = cg_requantize_twice(distance, k->multiplier, k->shift);
    return cg_clamp(cg_add32(v, k->output_offset), k->low, k->high);
}

#define CG_SUM_CODES(name, type) \
    CG_REDUCE(name, cg_sum_args, type, int32_t, 0, cg_add32(t, v), (cg_##type)cg_sum_result(k, t))

CG_SUM_CODES(cg_sum_qs8, s8)
CG_SUM_CODES(cg_sum_qu8, u8)
CG_SUM_CODES(cg_sum_qs16, s16)

/* Codes: each product of distances to the zero point is scaled at once, by a factor of 15 bits. */
typedef struct {
    cg_walk kept, reduced;
    int32_t count;
    int32_t input_offset, output_offset;
    int32_t multiplier, shift;        /* to the right */
    int32_t low, high;
} cg_prod_args;

CG_KERNEL int32_t cg_prod_scaled(const cg_prod_args *k, int64_t v)
{
    const int64_t half = (int64_t)1 << (k->shift - 1);
    return (int32_t)(uint32_t)(uint64_t)((v * k->multiplier + half) >> k->shift);
}

CG_KERNEL int32_t cg_prod_next(const cg_prod_args *k, int32_t i, int32_t total, int32_t distance)
{
    return i == 0 ? distance : cg_prod_scaled(k, (int64_t)total * distance);
}

CG_KERNEL int32_t cg_prod_result(const cg_prod_args *k, int32_t total)
{
    return cg_clamp(cg_add32(cg_prod_scaled(k, total), k->output_offset), k->low, k->high);
}

#define CG_PROD_CODES(name, type)                                                                  \
    CG_REDUCE(name, cg_prod_args, type, int32_t, 0, cg_prod_next(k, i, t, v + k->input_offset),    \
              (cg_##type)cg_prod_result(k, t))

CG_PROD_CODES(cg_prod_qs8, s8)
CG_PROD_CODES(cg_prod_qs16, s16)

#endif
