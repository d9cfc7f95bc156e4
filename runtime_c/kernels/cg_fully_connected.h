/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, int8: every pixel is one input vector, a few outputs at a time. Weights are
 * [out][in]. Rounds once, like a double product.
 */
#ifndef CG_FULLY_CONNECTED_H
#define CG_FULLY_CONNECTED_H

#include "cg_double_scale.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t depth;                    /* elements of an input vector */
    int32_t per_channel;              /* 1: one scale per out channel, 0: one for all */
    int32_t input_offset, weights_offset, output_offset;
    int32_t act_min, act_max;
    const int8_t *weights;
    const int32_t *bias;              /* null: none */
    const uint32_t *scale_high;       /* see cg_double_scale.h */
    const uint32_t *scale_low;
    const int8_t *scale_shift;
} cg_fully_connected_args;

/* Channels whose sums are held in registers at a time: Arm's 32-bit cores have few of them. Without
 * indexed loads, each pointer of a loop costs an addition per round: take several inputs at a time. */
#if defined(__arm__)
#define CG_FULLY_CONNECTED_CHANNELS 2
#else
#define CG_FULLY_CONNECTED_CHANNELS 4
#endif
#if defined(__riscv) && defined(__GNUC__)
#define CG_FULLY_CONNECTED_STEP 4
#define CG_FULLY_CONNECTED_UNROLL _Pragma("GCC unroll 4")
#else
#define CG_FULLY_CONNECTED_STEP 1
#define CG_FULLY_CONNECTED_UNROLL
#endif

/* Adds what input k, which is v, gives to all sums. */
CG_KERNEL void cg_fully_connected_add(const cg_fully_connected_args *a, int32_t *sums, int32_t v,
                                      const int8_t *const *q, int32_t k)
{
    sums[0] += v * (q[0][k] + a->weights_offset);
    sums[1] += v * (q[1][k] + a->weights_offset);
#if CG_FULLY_CONNECTED_CHANNELS > 2
    sums[2] += v * (q[2][k] + a->weights_offset);
    sums[3] += v * (q[3][k] + a->weights_offset);
#endif
}

CG_KERNEL void cg_fully_connected_dots(const cg_fully_connected_args *a, const int8_t *p,
                                       const int8_t *const *q, int32_t *sums)
{
    int32_t i = 0;
    for (; i + CG_FULLY_CONNECTED_STEP <= a->depth; i += CG_FULLY_CONNECTED_STEP) {
        CG_FULLY_CONNECTED_UNROLL
        for (int32_t k = i; k < i + CG_FULLY_CONNECTED_STEP; k++) {
            cg_fully_connected_add(a, sums, p[k] + a->input_offset, q, k);
        }
    }
    for (; i < a->depth; i++) {
        cg_fully_connected_add(a, sums, p[i] + a->input_offset, q, i);
    }
}

/* Channels [c, c + n) of one vector, n at most CG_FULLY_CONNECTED_CHANNELS. */
CG_KERNEL void cg_fully_connected_some(const cg_fully_connected_args *a, const int8_t *p, int32_t c,
                                       int32_t n, int8_t *out)
{
    const int8_t *q[CG_FULLY_CONNECTED_CHANNELS];
    int32_t sums[CG_FULLY_CONNECTED_CHANNELS] = { 0 };
    for (int32_t i = 0; i < CG_FULLY_CONNECTED_CHANNELS; i++) {
        q[i] = a->weights + (ptrdiff_t)(c + cg_min(i, n - 1)) * a->depth;
    }
    cg_fully_connected_dots(a, p, q, sums);
    for (int32_t i = 0; i < n; i++) {
        const int32_t s = a->per_channel != 0 ? c + i : 0;
        int32_t v = cg_add32(sums[i], a->bias != NULL ? a->bias[c + i] : 0);
        v = cg_scale_double(v, a->scale_high[s], a->scale_low[s], a->scale_shift[s]);
        out[c + i] = (int8_t)cg_clamp(v + a->output_offset, a->act_min, a->act_max);
    }
}

CG_KERNEL void cg_fully_connected_s8(const cg_fully_connected_args *a, const cg_src *x,
                                     const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *in = (const int8_t *)cg_at(x, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c += CG_FULLY_CONNECTED_CHANNELS) {
                cg_fully_connected_some(a, in, c, cg_min(CG_FULLY_CONNECTED_CHANNELS, r->c1 - c), out);
            }
        }
    }
}

#endif
