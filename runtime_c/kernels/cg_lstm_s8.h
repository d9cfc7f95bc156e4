/* SPDX-License-Identifier: 0BSD
 *
 * LSTM with int8 data and weights and an int16 cell, over a sequence. The sums of a gate have 3
 * integer bits, gates none. The zero points of data and output are part of the biases.
 */
#ifndef CG_LSTM_S8_H
#define CG_LSTM_S8_H

#include "cg_curves_s16.h"
#include "cg_element.h"
#include "cg_fixed_point.h"
#include "cg_inverse_root.h"

#include <string.h>

typedef struct {
    int32_t multiplier, shift;
} cg_lstm_scale;

typedef struct {
    const int8_t *input;            /* [unit][input]; null: this gate is 1 less the forget gate */
    const int8_t *recurrent;        /* [unit][output] */
    const int32_t *input_bias, *recurrent_bias;
    const int16_t *peephole;        /* one per unit; null: none */
    cg_lstm_scale input_scale, recurrent_scale, peephole_scale;
    const int16_t *norm;            /* factors of the normalised sums; null: not normalised */
    const int32_t *norm_bias;
    cg_lstm_scale norm_scale;
    int32_t least_variance;
} cg_lstm_s8_gate;

typedef struct {
    int32_t steps, batch, time_major;
    int32_t inputs, units, outputs;
    cg_lstm_s8_gate input, forget, cell, output;
    int32_t cell_bits;              /* integer bits of the cell */
    int32_t has_tanh;               /* 0: the input gate stands for the tanh of the cell */
    int32_t peepholes;              /* units of a step, all sequences in a row, that have one */
    int32_t cell_clip;              /* 0: none */
    cg_lstm_scale hidden;
    int32_t hidden_zero_point;
    const int8_t *projection;       /* [output][unit]; null: the outputs are the units */
    const int32_t *projection_bias;
    cg_lstm_scale projection_scale;
    int32_t output_zero_point;
    int32_t projection_clip;        /* 0: none */
} cg_lstm_s8_args;

CG_KERNEL int32_t cg_lstm_scaled(int32_t v, const cg_lstm_scale *scale)
{
    return cg_requantize_twice(v, scale->multiplier, scale->shift);
}

CG_KERNEL int32_t cg_lstm_dot_s8(const int8_t *weights, const int8_t *x, int32_t count,
                                 int32_t bias)
{
    int32_t sum = bias;
    for (int32_t i = 0; i < count; i++) {
        sum += weights[i] * x[i];
    }
    return sum;
}

/* A sum with what its unit sees of the cell. `flat` counts the units of all sequences of a step. */
CG_KERNEL int32_t cg_lstm_peephole_s8(const cg_lstm_s8_args *a, const cg_lstm_s8_gate *g,
                                      int32_t flat, int32_t cell, int32_t sum)
{
    if (g->peephole == NULL || flat >= a->peepholes) {
        return sum;
    }
    const int32_t look = cell * g->peephole[flat % a->outputs];
    return cg_fixed_saturate_s16(sum + cg_lstm_scaled(look, &g->peephole_scale));
}

/* The sums less their mean, over their standard deviation, with 10 fractional bits; then times
 * factors, plus biases. Products wrap at 32 bits, as those of the reference do. */
CG_KERNEL void cg_lstm_normalise_s8(const cg_lstm_s8_gate *g, cg_s16 *sums, int32_t units)
{
    int32_t sum = 0;
    int64_t squares = 0;
    for (int32_t u = 0; u < units; u++) {
        sum += sums[u];
        squares += sums[u] * sums[u];
    }
    const int32_t mean = sum / units * 1024 + sum % units * 1024 / units;
    const int64_t spread = squares * ((1 << 20) / units) - (int64_t)mean * mean;
    const int32_t variance = spread < 0 ? 0 : (int32_t)(spread >> 20);
    const cg_inverse_root root =
        cg_inverse_square_root(variance < 1 ? g->least_variance : variance);
    for (int32_t u = 0; u < units; u++) {
        const int32_t far = sums[u] * 1024 - mean;
        const int32_t near = cg_requantize_twice(far, root.multiplier, root.shift);
        const int64_t v = cg_add32((int32_t)((uint32_t)near * (uint32_t)g->norm[u]), g->norm_bias[u]);
        const int32_t whole = (int32_t)(v > 0 ? (v + 512) >> 10 : -((512 - v) >> 10));
        sums[u] = (cg_s16)cg_fixed_saturate_s16(cg_lstm_scaled(whole, &g->norm_scale));
    }
}

/* The sums of a gate, before its curve, of the sequence whose first unit is `flat`. */
CG_KERNEL void cg_lstm_gate_s8(const cg_lstm_s8_args *a, const cg_lstm_s8_gate *g, const int8_t *x,
                               const int8_t *state, const cg_s16 *cell, int32_t flat, cg_s16 *sums)
{
    for (int32_t u = 0; u < a->units; u++) {
        const int32_t in = cg_lstm_dot_s8(g->input + (ptrdiff_t)u * a->inputs, x, a->inputs,
                                          g->input_bias[u]);
        const int32_t back = cg_lstm_dot_s8(g->recurrent + (ptrdiff_t)u * a->outputs, state,
                                            a->outputs, g->recurrent_bias[u]);
        const int32_t first = cg_fixed_saturate_s16(cg_lstm_scaled(in, &g->input_scale));
        const int32_t both =
            cg_fixed_saturate_s16(first + cg_lstm_scaled(back, &g->recurrent_scale));
        sums[u] = (cg_s16)cg_lstm_peephole_s8(a, g, flat + u, cell[u], both);
    }
    if (g->norm != NULL) {
        cg_lstm_normalise_s8(g, sums, a->units);
    }
}

