/* SPDX-License-Identifier: 0BSD
 *
 * What a chip has to provide for models that run on its NPU: copies by DMA, commands of the NPU, cache
 * maintenance. Implement these functions once per chip; docs/porting.md says how.
 *
 * Rules for both sides
 * - Only the model's run() and step() call these functions, from one thread, between cg_hal_open() and
 *   cg_hal_close(). Two models must not be in between at the same time.
 * - All sizes, strides and counts are in bytes unless said otherwise. Addresses and strides are multiples of
 *   the alignment that the board's profile states; no transfer exceeds its ranks, lengths and strides.
 * - Functions that return a status return CG_HAL_OK or an error. After an error the model calls
 *   cg_hal_close(0) and run() returns <MODEL>_HARDWARE_ERROR; the next run() starts with cg_hal_open().
 * - Starts return at once. What they point to is read before they return.
 */
#ifndef CG_HAL_H
#define CG_HAL_H

#include <stddef.h>

#include "cg_npu.h"

enum {
    CG_HAL_OK = 0,
    CG_HAL_DMA_ERROR = 1,             /* the DMA controller reported a failed transfer */
    CG_HAL_NPU_ERROR = 2              /* the NPU reported a failed command */
};

/* Leaves the function with the error of a call, if there is one. */
#define CG_TRY(call) \
    do { \
        const int32_t cg_error = (call); \
        if (cg_error != CG_HAL_OK) { \
            return cg_error; \
        } \
    } while (0)

/*
 * planes x rows runs of `length` bytes. One side is the scratchpad, the other one is memory number `memory`
 * of the board's profile, counted from 0.
 */
typedef struct {
    int32_t ticket;                   /* 0, 1, 2, ... since cg_hal_open(): its name in cg_dma_wait() */
    void *to;
    const void *from;
    int32_t length, rows, planes;
    int32_t to_row, to_plane;
    int32_t from_row, from_plane;
    int32_t memory;
} cg_dma_transfer;

/* Begins a run: no transfer and no command is under way, tickets start at 0. */
int32_t cg_hal_open(void *scratchpad, int32_t bytes);

/* Ends a run. `complete` is 1 if everything started has been waited for; else the run is given up, and whatever
 * is under way has to be stopped. */
void cg_hal_close(int32_t complete);

/*
 * Starts a copy, or queues it. Transfers may overtake each other. No byte of the destination is read or
 * written by anybody, and no byte of the source is written, before cg_dma_wait(ticket) has returned. No more
 * than `dma.queue` of the profile are started and not yet waited for.
 */
int32_t cg_dma_start(const cg_dma_transfer *transfer);

/* The same for copies of one, two and three dimensions. */
static inline int32_t cg_dma_3d(int32_t ticket, int32_t memory, void *to, const void *from, int32_t length,
                                int32_t rows, int32_t to_row, int32_t from_row,
                                int32_t planes, int32_t to_plane, int32_t from_plane)
{
    const cg_dma_transfer transfer = {
        ticket, to, from, length, rows, planes, to_row, to_plane, from_row, from_plane, memory,
    };
    return cg_dma_start(&transfer);
}

static inline int32_t cg_dma_2d(int32_t ticket, int32_t memory, void *to, const void *from, int32_t length,
                                int32_t rows, int32_t to_row, int32_t from_row)
{
    return cg_dma_3d(ticket, memory, to, from, length, rows, to_row, from_row, 1, 0, 0);
}

static inline int32_t cg_dma_1d(int32_t ticket, int32_t memory, void *to, const void *from, int32_t length)
{
    return cg_dma_3d(ticket, memory, to, from, length, 1, 0, 0, 1, 0, 0);
}

/* Waits until the transfer is done. Called exactly once for every ticket. */
int32_t cg_dma_wait(int32_t ticket);

/*
 * Starts a command; none is under way. Until cg_npu_wait() nobody writes to what it reads or touches what it
 * writes. All its operands lie in the scratchpad but `args`.
 */
int32_t cg_npu_start(const cg_npu_command *command);

/* Waits until the command is done. Called exactly once for every start. */
int32_t cg_npu_wait(void);

/*
 * Called only for memories that the profile calls cacheable, on whole lines: buffers there start at lines,
 * and nothing else lies in their last one.
 * clean: what the CPU has written is in memory when it returns (before a transfer reads it).
 * invalidate: the CPU will read what is in memory; no line is dirty any more (before a transfer writes there, and
 * once more before the CPU reads what it has written).
 */
void cg_cache_clean(const void *start, size_t bytes);
void cg_cache_invalidate(void *start, size_t bytes);

#endif
