/* SPDX-License-Identifier: 0BSD
 *
 * Commands of the NPU: one tile of one operator, all of whose operands lie in the scratchpad.
 *
 * A port turns a command into whatever its hardware wants; cg_npu_tiles.h computes it in plain C,
 * which is the definition of every result bit.
 */
#ifndef CG_NPU_H
#define CG_NPU_H

#include "cg_view.h"

typedef enum {
    CG_NPU_CONV_2D,
    CG_NPU_DEPTHWISE_CONV_2D,
    CG_NPU_FULLY_CONNECTED,
    CG_NPU_AVERAGE_POOL_2D,
    CG_NPU_MAX_POOL_2D,
    CG_NPU_ADD,
    CG_NPU_MUL,
    CG_NPU_LOOKUP,
    CG_NPU_SOFTMAX
} cg_npu_operation;

/* Constants of CG_NPU_CONV_2D, _DEPTHWISE_CONV_2D and _FULLY_CONNECTED (a 1x1 window). The other
 * operations take the argument structs of the kernels of the same name. */
typedef struct {
    int32_t in_h, in_w;               /* the whole input map: taps outside of it count nothing */
    int32_t filter_h, filter_w;
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t pad_top, pad_left;
    int32_t depth_multiplier;         /* out channels per in channel, depthwise */
    int32_t input_offset, weights_offset, output_offset;
    int32_t act_min, act_max;
    int32_t per_channel;              /* fully connected: 1 if scales are per out channel */
} cg_npu_window;

/*
 * One command. Rows and columns of `range` are those of the whole output map; channels count from the
 * first one of the tile, range.c0 being 0. The views' base is that first channel.
 *
 * `weights` is a block, aligned to 4 bytes, of n = range.c1 out channels and `depth` in channels:
 *   convolutions     with `last`: int32 bias[n], int32 multiplier[n], int8 shift[n] filled up to a
 *                    multiple of 4; then int8 weights [n][tap][depth], or [tap][n] if depthwise
 *   fully connected  with `last`: int32 bias[n], uint32 high[s], uint32 low[s], int8 shift[s] filled up
 *                    (s = n or 1, see per_channel); then int8 weights [n][depth]
 *   look-up          the 256 results
 *   softmax          the int32 exponentials
 * Several slices of the in channels add up in `sums`, int32 [pixel][n], which the first slice sets and
 * the last one turns into the result. With one slice `sums` is null.
 */
typedef struct {
    cg_npu_operation operation;
    const void *args;
    cg_src x0, x1;                    /* x1: the second operand of ADD and MUL */
    cg_dst y;
    const void *weights;
    int32_t *sums;
    cg_range range;
    int32_t depth;
    int32_t first, last;              /* whether its slice is the first, the last one */
} cg_npu_command;

#endif
