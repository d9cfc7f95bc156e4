/* SPDX-License-Identifier: 0BSD
 *
 * LSTM, float, over a sequence: with or without input gate, peepholes, normalised sums, projection.
 */
#ifndef CG_LSTM_F32_H
#define CG_LSTM_F32_H

#include "cg_float.h"

#include <math.h>
#include <string.h>

typedef struct {
    const float *bias;
    const float *peephole;          /* one per unit; null: none */
    const float *norm;              /* factors of the normalised sums; null: not normalised */
} cg_lstm_vectors;

typedef struct {
    const float *input;             /* [unit][input]; null: this gate is 1 less the forget gate */
    const float *recurrent;         /* [unit][output] */
    cg_lstm_vectors vectors;
} cg_lstm_f32_gate;

typedef struct {
    int32_t units;
    int32_t is_tanh;                /* the curve of candidates and cells; else a clamp */
    float act_min, act_max;
    float cell_clip;                /* 0: none */
} cg_lstm_rules;

typedef struct {
    int32_t steps, batch, time_major;
    int32_t inputs, outputs;
    cg_lstm_rules rules;
    cg_lstm_f32_gate input, forget, cell, output;
    const float *projection;        /* [output][unit]; null: the outputs are the units */
    const float *projection_bias;   /* null: none */
    float projection_clip;          /* 0: none */
} cg_lstm_f32_args;

CG_KERNEL float cg_lstm_dot_f32(const float *weights, const cg_f32 *x, int32_t count)
{
    float sum = 0.0f;
    for (int32_t i = 0; i < count; i++) {
        sum += weights[i] * x[i];
    }
    return sum;
}

/* Sums less their mean, divided by their standard deviation, times factors, plus biases. */
CG_KERNEL void cg_lstm_normalise_f32(const cg_lstm_vectors *g, cg_f32 *sums, int32_t units)
{
    float mean = 0.0f, variance = 0.0f;
    for (int32_t u = 0; u < units; u++) {
        mean += sums[u];
    }
    mean /= (float)units;
    for (int32_t u = 0; u < units; u++) {
        variance += (sums[u] - mean) * (sums[u] - mean);
    }
    const float scale = 1.0f / sqrtf(variance / (float)units + 1e-8f);
    for (int32_t u = 0; u < units; u++) {
        sums[u] = (sums[u] - mean) * scale * g->norm[u] + g->bias[u];
    }
}

/* What a unit's sum begins with. */
CG_KERNEL float cg_lstm_first_f32(const cg_lstm_vectors *g, int32_t unit)
{
    return g->norm != NULL ? 0.0f : g->bias[unit];
}

/* The sums of a gate, before its curve, from those of its matrices. */
CG_KERNEL void cg_lstm_finish_f32(const cg_lstm_vectors *g, const cg_f32 *cell, cg_f32 *sums,
                                  int32_t units)
{
    for (int32_t u = 0; u < units && g->peephole != NULL; u++) {
        sums[u] += g->peephole[u] * cell[u];
    }
    if (g->norm != NULL) {
        cg_lstm_normalise_f32(g, sums, units);
    }
}

CG_KERNEL void cg_lstm_gate_f32(const cg_lstm_f32_args *a, const cg_lstm_f32_gate *g,
                                const cg_f32 *x, const cg_f32 *state, const cg_f32 *cell,
                                cg_f32 *sums)
{
    for (int32_t u = 0; u < a->rules.units; u++) {
        float v = cg_lstm_first_f32(&g->vectors, u);
        v += cg_lstm_dot_f32(g->input + (ptrdiff_t)u * a->inputs, x, a->inputs);
        sums[u] = v + cg_lstm_dot_f32(g->recurrent + (ptrdiff_t)u * a->outputs, state, a->outputs);
    }
    cg_lstm_finish_f32(&g->vectors, cell, sums, a->rules.units);
}

CG_KERNEL float cg_lstm_logistic_f32(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

CG_KERNEL float cg_lstm_curve_f32(const cg_lstm_rules *a, float v)
{
    return a->is_tanh ? tanhf(v) : cg_clamp_f32(v, a->act_min, a->act_max);
}

/* The new cell of forget, input and candidate sums; without input sums the gates are coupled. */
CG_KERNEL void cg_lstm_cell_f32(const cg_lstm_rules *a, const cg_f32 *forget, const cg_f32 *input,
                                const cg_f32 *candidate, cg_f32 *cell)
{
    for (int32_t u = 0; u < a->units; u++) {
        const float f = cg_lstm_logistic_f32(forget[u]);
        const float i = input != NULL ? cg_lstm_logistic_f32(input[u]) : 1.0f - f;
        const float v = f * cell[u] + i * cg_lstm_curve_f32(a, candidate[u]);
        cell[u] = a->cell_clip > 0.0f ? cg_clamp_f32(v, -a->cell_clip, a->cell_clip) : v;
    }
}

CG_KERNEL void cg_lstm_hidden_f32(const cg_lstm_rules *a, const cg_f32 *output, const cg_f32 *cell,
                                  cg_f32 *hidden)
{
    for (int32_t u = 0; u < a->units; u++) {
        hidden[u] = cg_lstm_logistic_f32(output[u]) * cg_lstm_curve_f32(a, cell[u]);
    }
}

CG_KERNEL void cg_lstm_project_f32(const cg_lstm_f32_args *a, const cg_f32 *hidden, cg_f32 *state)
{
    for (int32_t p = 0; p < a->outputs; p++) {
        float v = a->projection_bias != NULL ? a->projection_bias[p] : 0.0f;
        v += cg_lstm_dot_f32(a->projection + (ptrdiff_t)p * a->rules.units, hidden,
                             a->rules.units);
        state[p] = a->projection_clip > 0.0f
                 ? cg_clamp_f32(v, -a->projection_clip, a->projection_clip) : v;
    }
}

/* One step of one sequence; `sums` has room for four gates. */
CG_KERNEL void cg_lstm_step_f32(const cg_lstm_f32_args *a, const cg_f32 *x, cg_f32 *state,
                                cg_f32 *cell, cg_f32 *sums)
{
    const int32_t units = a->rules.units;
    cg_f32 *forget = sums, *candidate = sums + units, *output = candidate + units;
    cg_f32 *input = a->input.input != NULL ? output + units : NULL;
    if (input != NULL) {
        cg_lstm_gate_f32(a, &a->input, x, state, cell, input);
    }
    cg_lstm_gate_f32(a, &a->forget, x, state, cell, forget);
    cg_lstm_gate_f32(a, &a->cell, x, state, cell, candidate);
    cg_lstm_cell_f32(&a->rules, forget, input, candidate, cell);
    cg_lstm_gate_f32(a, &a->output, x, state, cell, output);
    cg_lstm_hidden_f32(&a->rules, output, cell, a->projection != NULL ? sums : state);
    if (a->projection != NULL) {
        cg_lstm_project_f32(a, sums, state);
    }
}

/* x0: the sequence, x1, x2: output and cell before it; y0: all outputs, y1, y2: both after it. */
CG_KERNEL void cg_lstm_f32(const cg_lstm_f32_args *a, const cg_src *x0, const cg_src *x1,
                           const cg_src *x2, const cg_dst *y0, const cg_dst *y1, const cg_dst *y2,
                           const cg_range *r, void *scratch)
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
            cg_lstm_step_f32(a, x, state, cell, (cg_f32 *)scratch);
            memcpy(cg_put(y0, row, col), state, out_bytes);
        }
    }
}

#endif
