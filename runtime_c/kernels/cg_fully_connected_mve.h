/* SPDX-License-Identifier: 0BSD
 *
 * FULLY_CONNECTED, int8, for Helium: every pixel is one input vector.
 */
#ifndef CG_FULLY_CONNECTED_MVE_H
#define CG_FULLY_CONNECTED_MVE_H

#include "cg_dense_mve.h"

typedef struct {
    cg_mve_layer layer;
} cg_fully_connected_mve_args;

CG_KERNEL void cg_fully_connected_mve_s8(const cg_fully_connected_mve_args *a, const cg_src *x,
                                         const cg_dst *y, const cg_range *r)
{
    for (int32_t row = r->y0; row < r->y1; row++) {
        int32_t col = r->x0;
        for (; col + 1 < r->x1; col += 2) {
            cg_dense_two_pixels(&a->layer, r, (const int8_t *)cg_at(x, row, col),
                                (const int8_t *)cg_at(x, row, col + 1),
                                (int8_t *)cg_put(y, row, col), y->pixel);
        }
        if (col < r->x1) {
            cg_dense_one_pixel(&a->layer, r, (const int8_t *)cg_at(x, row, col),
                               (int8_t *)cg_put(y, row, col), 8);
        }
    }
}

#endif
