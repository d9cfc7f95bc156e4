/* SPDX-License-Identifier: 0BSD
 *
 * QUANTIZE from float: round(x / scale), halves away from zero, plus the zero point, saturated.
 * Values beyond every code saturate too; NaN becomes the lowest code.
 */
#ifndef CG_QUANTIZE_H
#define CG_QUANTIZE_H

#include "cg_view.h"

typedef struct {
    float scale;
    int32_t zero_point;
    int32_t low, high;                /* of the output's type, int8 or uint8 */
} cg_quantize_args;

CG_KERNEL int32_t cg_quantize_one(const cg_quantize_args *a, float x)
{
    const float far = 1024.0f;        /* beyond any code's distance to any zero point */
    float v = x / a->scale;
    v = v > -far ? v : -far;          /* also for NaN */
    v = v < far ? v : far;
    const int32_t whole = (int32_t)v;
    const float rest = v - (float)whole;
    const int32_t up = rest >= 0.5f ? 1 : 0;
    const int32_t down = rest <= -0.5f ? 1 : 0;
    return cg_clamp(whole + up - down + a->zero_point, a->low, a->high);
}

CG_KERNEL void cg_quantize_f32(const cg_quantize_args *a, const cg_src *x, const cg_dst *y,
                               const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const float *in = (const float *)cg_at(x, row, col);
            uint8_t *out = (uint8_t *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = (uint8_t)(cg_quantize_one(a, in[c]) & 255);
            }
        }
    }
}

#endif
