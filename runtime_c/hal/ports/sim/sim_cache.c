/* SPDX-License-Identifier: 0BSD
 *
 * A write-back cache in front of cacheable memory. The program's arrays are what the CPU sees; what the DMA
 * sees is a copy, line by line, which only cache maintenance and transfers change. A line that nobody has
 * cleaned or invalidated since the run began is dirty: it is written back over what a transfer stores there.
 */
#include <stdlib.h>
#include <string.h>

#include "sim_state.h"

#define LINE SIM_CACHE_LINE
#define SLOTS 65536u

typedef struct {
    uintptr_t line;
    int32_t known;                    /* the CPU's view was synchronised in this run */
    uint8_t synced[LINE];             /* what the CPU saw then */
    uint8_t memory[LINE];
} sim_line;

static sim_line *lines[SLOTS];
static const int32_t cacheable[] = {SIM_CACHEABLE};

void sim_cache_open(void)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        free(lines[i]);
        lines[i] = NULL;
    }
}

int sim_cached(const cg_dma_transfer *t)
{
    return cacheable[t->memory];
}

/* The line of an address; memory that nobody has written holds rubbish. */
static sim_line *line_of(uintptr_t line)
{
    uint32_t slot = (uint32_t)(line / LINE * 2654435761u) % SLOTS;
    while (lines[slot] != NULL && lines[slot]->line != line) {
        slot = (slot + 1) % SLOTS;
    }
    if (lines[slot] == NULL) {
        lines[slot] = malloc(sizeof(sim_line));
        lines[slot]->line = line;
        lines[slot]->known = 0;
        memset(lines[slot]->memory, 0xC3, LINE);
    }
    return lines[slot];
}

static uintptr_t line_start(uintptr_t at)
{
    return at / LINE * LINE;
}

void sim_cache_read(void *to, const void *from, int32_t bytes)
{
    for (int32_t i = 0; i < bytes; i++) {
        const uintptr_t at = (uintptr_t)from + (uintptr_t)i;
        ((uint8_t *)to)[i] = line_of(line_start(at))->memory[at % LINE];
    }
}

static int is_dirty(const sim_line *l)
{
    return l->known == 0 || memcmp(l->synced, (const void *)l->line, LINE) != 0;
}

void sim_cache_written(const void *start, int32_t bytes)
{
    const uintptr_t end = (uintptr_t)start + (uintptr_t)bytes;
    for (uintptr_t at = line_start((uintptr_t)start); at < end; at += LINE) {
        if (is_dirty(line_of(at))) {
            line_of(at)->known = -1;
        }
    }
    for (uintptr_t at = (uintptr_t)start; at < end; at++) {
        *(uint8_t *)at = 0x5A;
        line_of(line_start(at))->synced[at % LINE] = 0x5A;
    }
}

void sim_cache_write(void *to, const void *from, int32_t bytes)
{
    for (int32_t i = 0; i < bytes; i++) {
        const uintptr_t at = (uintptr_t)to + (uintptr_t)i;
        sim_line *l = line_of(line_start(at));
        /* a dirty line is written back after the transfer, so its bytes are lost */
        l->memory[at % LINE] = l->known == -1 ? 0xC3 : ((const uint8_t *)from)[i];
    }
}

void cg_cache_clean(const void *start, size_t bytes)
{
    const uintptr_t end = (uintptr_t)start + bytes;
    sim_dma_stir();
    for (uintptr_t at = line_start((uintptr_t)start); at < end; at += LINE) {
        sim_line *l = line_of(at);
        memcpy(l->memory, (const void *)at, LINE);
        memcpy(l->synced, (const void *)at, LINE);
        l->known = 1;
    }
}

void cg_cache_invalidate(void *start, size_t bytes)
{
    const uintptr_t end = (uintptr_t)start + bytes;
    sim_dma_stir();
    if ((uintptr_t)start % LINE != 0) {
        sim_fail("cg_cache_invalidate: does not start at a line of %d bytes", LINE);
    }
    for (uintptr_t at = (uintptr_t)start; at < end; at += LINE) {
        sim_line *l = line_of(at);
        memcpy((void *)at, l->memory, LINE);
        memcpy(l->synced, l->memory, LINE);
        l->known = 1;
    }
}
