/* SPDX-License-Identifier: 0BSD
 *
 * L2_NORMALIZATION over the channels of a pixel: each over the square root of the sum of all squares.
 * int8 and uint8 come out with the scale 1/128.
 */
#ifndef CG_L2_NORMALIZATION_H
#define CG_L2_NORMALIZATION_H

#include "cg_element.h"
#include "cg_inverse_root.h"

#include <math.h>

typedef struct {
    int32_t zero_point;               /* of the input */
} cg_l2_normalization_args;

CG_KERNEL void cg_l2_normalization_f32(const cg_src *x, const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_f32 *in = (const cg_f32 *)cg_at(x, row, col);
            cg_f32 *out = (cg_f32 *)cg_put(y, row, col);
            float squares = 0.0f;
            for (int32_t c = 0; c < r->c1; c++) {
                squares += in[c] * in[c];
            }
            const float root = sqrtf(squares);
            const float norm = root < 1e-6f ? 1e-6f : root;
            for (int32_t c = 0; c < r->c1; c++) {
                out[c] = in[c] / norm;
            }
        }
    }
}

CG_KERNEL void cg_l2_normalization_s8(const cg_l2_normalization_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const int8_t *in = (const int8_t *)cg_at(x, row, col);
            int8_t *out = (int8_t *)cg_put(y, row, col);
            int32_t squares = 0;
            for (int32_t c = 0; c < r->c1; c++) {
                const int32_t v = in[c] - a->zero_point;
                squares += v * v;
            }
            const cg_inverse_root root = cg_inverse_square_root(squares);
            for (int32_t c = 0; c < r->c1; c++) {
                const int32_t v = in[c] - a->zero_point;
                const int32_t scaled = cg_requantize_twice(v, root.multiplier, root.shift + 7);
                out[c] = (int8_t)cg_clamp(scaled, INT8_MIN, INT8_MAX);
            }
        }
    }
}

CG_KERNEL void cg_l2_normalization_u8(const cg_l2_normalization_args *a, const cg_src *x,
                                      const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const uint8_t *in = (const uint8_t *)cg_at(x, row, col);
            uint8_t *out = (uint8_t *)cg_put(y, row, col);
            int32_t squares = 0;
            for (int32_t c = 0; c < r->c1; c++) {
                const int32_t v = in[c] - a->zero_point;
                squares += v * v;
            }
            const cg_inverse_root root = cg_inverse_square_root(squares);
            for (int32_t c = 0; c < r->c1; c++) {
                const int32_t v = (in[c] - a->zero_point) * 128;
                const int32_t scaled = cg_requantize_twice(v, root.multiplier, root.shift);
                out[c] = (uint8_t)cg_clamp(scaled + 128, 0, UINT8_MAX);
            }
        }
    }
}

#endif
