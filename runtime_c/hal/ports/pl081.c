/* SPDX-License-Identifier: 0BSD
 *
 * The port for an Arm PrimeCell PL081 (or PL080) DMA controller beside a CPU without an NPU: commands run on the
 * CPU while the controller copies on channel 0. Registers: Arm DDI 0218, Single Master DMA Controller (PL081),
 * chapter 3. Polled, no interrupts.
 *
 * A transfer is a chain of linked list items, one per run of bytes; long ones take several chains, each of which is
 * started when the one before is found to be done. Transfers queue up here and run in order.
 */
#include "cg_hal.h"
#include "cg_npu_tiles.h"

#ifndef CG_PL081_BASE
#define CG_PL081_BASE 0x50110000u     /* DMA0 of the MPS2+ with image AN505, secure alias */
#endif

#define REGISTER(offset) (*(volatile uint32_t *)(CG_PL081_BASE + (offset)))
#define INT_TC_CLEAR REGISTER(0x008u)
#define INT_ERR_CLEAR REGISTER(0x010u)
#define RAW_ERROR REGISTER(0x018u)
#define ENABLED_CHANNELS REGISTER(0x01Cu)
#define CONFIGURATION REGISTER(0x030u)
#define CHANNEL_SOURCE REGISTER(0x100u)
#define CHANNEL_TARGET REGISTER(0x104u)
#define CHANNEL_NEXT REGISTER(0x108u)
#define CHANNEL_CONTROL REGISTER(0x10Cu)
#define CHANNEL_CONFIGURATION REGISTER(0x110u)

#define INCREMENT 0x0C000000u         /* both addresses */
#define WORDS (2u << 21 | 2u << 18)   /* 32 bits wide on both sides; else bytes */
#define MOST_ELEMENTS 4095            /* of an item */
#define ITEMS 16                      /* of a chain */
#define QUEUE 16

typedef struct {
    uint32_t source, target, next, control;
} item;

static item chain[ITEMS];
static cg_dma_transfer queue[QUEUE];
static int32_t started, finished;     /* tickets: [finished, started) wait or run */
static int32_t next_run, next_byte;   /* of the transfer under way: what no chain has taken yet */
static int32_t running;

static uint32_t address(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

/* Offset of run number i on a side. */
static ptrdiff_t run_offset(const cg_dma_transfer *t, int32_t i, int32_t row, int32_t plane)
{
    return (ptrdiff_t)(i / t->rows) * plane + (ptrdiff_t)(i % t->rows) * row;
}

/* Takes the next bytes of a transfer into an item. */
static void fill(item *to, const cg_dma_transfer *t)
{
    const uint32_t source = address(t->from) + (uint32_t)run_offset(t, next_run, t->from_row, t->from_plane)
                            + (uint32_t)next_byte;
    const uint32_t target = address(t->to) + (uint32_t)run_offset(t, next_run, t->to_row, t->to_plane)
                            + (uint32_t)next_byte;
    const int32_t left = t->length - next_byte;
    const int32_t words = ((source | target | (uint32_t)left) & 3u) == 0u;
    const int32_t size = words != 0 ? 4 : 1;
    const int32_t count = cg_min(left / size, MOST_ELEMENTS);
    to->source = source;
    to->target = target;
    to->next = 0;
    to->control = INCREMENT | (words != 0 ? WORDS : 0u) | (uint32_t)count;
    next_byte += count * size;
    if (next_byte == t->length) {
        next_byte = 0;
        next_run++;
    }
}

/* Starts a chain with as much of the first transfer in the queue as it takes. */
static void start_chain(void)
{
    const cg_dma_transfer *t = &queue[finished % QUEUE];
    int32_t count = 0;
    while (count < ITEMS && next_run < t->rows * t->planes) {
        fill(&chain[count], t);
        if (count > 0) {
            chain[count - 1].next = address(&chain[count]);
        }
        count++;
    }
    __sync_synchronize();
    CHANNEL_SOURCE = chain[0].source;
    CHANNEL_TARGET = chain[0].target;
    CHANNEL_NEXT = chain[0].next;
    CHANNEL_CONTROL = chain[0].control;
    CHANNEL_CONFIGURATION = 1u;       /* memory to memory, enabled */
    running = 1;
}

/* Looks whether the chain under way is done, and starts the next one. */
static int32_t advance(void)
{
    if (running != 0) {
        if ((RAW_ERROR & 1u) != 0u) {
            return CG_HAL_DMA_ERROR;
        }
        if ((ENABLED_CHANNELS & 1u) != 0u) {
            return CG_HAL_OK;
        }
        __sync_synchronize();
        running = 0;
        if (next_run == queue[finished % QUEUE].rows * queue[finished % QUEUE].planes) {
            finished++;
            next_run = 0;
        }
    }
    if (finished < started) {
        start_chain();
    }
    return CG_HAL_OK;
}

int32_t cg_hal_open(void *scratchpad, int32_t bytes)
{
    (void)scratchpad;
    (void)bytes;
    started = finished = next_run = next_byte = running = 0;
    CONFIGURATION = 1u;
    INT_TC_CLEAR = 3u;
    INT_ERR_CLEAR = 3u;
    return CG_HAL_OK;
}

void cg_hal_close(int32_t complete)
{
    (void)complete;
    CHANNEL_CONFIGURATION = 0u;
    CONFIGURATION = 0u;
}

int32_t cg_dma_start(const cg_dma_transfer *transfer)
{
    queue[started % QUEUE] = *transfer;
    started++;
    return advance();
}

int32_t cg_dma_wait(int32_t ticket)
{
    while (finished <= ticket) {
        CG_TRY(advance());
    }
    return CG_HAL_OK;
}

int32_t cg_npu_start(const cg_npu_command *command)
{
    cg_npu_compute(command);
    return advance();
}

int32_t cg_npu_wait(void)
{
    return CG_HAL_OK;
}

void cg_cache_clean(const void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
}

void cg_cache_invalidate(void *start, size_t bytes)
{
    (void)start;
    (void)bytes;
}
