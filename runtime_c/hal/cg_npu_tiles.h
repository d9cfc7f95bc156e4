/* SPDX-License-Identifier: 0BSD
 *
 * The commands of cg_npu.h in plain C, for ports without an NPU and as the reference for those with one.
 */
#ifndef CG_NPU_TILES_H
#define CG_NPU_TILES_H

#include "cg_add.h"
#include "cg_double_scale.h"
#include "cg_fixed_point.h"
#include "cg_lookup.h"
#include "cg_mul.h"
#include "cg_npu.h"
#include "cg_pool_2d.h"
#include "cg_softmax.h"

/* A block of weights taken apart; without parameters only `weights` is set. */
typedef struct {
    const int32_t *bias;
    const int32_t *multiplier;        /* fully connected: the high words */
    const int32_t *low;
    const int8_t *shift;
    const int8_t *weights;
} cg_npu_block;

CG_KERNEL cg_npu_block cg_npu_unpack(const cg_npu_command *c, int32_t scales)
{
    cg_npu_block block = {NULL, NULL, NULL, NULL, (const int8_t *)c->weights};
    if (c->last != 0) {
        const int32_t words = c->operation == CG_NPU_FULLY_CONNECTED ? 2 : 1;
        block.bias = (const int32_t *)c->weights;
        block.multiplier = block.bias + c->range.c1;
        block.low = block.multiplier + scales;
        block.shift = (const int8_t *)(block.multiplier + words * scales);
        block.weights = block.shift + (scales + 3) / 4 * 4;
    }
    return block;
}

/* The products of one out channel at one position; (iy, ix) is the input position of tap (0, 0). */
CG_KERNEL int32_t cg_npu_taps(const cg_npu_command *c, const cg_npu_window *a, const int8_t *weights,
                              int32_t iy, int32_t ix, int32_t channel)
{
    const int32_t apart = c->operation == CG_NPU_DEPTHWISE_CONV_2D;
    const int32_t depth = apart != 0 ? 1 : c->depth;
    const int32_t in = apart != 0 ? channel / a->depth_multiplier : 0;
    int32_t acc = 0;
    for (int32_t ky = 0; ky < a->filter_h; ky++) {
        const int32_t y = iy + ky * a->dilation_h;
        if (y < 0 || y >= a->in_h) {
            continue;
        }
        for (int32_t kx = 0; kx < a->filter_w; kx++) {
            const int32_t col = ix + kx * a->dilation_w;
            if (col < 0 || col >= a->in_w) {
                continue;
            }
            const int32_t tap = ky * a->filter_w + kx;
            const int32_t taps = a->filter_h * a->filter_w;
            const ptrdiff_t first = apart != 0 ? (ptrdiff_t)tap * c->range.c1 + channel
                                               : ((ptrdiff_t)channel * taps + tap) * depth;
            const int8_t *p = (const int8_t *)cg_at(&c->x0, y, col) + in;
            const int8_t *q = weights + first;
            for (int32_t k = 0; k < depth; k++) {
                acc += (p[k] + a->input_offset) * (q[k] + a->weights_offset);
            }
        }
    }
    return acc;
}

CG_KERNEL int8_t cg_npu_result(const cg_npu_command *c, const cg_npu_window *a, const cg_npu_block *b,
                               int32_t acc, int32_t channel)
{
    int32_t v = cg_add32(acc, b->bias[channel]);
    if (c->operation == CG_NPU_FULLY_CONNECTED) {
        const int32_t s = a->per_channel != 0 ? channel : 0;
        v = cg_scale_double(v, (uint32_t)b->multiplier[s], (uint32_t)b->low[s], b->shift[s]);
    } else {
        v = cg_requantize_twice(v, b->multiplier[channel], b->shift[channel]);
    }
    return (int8_t)cg_clamp(cg_add32(v, a->output_offset), a->act_min, a->act_max);
}

CG_KERNEL void cg_npu_convolve(const cg_npu_command *c)
{
    const cg_npu_window *a = (const cg_npu_window *)c->args;
    const cg_range *r = &c->range;
    const int32_t one = c->operation == CG_NPU_FULLY_CONNECTED && a->per_channel == 0;
    const cg_npu_block block = cg_npu_unpack(c, one ? 1 : r->c1);
    int32_t *sums = c->sums;
    for (int32_t oy = r->y0; oy < r->y1; oy++) {
        for (int32_t ox = r->x0; ox < r->x1; ox++) {
            const int32_t iy = oy * a->stride_h - a->pad_top;
            const int32_t ix = ox * a->stride_w - a->pad_left;
            int8_t *out = (int8_t *)cg_put(&c->y, oy, ox);
            for (int32_t channel = 0; channel < r->c1; channel++) {
                int32_t acc = cg_npu_taps(c, a, block.weights, iy, ix, channel);
                if (c->first == 0) {
                    acc = cg_add32(acc, sums[channel]);
                }
                if (c->last == 0) {
                    sums[channel] = acc;
                } else {
                    out[channel] = cg_npu_result(c, a, &block, acc, channel);
                }
            }
            sums = sums != NULL ? sums + r->c1 : NULL;
        }
    }
}

CG_KERNEL void cg_npu_lookup(const cg_npu_command *c)
{
    const cg_lookup_args args = {(const uint8_t *)c->weights};
    cg_lookup_8(&args, &c->x0, &c->y, &c->range);
}

CG_KERNEL void cg_npu_softmax(const cg_npu_command *c)
{
    cg_softmax_args args = *(const cg_softmax_args *)c->args;
    args.exponentials = (const int32_t *)c->weights;
    cg_softmax_s8(&args, &c->x0, &c->y, &c->range);
}

/* Computes a command to its end. */
static inline void cg_npu_compute(const cg_npu_command *c)
{
    switch (c->operation) {
    case CG_NPU_CONV_2D:
    case CG_NPU_DEPTHWISE_CONV_2D:
    case CG_NPU_FULLY_CONNECTED:
        cg_npu_convolve(c);
        break;
    case CG_NPU_AVERAGE_POOL_2D:
        cg_average_pool_2d_s8((const cg_pool_2d_args *)c->args, &c->x0, &c->y, &c->range);
        break;
    case CG_NPU_MAX_POOL_2D:
        cg_max_pool_2d_s8((const cg_pool_2d_args *)c->args, &c->x0, &c->y, &c->range);
        break;
    case CG_NPU_ADD:
        cg_add_s8((const cg_add_args *)c->args, &c->x0, &c->x1, &c->y, &c->range);
        break;
    case CG_NPU_MUL:
        cg_mul_s8((const cg_mul_args *)c->args, &c->x0, &c->x1, &c->y, &c->range);
        break;
    case CG_NPU_LOOKUP:
        cg_npu_lookup(c);
        break;
    case CG_NPU_SOFTMAX:
        cg_npu_softmax(c);
        break;
    default:
        break;
    }
}

#endif
