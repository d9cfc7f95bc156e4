/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, int16 data without zero points, int8 weights: every pixel is one input vector.
 * Weights are [out][in]. The sum, of 64 bits, is scaled in double like the reference does it, or to
 * the same effect in integers where it fits 32 bits. Kernels for other families differ in the functions
 * of cg_dot_s16.h.
 */
#ifndef CG_FULLY_CONNECTED_S16_H
#define CG_FULLY_CONNECTED_S16_H

#include "cg_dot_s16.h"
#include "cg_double_scale.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    int32_t weights_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* null: none, or wider than 32 bits */
    const int64_t *wide_bias;         /* null: none, or not wider than 32 bits */
    const double *scale;              /* null: sums fit 32 bits */
    const uint32_t *scale_high;       /* see cg_double_scale.h; null with `scale` */
    const uint32_t *scale_low;
    const int8_t *scale_shift;
} cg_fully_connected_s16_args;

/* What channel c's sum starts from: the bias, and the offset of the weights times all inputs. */
CG_KERNEL int64_t cg_fully_connected_s16_start(const cg_fully_connected_s16_args *a, int64_t inputs,
                                               int32_t c)
{
    const int64_t offset = a->weights_offset * inputs;
    if (a->wide_bias != NULL) {
        return a->wide_bias[c] + offset;
    }
    return (a->bias != NULL ? a->bias[c] : 0) + offset;
}

/* The sum of the inputs, where it counts. */
CG_KERNEL int64_t cg_fully_connected_s16_inputs(const cg_fully_connected_s16_args *a, const cg_s16 *x)
{
    int64_t sum = 0;
    for (int32_t k = 0; a->weights_offset != 0 && k < a->depth; k++) {
        sum += x[k];
    }
    return sum;
}

/* Halves away from 0; |v| has to be below 2^31. */
CG_KERNEL int32_t cg_round_double(double v)
{
    const int32_t whole = (int32_t)v;
    const double rest = v - whole;
    return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

/* The code of channel c's sum. */
CG_KERNEL cg_s16 cg_fully_connected_s16_code(const cg_fully_connected_s16_args *a, int64_t sum, int32_t c)
{
    const int32_t s = a->per_channel != 0 ? c : 0;
    const int32_t v = a->scale != NULL
        ? cg_round_double((double)sum * a->scale[s])
        : cg_scale_double((int32_t)sum, a->scale_high[s], a->scale_low[s], a->scale_shift[s]);
    return (cg_s16)cg_clamp(v, a->act_min, a->act_max);
}

#define CG_FULLY_CONNECTED_S16(KERNEL, DOT)                                                         \
    CG_KERNEL void KERNEL##_vector(cg_s16 *out, const cg_fully_connected_s16_args *a,               \
                                   const cg_s16 *in, const cg_range *r)                             \
    {                                                                                               \
        const int64_t inputs = cg_fully_connected_s16_inputs(a, in);                                \
        int32_t count;                                                                              \
        for (int32_t c = r->c0; c < r->c1; c += count) {                                            \
            const int8_t *w = a->weights + (ptrdiff_t)c * a->depth;                                 \
            int64_t sums[4];                                                                        \
            count = r->c1 - c >= 4 ? 4 : 1;                                                         \
            for (int32_t i = 0; i < count; i++) {                                                   \
                sums[i] = cg_fully_connected_s16_start(a, inputs, c + i);                           \
            }                                                                                       \
            if (count == 4) {                                                                       \
                DOT##_4(sums, in, w, a->depth, a->depth);                                           \
            } else {                                                                                \
                DOT(sums, in, w, a->depth);                                                         \
            }                                                                                       \
            for (int32_t i = 0; i < count; i++) {                                                   \
                out[c + i] = cg_fully_connected_s16_code(a, sums[i], c + i);                        \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    CG_KERNEL void KERNEL(const cg_fully_connected_s16_args *a, const cg_src *x, const cg_dst *y,   \
                          const cg_range *r)                                                        \
    {                                                                                               \
        for (int32_t row = r->y0; row < r->y1; row++) {                                             \
            for (int32_t col = r->x0; col < r->x1; col++) {                                         \
                const cg_s16 *in = (const cg_s16 *)cg_at(x, row, col);                              \
                KERNEL##_vector((cg_s16 *)cg_put(y, row, col), a, in, r);                           \
            }                                                                                       \
        }                                                                                           \
    }

CG_FULLY_CONNECTED_S16(cg_fully_connected_s16, cg_dot_s16)
CG_FULLY_CONNECTED_S16(cg_fully_connected_dsp_s16, cg_dot_dsp_s16)
CG_FULLY_CONNECTED_S16(cg_fully_connected_mve_s16, cg_dot_mve_s16)

#endif
