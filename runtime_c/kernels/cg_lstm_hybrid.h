/* SPDX-License-Identifier: 0BSD
 *
 * LSTM of float data with int8 matrices: inputs, outputs and units are quantised before each product.
 */
#ifndef CG_LSTM_HYBRID_H
#define CG_LSTM_HYBRID_H

#include "cg_hybrid.h"
#include "cg_lstm_f32.h"

typedef struct {
    const int8_t *input;            /* [unit][input]; null: this gate is 1 less the forget gate */
    const int8_t *recurrent;        /* [unit][output] */
    float input_scale, recurrent_scale;
    cg_lstm_vectors vectors;
} cg_lstm_hybrid_gate;

typedef struct {
    int32_t steps, batch, time_major;
    int32_t inputs, outputs;
    int32_t asymmetric;             /* 1: quantise with a zero point */
    cg_lstm_rules rules;
    cg_lstm_hybrid_gate input, forget, cell, output;
    const int8_t *projection;       /* [output][unit]; null: the outputs are the units */
    float projection_scale;
    const float *projection_bias;   /* null: none */
    float projection_clip;          /* 0: none */
} cg_lstm_hybrid_args;

/* A vector in codes. */
typedef struct {
    const int8_t *codes;
    cg_codes k;
    int32_t count;
} cg_lstm_coded;

CG_KERNEL cg_lstm_coded cg_lstm_encoded(const cg_lstm_hybrid_args *a, const cg_f32 *x,
                                        int32_t count, int8_t *codes)
{
    const cg_lstm_coded coded = {codes, cg_encode_vector(x, count, a->asymmetric, codes), count};
    return coded;
}

CG_KERNEL float cg_lstm_dot_hybrid(const int8_t *weights, const cg_lstm_coded *x, float scale)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < x->count; i++) {
        sum += weights[i] * (x->codes[i] - x->k.zero_point);
    }
    return (float)sum * (x->k.scale * scale);
}

/* The sums of a gate, before its curve. */
CG_KERNEL void cg_lstm_gate_hybrid(const cg_lstm_hybrid_args *a, const cg_lstm_hybrid_gate *g,
                                   const cg_lstm_coded *x, const cg_lstm_coded *state,
                                   const cg_f32 *cell, cg_f32 *sums)
{
    for (int32_t u = 0; u < a->rules.units; u++) {
        float v = cg_lstm_first_f32(&g->vectors, u);
        v += cg_lstm_dot_hybrid(g->input + (ptrdiff_t)u * x->count, x, g->input_scale);
        v += cg_lstm_dot_hybrid(g->recurrent + (ptrdiff_t)u * state->count, state,
                                g->recurrent_scale);
        sums[u] = v;
    }
    cg_lstm_finish_f32(&g->vectors, cell, sums, a->rules.units);
}

CG_KERNEL void cg_lstm_project_hybrid(const cg_lstm_hybrid_args *a, const cg_f32 *hidden,
                                      int8_t *codes, cg_f32 *state)
{
    const cg_lstm_coded x = cg_lstm_encoded(a, hidden, a->rules.units, codes);
    for (int32_t p = 0; p < a->outputs; p++) {
        float v = a->projection_bias != NULL ? a->projection_bias[p] : 0.0f;
        v += cg_lstm_dot_hybrid(a->projection + (ptrdiff_t)p * x.count, &x, a->projection_scale);
        state[p] = a->projection_clip > 0.0f
                 ? cg_clamp_f32(v, -a->projection_clip, a->projection_clip) : v;
    }
}

/* One step of one sequence; `sums` has room for four gates, with room for codes behind them. */
CG_KERNEL void cg_lstm_step_hybrid(const cg_lstm_hybrid_args *a, const cg_f32 *data, cg_f32 *state,
                                   cg_f32 *cell, cg_f32 *sums)
{
    const int32_t units = a->rules.units;
    int8_t *codes = (int8_t *)(sums + (ptrdiff_t)4 * units);
    const cg_lstm_coded x = cg_lstm_encoded(a, data, a->inputs, codes);
    const cg_lstm_coded h = cg_lstm_encoded(a, state, a->outputs, codes + a->inputs);
    cg_f32 *forget = sums, *candidate = sums + units, *output = candidate + units;
    cg_f32 *input = a->input.input != NULL ? output + units : NULL;
    if (input != NULL) {
        cg_lstm_gate_hybrid(a, &a->input, &x, &h, cell, input);
    }
    cg_lstm_gate_hybrid(a, &a->forget, &x, &h, cell, forget);
    cg_lstm_gate_hybrid(a, &a->cell, &x, &h, cell, candidate);
    cg_lstm_cell_f32(&a->rules, forget, input, candidate, cell);
    cg_lstm_gate_hybrid(a, &a->output, &x, &h, cell, output);
    cg_lstm_hidden_f32(&a->rules, output, cell, a->projection != NULL ? sums : state);
    if (a->projection != NULL) {
        cg_lstm_project_hybrid(a, sums, codes, state);
    }
}

/* x0: the sequence, x1, x2: output and cell before it; y0: all outputs, y1, y2: both after it. */
CG_KERNEL void cg_lstm_hybrid(const cg_lstm_hybrid_args *a, const cg_src *x0,
                              const cg_src *x1, const cg_src *x2, const cg_dst *y0,
                              const cg_dst *y1, const cg_dst *y2, const cg_range *r,
                              void *scratch)
{
    const size_t out_bytes = (size_t)(r->c1 - r->c0) * sizeof(float);
    memcpy(cg_put(y1, 0, 0), cg_at(x1, 0, 0), (size_t)(a->batch * a->outputs) * sizeof(float));
    memcpy(cg_put(y2, 0, 0), cg_at(x2, 0, 0), (size_t)(a->batch * a->rules.units) * sizeof(float));
    for (int32_t step = 0; step < a->steps; step++) {
        for (int32_t b = 0; b < a->batch; b++) {
            const int32_t row = a->time_major ? step : b, col = a->time_major ? b : step;
            cg_f32 *state = (cg_f32 *)cg_put(y1, 0, 0) + (ptrdiff_t)b * a->outputs;
            cg_f32 *cell = (cg_f32 *)cg_put(y2, 0, 0) + (ptrdiff_t)b * a->rules.units;
            const cg_f32 *x = (const cg_f32 *)cg_at(x0, row, col);
            cg_lstm_step_hybrid(a, x, state, cell, (cg_f32 *)scratch);
            memcpy(cg_put(y0, row, col), state, out_bytes);
        }
    }
}

#endif
