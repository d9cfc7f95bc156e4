/* SPDX-License-Identifier: 0BSD
 *
 * SOFTMAX over the channels of a pixel, float: exp((x - largest) * beta) over the sum of these.
 */
#ifndef CG_SOFTMAX_F32_H
#define CG_SOFTMAX_F32_H

#include "cg_float.h"

#include <float.h>
#include <math.h>

typedef struct {
    float beta;
} cg_softmax_f32_args;

/* One pixel of n channels; `out` may be `in`. */
CG_KERNEL void cg_softmax_f32_pixel(float beta, const cg_f32 *in, cg_f32 *out, int32_t n)
{
    float largest = -FLT_MAX;
    for (int32_t c = 0; c < n; c++) {
        largest = largest < in[c] ? in[c] : largest;
    }
    float sum = 0.0f;
    for (int32_t c = 0; c < n; c++) {
        const float e = expf((in[c] - largest) * beta);
        out[c] = e;
        sum += e;
    }
    for (int32_t c = 0; c < n; c++) {
        out[c] = out[c] / sum;
    }
}

CG_KERNEL void cg_softmax_f32(const cg_softmax_f32_args *a, const cg_src *x, const cg_dst *y,
                              const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_f32 *in = (const cg_f32 *)cg_at(x, row, col);
            cg_softmax_f32_pixel(a->beta, in, (cg_f32 *)cg_put(y, row, col), r->c1);
        }
    }
}

#endif
