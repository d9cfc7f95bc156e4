/* SPDX-License-Identifier: 0BSD
 *
 * Operands of element-wise operators that may be smaller than the output: a dimension of 1 serves
 * every position of the output along it.
 */
#ifndef CG_BROADCAST_H
#define CG_BROADCAST_H

#include "cg_view.h"

/* 1: the operand moves along with the output in this direction; 0: its only element serves all. */
typedef struct {
    int32_t row, col, channel;
} cg_step;

/* The first channel of the operand's pixel for output pixel (r, c). */
CG_KERNEL const void *cg_operand(const cg_src *v, const cg_step *step, int32_t r, int32_t c)
{
    return cg_at(v, r * step->row, c * step->col);
}

#endif
