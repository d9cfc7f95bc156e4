/* SPDX-License-Identifier: 0BSD
 *
 * MEAN of codes: averages whole rows, columns and runs of channels. In channel p * out_c + c of an
 * input pixel belongs to out channel c; all `parts` of them are averaged. The division by the number
 * of elements is part of the multiplier; rounds twice.
 */
#ifndef CG_MEAN_H
#define CG_MEAN_H

#include "cg_code.h"
#include "cg_fixed_point.h"

typedef struct {
    int32_t rows;                     /* to average, or 0: row y of the output is row y of the input */
    int32_t columns;                  /* likewise */
    int32_t parts, out_c;
    int32_t offset;                   /* added to each sum: its elements' zero points */
    int32_t output_offset;
    int32_t multiplier, shift;
    int32_t low, high;                /* of the type */
} cg_mean_args;

CG_KERNEL int32_t cg_mean_sum(cg_type type, const cg_mean_args *a, const cg_src *x,
                              const cg_range *w, int32_t c)
{
    int32_t sum = 0;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            const void *p = cg_at(x, iy, ix);
            for (int32_t k = 0; k < a->parts; k++) {
                sum += cg_code(p, c + k * a->out_c, type);
            }
        }
    }
    return sum;
}

CG_KERNEL void cg_mean(cg_type type, const cg_mean_args *a, const cg_src *x, const cg_dst *y,
                       const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = {
                a->rows != 0 ? 0 : oy, a->rows != 0 ? a->rows : oy + 1,
                a->columns != 0 ? 0 : ox, a->columns != 0 ? a->columns : ox + 1, 0, 0,
            };
            void *out = cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                int32_t v = cg_mean_sum(type, a, x, &w, c) + a->offset;
                v = cg_requantize_twice(v, a->multiplier, a->shift);
                v = cg_add32(v, a->output_offset);
                cg_set_code(out, c, cg_clamp(v, a->low, a->high), type);
            }
        }
    }
}

CG_KERNEL void cg_mean_s8(const cg_mean_args *a, const cg_src *x, const cg_dst *y, const cg_range *r)
{
    cg_mean(CG_TYPE_S8, a, x, y, r);
}

CG_KERNEL void cg_mean_u8(const cg_mean_args *a, const cg_src *x, const cg_dst *y, const cg_range *r)
{
    cg_mean(CG_TYPE_U8, a, x, y, r);
}

CG_KERNEL void cg_mean_s16(const cg_mean_args *a, const cg_src *x, const cg_dst *y, const cg_range *r)
{
    cg_mean(CG_TYPE_S16, a, x, y, r);
}

#endif
