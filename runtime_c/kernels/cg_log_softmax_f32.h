/* SPDX-License-Identifier: 0BSD
 *
 * LOG_SOFTMAX over the channels of a pixel, float: x - largest - log(sum of exp(x - largest)).
 */
#ifndef CG_LOG_SOFTMAX_F32_H
#define CG_LOG_SOFTMAX_F32_H

#include "cg_element.h"

#include <float.h>
#include <math.h>

/* One pixel of n channels; `out` may be `in`. */
CG_KERNEL void cg_log_softmax_f32_pixel(const cg_f32 *in, cg_f32 *out, int32_t n)
{
    float largest = -FLT_MAX;
    for (int32_t c = 0; c < n; c++) {
        largest = largest < in[c] ? in[c] : largest;
    }
    float sum = 0.0f;
    for (int32_t c = 0; c < n; c++) {
        sum += expf(in[c] - largest);
    }
    const float log_sum = logf(sum);
    for (int32_t c = 0; c < n; c++) {
        out[c] = in[c] - largest - log_sum;
    }
}

CG_KERNEL void cg_log_softmax_f32(const cg_src *x, const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_f32 *in = (const cg_f32 *)cg_at(x, row, col);
            cg_log_softmax_f32_pixel(in, (cg_f32 *)cg_put(y, row, col), r->c1);
        }
    }
}

#endif