/* The new cell of forget, input and candidate sums. */
CG_KERNEL void cg_lstm_cell_s8(const cg_lstm_s8_args *a, const cg_s16 *forget,
                               const cg_s16 *input, const cg_s16 *candidate, cg_s16 *cell)
{
    for (int32_t u = 0; u < a->units; u++) {
        const int32_t f = cg_logistic_fixed_s16(forget[u], 3);
        const int32_t i =
            a->input.input != NULL ? cg_logistic_fixed_s16(input[u], 3) : INT16_MAX - f;
        const int32_t g = cg_tanh_fixed_s16(candidate[u], 3);
        const int32_t kept = cg_rounding_shift(f * cell[u], 15);
        const int32_t added = cg_rounding_shift(i * g, 15 + a->cell_bits);
        int32_t v = cg_fixed_saturate_s16((int16_t)kept + (int16_t)added);
        if (a->cell_clip > 0) {
            v = cg_clamp(v, -a->cell_clip, a->cell_clip);
        }
        cell[u] = (cg_s16)v;
    }
}

CG_KERNEL int8_t cg_lstm_hidden_s8(const cg_lstm_s8_args *a, int32_t output, int32_t input,
                                   int32_t cell)
{
    const int32_t o = cg_logistic_fixed_s16(output, 3);
    const int32_t curve = a->has_tanh != 0 ? cg_tanh_fixed_s16(cell, a->cell_bits)
                                           : cg_logistic_fixed_s16(input, 3);
    const int32_t v = cg_lstm_scaled(o * curve, &a->hidden);
    return (int8_t)cg_clamp(v + a->hidden_zero_point, -128, 127);
}

CG_KERNEL void cg_lstm_project_s8(const cg_lstm_s8_args *a, const int8_t *hidden, int8_t *state)
{
    for (int32_t p = 0; p < a->outputs; p++) {
        const int32_t sum = cg_lstm_dot_s8(a->projection + (ptrdiff_t)p * a->units, hidden,
                                           a->units, a->projection_bias[p]);
        int32_t v = cg_lstm_scaled(sum, &a->projection_scale) + a->output_zero_point;
        v = cg_clamp(v, -128, 127);
        if (a->projection_clip > 0) {
            v = cg_clamp(v, -a->projection_clip, a->projection_clip);
        }
        state[p] = (int8_t)v;
    }
}

/* One step of one sequence, whose first unit is `flat`; `sums` has room for four gates. */
CG_KERNEL void cg_lstm_step_s8(const cg_lstm_s8_args *a, const int8_t *x, int8_t *state,
                               cg_s16 *cell, int32_t flat, cg_s16 *sums)
{
    cg_s16 *forget = sums, *input = sums + a->units, *candidate = input + a->units;
    cg_s16 *output = candidate + a->units;
    if (a->input.input != NULL) {
        cg_lstm_gate_s8(a, &a->input, x, state, cell, flat, input);
    }
    cg_lstm_gate_s8(a, &a->forget, x, state, cell, flat, forget);
    cg_lstm_gate_s8(a, &a->cell, x, state, cell, flat, candidate);
    cg_lstm_cell_s8(a, forget, input, candidate, cell);
    cg_lstm_gate_s8(a, &a->output, x, state, cell, flat, output);
    int8_t *hidden = a->projection != NULL ? (int8_t *)sums : state;
    for (int32_t u = 0; u < a->units; u++) {
        hidden[u] = cg_lstm_hidden_s8(a, output[u], input[u], cell[u]);
    }
    if (a->projection != NULL) {
        cg_lstm_project_s8(a, hidden, state);
    }
}

/* x0: the sequence, x1, x2: output and cell before it; y0: all outputs, y1, y2: both after it. */
CG_KERNEL void cg_lstm_s8(const cg_lstm_s8_args *a, const cg_src *x0, const cg_src *x1,
                          const cg_src *x2, const cg_dst *y0, const cg_dst *y1, const cg_dst *y2,
                          const cg_range *r, void *scratch)
{
    const size_t out_bytes = (size_t)(r->c1 - r->c0);
    memcpy(cg_put(y1, 0, 0), cg_at(x1, 0, 0), (size_t)(a->batch * a->outputs));
    memcpy(cg_put(y2, 0, 0), cg_at(x2, 0, 0), (size_t)(a->batch * a->units) * sizeof(int16_t));
    for (int32_t step = 0; step < a->steps; step++) {
        for (int32_t b = 0; b < a->batch; b++) {
            const int32_t row = a->time_major ? step : b, col = a->time_major ? b : step;
            int8_t *state = (int8_t *)cg_put(y1, 0, 0) + (ptrdiff_t)b * a->outputs;
            cg_s16 *cell = (cg_s16 *)cg_put(y2, 0, 0) + (ptrdiff_t)b * a->units;
            const int8_t *x = (const int8_t *)cg_at(x0, row, col);
            const int32_t flat = a->time_major ? b * a->units : 0;
            cg_lstm_step_s8(a, x, state, cell, flat, (cg_s16 *)scratch);
            memcpy(cg_put(y0, row, col), state, out_bytes);
        }
    }
}

#endif
