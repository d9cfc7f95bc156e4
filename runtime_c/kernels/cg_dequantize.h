/* SPDX-License-Identifier: 0BSD
 *
 * DEQUANTIZE to float: scale * (x - zero point). The product of a float and so small an integer
 * rounds once, so that it is the same in float as in double.
 */
#ifndef CG_DEQUANTIZE_H
#define CG_DEQUANTIZE_H

#include "cg_view.h"

typedef struct {
    float scale;
    int32_t flip;                     /* 128 turns int8 bytes into codes + 128; 0 for uint8 */
    int32_t offset;                   /* the zero point, + 128 for int8 */
} cg_dequantize_args;

CG_KERNEL void cg_dequantize_8(const cg_dequantize_args *a, const cg_src *x, const cg_dst *y,
                               const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const uint8_t *in = (const uint8_t *)cg_at(x, row, col);
            float *out = (float *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = a->scale * (float)((in[c] ^ a->flip) - a->offset);
            }
        }
    }
}

#endif
