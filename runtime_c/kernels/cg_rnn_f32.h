/* SPDX-License-Identifier: 0BSD
 *
 * A simple recurrent layer on float data over a sequence: y = curve(W x + R y' + bias), y' being the
 * last output. The matrices are float, or int8 (hybrid: vectors are quantised before each product).
 */
#ifndef CG_RNN_F32_H
#define CG_RNN_F32_H

#include "cg_hybrid.h"

#include <math.h>
#include <string.h>

typedef struct {
    const float *real;              /* [unit][element]; null: int8 */
    const int8_t *codes;            /* null: float */
    float scale;                    /* of int8 ones */
} cg_rnn_matrix;

typedef struct {
    int32_t steps, batch, time_major;
    int32_t inputs, units;
    cg_rnn_matrix input, recurrent;
    const float *bias;
    int32_t is_tanh;                /* else a clamp */
    float act_min, act_max;
    int32_t asymmetric;             /* 1: quantise with a zero point */
} cg_rnn_f32_args;

/* sums[u] += row u of the matrix times the vector, whose codes need `count` bytes. */
CG_KERNEL void cg_rnn_add_f32(const cg_rnn_matrix *m, const cg_f32 *x, int32_t count,
                              int32_t asymmetric, cg_f32 *sums, int32_t units, int8_t *codes)
{
    if (m->codes == NULL) {
        for (int32_t u = 0; u < units; u++) {
            const float *w = m->real + (ptrdiff_t)u * count;
            float sum = 0.0f;
            for (int32_t i = 0; i < count; i++) {
                sum += w[i] * x[i];
            }
            sums[u] += sum;
        }
        return;
    }
    const cg_codes k = cg_encode_vector(x, count, asymmetric, codes);
    for (int32_t u = 0; u < units; u++) {
        const int8_t *w = m->codes + (ptrdiff_t)u * count;
        int32_t sum = 0;
        for (int32_t i = 0; i < count; i++) {
            sum += w[i] * (codes[i] - k.zero_point);
        }
        sums[u] += (float)sum * (k.scale * m->scale);
    }
}

/* One step of one sequence; `sums` has room for all units, with room for codes behind them. */
CG_KERNEL void cg_rnn_step_f32(const cg_rnn_f32_args *a, const cg_f32 *x, cg_f32 *state,
                               cg_f32 *sums)
{
    int8_t *codes = (int8_t *)(sums + a->units);
    for (int32_t u = 0; u < a->units; u++) {
        sums[u] = a->bias[u];
    }
    cg_rnn_add_f32(&a->input, x, a->inputs, a->asymmetric, sums, a->units, codes);
    cg_rnn_add_f32(&a->recurrent, state, a->units, a->asymmetric, sums, a->units, codes);
    for (int32_t u = 0; u < a->units; u++) {
        state[u] = a->is_tanh ? tanhf(sums[u]) : cg_clamp_f32(sums[u], a->act_min, a->act_max);
    }
}

/* x0: the sequence, x1: the output before it; y0: all outputs, y1: the last one. */
CG_KERNEL void cg_rnn_f32(const cg_rnn_f32_args *a, const cg_src *x0, const cg_src *x1,
                          const cg_dst *y0, const cg_dst *y1, const cg_range *r, void *scratch)
{
    const size_t out_bytes = (size_t)(r->c1 - r->c0) * sizeof(float);
    memcpy(cg_put(y1, 0, 0), cg_at(x1, 0, 0), (size_t)(a->batch * a->units) * sizeof(float));
    for (int32_t step = 0; step < a->steps; step++) {
        for (int32_t b = 0; b < a->batch; b++) {
            const int32_t row = a->time_major ? step : b, col = a->time_major ? b : step;
            cg_f32 *state = (cg_f32 *)cg_put(y1, 0, 0) + (ptrdiff_t)b * a->units;
            cg_rnn_step_f32(a, (const cg_f32 *)cg_at(x0, row, col), state, (cg_f32 *)scratch);
            memcpy(cg_put(y0, row, col), state, out_bytes);
        }
    }
}

#endif
