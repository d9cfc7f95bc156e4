/* SPDX-License-Identifier: 0BSD
 *
 * The clock of the `sim` port and the trace of what it did, by the same rules as codegen/npu/timeline.py.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cg_npu_tiles.h"
#include "sim_state.h"

int64_t sim_now;

static int64_t channel_free[SIM_DMA_CHANNELS];
static int64_t bus_free, npu_end;
static int64_t ends[SIM_DMA_QUEUE];
static int32_t tickets[SIM_DMA_QUEUE];
static int64_t commands, cpu_layers;
static FILE *trace;

static const double load_rate[] = {SIM_LOAD_RATES};
static const double store_rate[] = {SIM_STORE_RATES};

void sim_clock_open(void)
{
    const char *path = getenv("CG_SIM_TRACE");
    sim_now = bus_free = npu_end = commands = cpu_layers = 0;
    for (int32_t i = 0; i < SIM_DMA_CHANNELS; i++) {
        channel_free[i] = 0;
    }
    for (int32_t i = 0; i < SIM_DMA_QUEUE; i++) {
        tickets[i] = -1;
    }
    trace = path != NULL ? fopen(path, "w") : NULL;
}

static void record(const char *lane, int64_t number, int64_t start, int64_t end, int64_t bytes, uint64_t banks)
{
    if (trace != NULL) {
        fprintf(trace, "%s %lld %lld %lld %lld %llu\n", lane, (long long)number, (long long)start,
                (long long)end, (long long)bytes, (unsigned long long)banks);
    }
}

void sim_clock_close(void)
{
    record("total", 0, 0, sim_now, 0, 0);
    if (trace != NULL) {
        fclose(trace);
        trace = NULL;
    }
}

void sim_clock_transfer(const cg_dma_transfer *t, int32_t store, int64_t bytes)
{
    const double rate = store != 0 ? store_rate[t->memory] : load_rate[t->memory];
    int32_t channel = 0;
    char lane[16];
    if (!(rate > 0)) {
        sim_fail("transfer %d: the DMA has no such path", (int)t->ticket);
    }
    for (int32_t i = 1; i < SIM_DMA_CHANNELS; i++) {
        channel = channel_free[i] < channel_free[channel] ? i : channel;
    }
    const int64_t start = sim_now > channel_free[channel] ? sim_now : channel_free[channel];
    int64_t moving = start + SIM_DMA_SETUP;
    if (SIM_DMA_SHARED && moving < bus_free) {
        moving = bus_free;
    }
    const int64_t end = moving + (int64_t)t->rows * t->planes * (int64_t)ceil((double)t->length / rate);
    bus_free = channel_free[channel] = end;
    snprintf(lane, sizeof lane, "dma%d", (int)channel);
    record(lane, t->ticket, start, end, bytes, sim_banks);
    for (int32_t i = 0; i < SIM_DMA_QUEUE; i++) {
        if (tickets[i] < 0) {
            tickets[i] = t->ticket;
            ends[i] = end;
            return;
        }
    }
}

static void until(int64_t time)
{
    sim_now = time > sim_now ? time : sim_now;
}

void sim_clock_transfer_wait(int32_t ticket)
{
    for (int32_t i = 0; i < SIM_DMA_QUEUE; i++) {
        if (tickets[i] == ticket) {
            until(ends[i]);
            tickets[i] = -1;
            return;
        }
    }
}

static int64_t up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static int64_t taps_of(const cg_npu_command *c)
{
    switch (c->operation) {
    case CG_NPU_CONV_2D:
    case CG_NPU_DEPTHWISE_CONV_2D: {
        const cg_npu_window *w = (const cg_npu_window *)c->args;
        return (int64_t)w->filter_h * w->filter_w;
    }
    case CG_NPU_AVERAGE_POOL_2D:
    case CG_NPU_MAX_POOL_2D: {
        const cg_pool_2d_args *w = (const cg_pool_2d_args *)c->args;
        return (int64_t)w->filter_h * w->filter_w;
    }
    default:
        return 1;
    }
}

static int64_t compute_cycles(const cg_npu_command *c)
{
    const int64_t pixels = (int64_t)(c->range.y1 - c->range.y0) * (c->range.x1 - c->range.x0);
    const int64_t taps = taps_of(c);
    switch (c->operation) {
    case CG_NPU_CONV_2D:
    case CG_NPU_FULLY_CONNECTED: {
        const int64_t macs = pixels * taps * up(c->range.c1, SIM_NPU_OUT_MULTIPLE)
                             * up(c->depth, SIM_NPU_IN_MULTIPLE);
        return (macs + SIM_NPU_MACS - 1) / SIM_NPU_MACS;
    }
    case CG_NPU_DEPTHWISE_CONV_2D:
    case CG_NPU_AVERAGE_POOL_2D:
    case CG_NPU_MAX_POOL_2D:
        return (int64_t)ceil((double)(pixels * c->range.c1 * up(taps, SIM_NPU_TAP_MULTIPLE))
                             / SIM_NPU_DEPTHWISE);
    default:
        return (int64_t)ceil((double)(pixels * c->range.c1) / SIM_NPU_ELEMENTS);
    }
}

void sim_clock_npu(const cg_npu_command *c)
{
    npu_end = sim_now + SIM_NPU_START + compute_cycles(c);
    record("npu", commands++, sim_now, npu_end, 0, sim_banks);
}

void sim_clock_npu_wait(void)
{
    until(npu_end);
}

void sim_clock_cpu(int64_t cycles)
{
    if (cycles > 0) {
        record("cpu", cpu_layers++, sim_now, sim_now + cycles, 0, 0);
        sim_now += cycles;
    }
}
