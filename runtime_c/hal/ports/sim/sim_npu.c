/* SPDX-License-Identifier: 0BSD
 *
 * Commands of the `sim` port: checked and spoiled when they start, computed when they are waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "cg_npu_tiles.h"
#include "cg_sim_tap.h"
#include "sim_state.h"

void (*cg_sim_tap)(int32_t number, const cg_npu_command *command);

static cg_npu_command running;
static int32_t is_running;
static int32_t count;

/* Rows x columns x bytes at regular strides. */
typedef struct {
    int32_t y0, y1, x0, x1;
    int32_t bytes;
} sim_area;

typedef void (*sim_byte)(const char *what, int32_t at);

static void read_byte(const char *what, int32_t at)
{
    if (sim_pad.state[at] != SIM_VALID) {
        sim_fail("command %d: reads %s at byte %d of the scratchpad, which %s", (int)count, what, (int)at,
                 sim_pad.state[at] == SIM_ARRIVING ? "has not arrived" : "holds nothing");
    }
    sim_pad.in_use[at] = 1;
    sim_touch(at);
}

static void write_byte(const char *what, int32_t at)
{
    if (sim_pad.state[at] == SIM_ARRIVING || sim_pad.leaving[at] != 0) {
        sim_fail("command %d: writes %s at byte %d of the scratchpad, which is being %s", (int)count, what,
                 (int)at, sim_pad.leaving[at] != 0 ? "sent" : "filled");
    }
    sim_pad.state[at] = SIM_COMPUTING;
    sim_pad.base[at] = 0x3C;
    sim_touch(at);
}

static void done_byte(const char *what, int32_t at)
{
    (void)what;
    sim_pad.state[at] = SIM_VALID;
}

static void check_address(const char *what, const void *at)
{
    if ((uintptr_t)at % SIM_NPU_ALIGNMENT != 0) {
        sim_fail("command %d: %s is misaligned, the NPU wants multiples of %d", (int)count, what,
                 SIM_NPU_ALIGNMENT);
    }
}

static void span(const char *what, const void *start, int64_t bytes, sim_byte each)
{
    const int32_t first = sim_position(what, start, bytes);
    for (int32_t at = first; at < first + (int32_t)bytes; at++) {
        each(what, at);
    }
}

static void area(const char *what, const cg_src *v, const sim_area *a, sim_byte each)
{
    check_address(what, v->base);
    for (int32_t y = a->y0; y < a->y1; y++) {
        for (int32_t x = a->x0; x < a->x1; x++) {
            span(what, cg_at(v, y, x), a->bytes, each);
        }
    }
}

/* [low, high) of the input positions of outputs [first, end). */
static void needed(int32_t first, int32_t end, int32_t stride, int32_t pad, int32_t reach, int32_t size,
                   int32_t *low, int32_t *high)
{
    *low = cg_clamp(first * stride - pad, 0, size);
    *high = cg_clamp((end - 1) * stride - pad + reach, 0, size);
}

/* What a command reads of its input. */
static sim_area source_area(const cg_npu_command *c)
{
    const cg_range *r = &c->range;
    sim_area a = {r->y0, r->y1, r->x0, r->x1, r->c1};
    if (c->operation == CG_NPU_CONV_2D || c->operation == CG_NPU_DEPTHWISE_CONV_2D) {
        const cg_npu_window *w = (const cg_npu_window *)c->args;
        const int32_t reach_h = (w->filter_h - 1) * w->dilation_h + 1;
        const int32_t reach_w = (w->filter_w - 1) * w->dilation_w + 1;
        needed(r->y0, r->y1, w->stride_h, w->pad_top, reach_h, w->in_h, &a.y0, &a.y1);
        needed(r->x0, r->x1, w->stride_w, w->pad_left, reach_w, w->in_w, &a.x0, &a.x1);
        a.bytes = c->operation == CG_NPU_CONV_2D
                      ? c->depth
                      : (r->c1 + w->depth_multiplier - 1) / w->depth_multiplier;
    } else if (c->operation == CG_NPU_AVERAGE_POOL_2D || c->operation == CG_NPU_MAX_POOL_2D) {
        const cg_pool_2d_args *w = (const cg_pool_2d_args *)c->args;
        needed(r->y0, r->y1, w->stride_h, w->pad_top, w->filter_h, w->in_h, &a.y0, &a.y1);
        needed(r->x0, r->x1, w->stride_w, w->pad_left, w->filter_w, w->in_w, &a.x0, &a.x1);
    } else if (c->operation == CG_NPU_FULLY_CONNECTED) {
        a.bytes = c->depth;
    }
    return a;
}

