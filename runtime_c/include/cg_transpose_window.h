/* SPDX-License-Identifier: 0BSD
 *
 * The window of TRANSPOSE_CONV: input pixel i adds to the outputs i * stride - pad + k for k = 0, 1,
 * ... kernel - 1. Kernels go the other way round: from an output to the inputs that add to it.
 */
#ifndef CG_TRANSPOSE_WINDOW_H
#define CG_TRANSPOSE_WINDOW_H

#include "cg_view.h"

typedef struct {
    int32_t first, end;
} cg_inputs;

/* The inputs in one direction, of `size`, that add to output o; with input i it is tap
 * o + pad - i * stride of the filter. */
CG_KERNEL cg_inputs cg_transpose_inputs(int32_t o, int32_t size, int32_t kernel, int32_t stride,
                                        int32_t pad)
{
    const int32_t reach = o + pad;
    const int32_t before = reach - kernel + 1;             /* where an input would end just here */
    cg_inputs s;
    s.first = before > 0 ? (before + stride - 1) / stride : 0;
    s.end = cg_min(reach / stride + 1, size);
    return s;
}

#endif
