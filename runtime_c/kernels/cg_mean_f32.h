/* SPDX-License-Identifier: 0BSD
 *
 * MEAN, float: averages whole rows, columns and runs of channels. In channel p * out_c + c of an
 * input pixel belongs to out channel c; all `parts` of them are averaged. Adds in the order of memory.
 */
#ifndef CG_MEAN_F32_H
#define CG_MEAN_F32_H

#include "cg_float.h"

typedef struct {
    int32_t rows;                     /* to average, or 0: row y of the output is row y of the input */
    int32_t columns;                  /* likewise */
    int32_t parts, out_c;
    int32_t count;                    /* elements per mean */
} cg_mean_f32_args;

CG_KERNEL float cg_mean_f32_sum(const cg_mean_f32_args *a, const cg_src *x, const cg_range *w,
                                int32_t c)
{
    float sum = 0.0f;
    for (int32_t iy = w->y0; iy < w->y1; iy++) {
        for (int32_t ix = w->x0; ix < w->x1; ix++) {
            const cg_f32 *p = (const cg_f32 *)cg_at(x, iy, ix) + c;
            for (int32_t k = 0; k < a->parts; k++) {
                sum += p[k * a->out_c];
            }
        }
    }
    return sum;
}

/* The rows and columns of the input that output pixel (oy, ox) averages. */
CG_KERNEL cg_range cg_mean_window(const cg_mean_f32_args *a, int32_t oy, int32_t ox)
{
    const cg_range w = {
        a->rows != 0 ? 0 : oy, a->rows != 0 ? a->rows : oy + 1,
        a->columns != 0 ? 0 : ox, a->columns != 0 ? a->columns : ox + 1, 0, 0,
    };
    return w;
}

CG_KERNEL void cg_mean_f32(const cg_mean_f32_args *a, const cg_src *x, const cg_dst *y,
                           const cg_range *r)
{
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const cg_range w = cg_mean_window(a, oy, ox);
            cg_f32 *out = (cg_f32 *)cg_put(y, oy, ox);
            for (int32_t c = r->c0; c < r->c1; c++) {
                out[c] = cg_mean_f32_sum(a, x, &w, c) / (float)a->count;
            }
        }
    }
}

#endif
