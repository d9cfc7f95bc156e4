/* SPDX-License-Identifier: 0BSD
 *
 * The `sim` port: a hostile DMA and NPU. What may happen late happens late, what may be overtaken is, and bytes
 * that nobody may look at hold rubbish. Whoever breaks the contract of cg_hal.h is stopped with a line that
 * names the layer.
 *
 * Environment: CG_SIM_FAIL=dma:5 or npu:3 makes the start of that ticket or command report an error, once;
 * CG_SIM_TRACE=FILE writes what happened when, one line each.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg_sim.h"
#include "sim_state.h"

sim_scratchpad sim_pad;
uint64_t sim_banks;

static const char *layer_name = "before the first layer";
static int32_t layer_index = -1;
static uint32_t seed = 2463534242u;
static int is_open;

void sim_fail(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "sim: layer %d %s: ", (int)layer_index, layer_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

int sim_injected(const char *kind, int32_t number)
{
    static int done;
    const char *asked = getenv("CG_SIM_FAIL");
    const size_t length = strlen(kind);
    if (done || asked == NULL || strncmp(asked, kind, length) != 0 || asked[length] != ':'
        || atoi(asked + length + 1) != (int)number) {
        return 0;
    }
    done = 1;
    return 1;
}

uint32_t sim_random(uint32_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % limit;
}

int32_t sim_position(const char *what, const void *start, int64_t bytes)
{
    const uintptr_t base = (uintptr_t)sim_pad.base;
    const uintptr_t at = (uintptr_t)start;
    if (at < base || (int64_t)(at - base) + bytes > sim_pad.size) {
        sim_fail("%s: not inside the scratchpad", what);
    }
    return (int32_t)(at - base);
}

void sim_touch(int32_t at)
{
    sim_banks |= (uint64_t)1 << (at / (SIM_SCRATCHPAD_BYTES / SIM_SCRATCHPAD_BANKS));
}

void cg_sim_before_layer(const cg_sim_layer *layers, int32_t index)
{
    layer_index = index;
    layer_name = layers[index].name;
}

void cg_sim_after_layer(const cg_sim_layer *layers, int32_t index)
{
    sim_clock_cpu(layers[index].cpu_cycles);
}

int32_t cg_hal_open(void *scratchpad, int32_t bytes)
{
    if (is_open) {
        sim_fail("cg_hal_open: a run is open already");
    }
    if (bytes > SIM_SCRATCHPAD_BYTES) {
        sim_fail("cg_hal_open: %d bytes, but the board has %d", (int)bytes, SIM_SCRATCHPAD_BYTES);
    }
    is_open = 1;
    sim_pad.base = (uint8_t *)scratchpad;
    sim_pad.size = bytes;
    memset(sim_pad.state, SIM_EMPTY, sizeof sim_pad.state);
    memset(sim_pad.leaving, 0, sizeof sim_pad.leaving);
    memset(sim_pad.in_use, 0, sizeof sim_pad.in_use);
    memset(scratchpad, 0xA5, (size_t)bytes);
    sim_cache_open();
    sim_clock_open();
    sim_dma_open();
    sim_npu_open();
    return CG_HAL_OK;
}

void cg_hal_close(int32_t complete)
{
    if (!is_open) {
        sim_fail("cg_hal_close: no run is open");
    }
    is_open = 0;
    sim_npu_close(complete);
    sim_dma_close(complete);
    sim_clock_close();
    layer_index = -1;
    layer_name = "after the last layer";
}