static int64_t filled(int64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static int64_t weight_bytes(const cg_npu_command *c)
{
    const int64_t n = c->range.c1;
    const cg_npu_window *w = (const cg_npu_window *)c->args;
    switch (c->operation) {
    case CG_NPU_CONV_2D:
        return n * w->filter_h * w->filter_w * c->depth + (c->last != 0 ? 8 * n + filled(n) : 0);
    case CG_NPU_DEPTHWISE_CONV_2D:
        return n * w->filter_h * w->filter_w + 8 * n + filled(n);
    case CG_NPU_FULLY_CONNECTED: {
        const int64_t s = w->per_channel != 0 ? n : 1;
        return n * c->depth + (c->last != 0 ? 4 * n + 8 * s + filled(s) : 0);
    }
    case CG_NPU_LOOKUP:
        return 256;
    case CG_NPU_SOFTMAX:
        return 4 * (int64_t)((const cg_softmax_args *)c->args)->count;
    default:
        return 0;
    }
}

/* Goes through all that a command writes: the result, or sums that a later slice completes. */
static void results(const cg_npu_command *c, sim_byte each)
{
    const cg_range *r = &c->range;
    if (c->sums != NULL) {
        const int64_t pixels = (int64_t)(r->y1 - r->y0) * (r->x1 - r->x0);
        if (c->last == 0) {
            span("its sums", c->sums, 4 * pixels * r->c1, each);
            return;
        }
    }
    const cg_src y = {c->y.base, c->y.row, c->y.pixel, c->y.ring, c->y.row0, c->y.col0};
    const sim_area a = {r->y0, r->y1, r->x0, r->x1, r->c1};
    area("its result", &y, &a, each);
}

int32_t cg_npu_start(const cg_npu_command *c)
{
    const sim_area a = source_area(c);
    sim_dma_stir();
    if (is_running != 0) {
        sim_fail("command %d: starts while command %d runs", (int)count, (int)count - 1);
    }
    if (sim_injected("npu", count)) {
        return CG_HAL_NPU_ERROR;
    }
    memset(sim_pad.in_use, 0, sizeof sim_pad.in_use);
    sim_banks = 0;
    area("its input", &c->x0, &a, read_byte);
    if (c->operation == CG_NPU_ADD || c->operation == CG_NPU_MUL) {
        area("its second input", &c->x1, &a, read_byte);
    }
    if (weight_bytes(c) > 0) {
        check_address("its weights", c->weights);
        span("its weights", c->weights, weight_bytes(c), read_byte);
    }
    if (c->sums != NULL && c->first == 0) {
        const int64_t pixels = (int64_t)(c->range.y1 - c->range.y0) * (c->range.x1 - c->range.x0);
        span("its sums", c->sums, 4 * pixels * c->range.c1, read_byte);
    }
    running = *c;
    is_running = 1;
    if (c->sums == NULL || c->last != 0 || c->first != 0) {
        results(c, write_byte);
    }
    sim_clock_npu(c);
    return CG_HAL_OK;
}

int32_t cg_npu_wait(void)
{
    sim_dma_stir();
    if (is_running == 0) {
        sim_fail("cg_npu_wait: no command runs");
    }
    cg_npu_compute(&running);
    results(&running, done_byte);
    memset(sim_pad.in_use, 0, sizeof sim_pad.in_use);
    if (cg_sim_tap != NULL && running.last != 0) {
        cg_sim_tap(count, &running);
    }
    is_running = 0;
    count++;
    sim_clock_npu_wait();
    return CG_HAL_OK;
}

void sim_npu_open(void)
{
    is_running = 0;
    count = 0;
}

void sim_npu_close(int32_t complete)
{
    if (is_running != 0 && complete != 0) {
        sim_fail("command %d: nobody has waited for it", (int)count);
    }
}
