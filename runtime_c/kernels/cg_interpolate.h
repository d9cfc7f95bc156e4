/* SPDX-License-Identifier: 0BSD
 *
 * Functions of one int16 variable: 512 steps of 128 codes with straight lines between them.
 */
#ifndef CG_INTERPOLATE_H
#define CG_INTERPOLATE_H

#include "cg_element.h"

typedef struct {
    const int16_t *table;             /* 513 results, of codes -32768, -32640, ... 32768 */
} cg_interpolate_args;

/* The function's value at code v, halves upwards. */
CG_KERNEL int32_t cg_interpolate(const int16_t *table, int32_t v)
{
    const int32_t step = (v >> 7) + 256;
    const int32_t low = table[step];
    const int32_t rise = (int16_t)(table[step + 1] - low);
    return (int16_t)(low + ((rise * (v & 127) + 64) >> 7));
}

CG_KERNEL void cg_interpolate_s16(const cg_interpolate_args *a, const cg_src *x, const cg_dst *y,
                                  const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        for (int32_t col = r->x0; col < r->x1; col++) {
            const cg_s16 *in = (const cg_s16 *)cg_at(x, row, col);
            cg_s16 *out = (cg_s16 *)cg_put(y, row, col);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = (int16_t)cg_interpolate(a->table, in[c]);
            }
        }
    }
}

#endif
