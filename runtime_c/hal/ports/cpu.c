/* SPDX-License-Identifier: 0BSD
 *
 * The port for chips without NPU and DMA: copies are made and tiles computed where they are started. Start
 * from this file for a chip of your own: docs/porting.md.
 */
#include <string.h>

#include "cg_hal.h"
#include "cg_npu_tiles.h"

int32_t cg_hal_open(void *scratchpad, int32_t bytes)
{
    (void)scratchpad;
    (void)bytes;
    return CG_HAL_OK;
}

void cg_hal_close(int32_t complete)
{
    (void)complete;
}

int32_t cg_dma_start(const cg_dma_transfer *t)
{
    for (int32_t plane = 0; plane < t->planes; plane++) {
        for (int32_t row = 0; row < t->rows; row++) {
            uint8_t *to = (uint8_t *)t->to + (ptrdiff_t)plane * t->to_plane + (ptrdiff_t)row * t->to_row;
            const uint8_t *from = (const uint8_t *)t->from + (ptrdiff_t)plane * t->from_plane
                                  + (ptrdiff_t)row * t->from_row;
            memcpy(to, from, (size_t)t->length);
        }
    }
    return CG_HAL_OK;
}

int32_t cg_dma_wait(int32_t ticket)
{
    (void)ticket;
    return CG_HAL_OK;
}

int32_t cg_npu_start(const cg_npu_command *command)
{
    cg_npu_compute(command);
    return CG_HAL_OK;
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
