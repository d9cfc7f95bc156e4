/* SPDX-License-Identifier: 0BSD
 *
 * Transfers of the `sim` port. Each run of bytes moves at an arbitrary time between start and wait, most of
 * them in the wait. Sources are remembered at the start: who changes one under way is found out.
 */
#include <stdlib.h>
#include <string.h>

#include "sim_state.h"

typedef struct {
    cg_dma_transfer t;
    int32_t active;
    int32_t store;
    int32_t low, high;                /* runs not yet moved, from both ends */
    int32_t pad;                      /* position in the scratchpad */
    uint8_t *source;                  /* the source's bytes when it was started */
} sim_transfer;

static sim_transfer flights[SIM_DMA_QUEUE];
static int32_t next_ticket;

static int32_t runs(const cg_dma_transfer *t)
{
    return t->rows * t->planes;
}

/* Offset of run number i from the first one. */
static ptrdiff_t run_offset(const cg_dma_transfer *t, int32_t i, int32_t row, int32_t plane)
{
    return (ptrdiff_t)(i / t->rows) * plane + (ptrdiff_t)(i % t->rows) * row;
}

static const uint8_t *run_from(const cg_dma_transfer *t, int32_t i)
{
    return (const uint8_t *)t->from + run_offset(t, i, t->from_row, t->from_plane);
}

static uint8_t *run_to(const cg_dma_transfer *t, int32_t i)
{
    return (uint8_t *)t->to + run_offset(t, i, t->to_row, t->to_plane);
}

static int32_t pad_offset(const sim_transfer *f, int32_t i)
{
    const ptrdiff_t offset = f->store != 0 ? run_from(&f->t, i) - sim_pad.base
                                           : run_to(&f->t, i) - sim_pad.base;
    return (int32_t)offset;
}

static void read_source(const sim_transfer *f, int32_t i, uint8_t *to)
{
    if (f->store == 0 && sim_cached(&f->t)) {
        sim_cache_read(to, run_from(&f->t, i), f->t.length);
    } else {
        memcpy(to, run_from(&f->t, i), (size_t)f->t.length);
    }
}

static void move(sim_transfer *f, int32_t i)
{
    const uint8_t *bytes = f->source + (ptrdiff_t)i * f->t.length;
    uint8_t *now = malloc((size_t)f->t.length);
    read_source(f, i, now);
    if (memcmp(now, bytes, (size_t)f->t.length) != 0) {
        sim_fail("transfer %d: its source was overwritten while it was sent", (int)f->t.ticket);
    }
    free(now);
    if (f->store != 0 && sim_cached(&f->t)) {
        sim_cache_write(run_to(&f->t, i), bytes, f->t.length);
    } else {
        memcpy(run_to(&f->t, i), bytes, (size_t)f->t.length);
    }
}

void sim_dma_stir(void)
{
    sim_transfer *f = &flights[sim_random(SIM_DMA_QUEUE)];
    if (f->active == 0 || f->low >= f->high || sim_random(4) != 0) {
        return;
    }
    if (sim_random(2) != 0) {
        move(f, f->low++);
    } else {
        move(f, --f->high);
    }
}

static void check_alignment(const cg_dma_transfer *t)
{
    const int64_t all[] = {(int64_t)(uintptr_t)t->to, (int64_t)(uintptr_t)t->from, t->length,
                           t->to_row, t->to_plane, t->from_row, t->from_plane};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] % SIM_DMA_ALIGNMENT != 0) {
            sim_fail("transfer %d: misaligned, the DMA wants multiples of %d", (int)t->ticket,
                     SIM_DMA_ALIGNMENT);
        }
    }
}

static void check_shape(const cg_dma_transfer *t)
{
    const int32_t strides[] = {t->to_row, t->to_plane, t->from_row, t->from_plane};
    const int32_t rank = t->planes > 1 ? 3 : t->rows > 1 ? 2 : 1;
    if (t->length < 1 || t->rows < 1 || t->planes < 1 || rank > SIM_DMA_RANKS) {
        sim_fail("transfer %d: %d x %d x %d bytes is not a shape of the DMA", (int)t->ticket,
                 (int)t->planes, (int)t->rows, (int)t->length);
    }
    if (t->length > SIM_DMA_MAX_LENGTH) {
        sim_fail("transfer %d: rows of %d bytes are too long for the DMA", (int)t->ticket,
                 (int)t->length);
    }
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++) {
        if (strides[i] < 0 || strides[i] > SIM_DMA_MAX_STRIDE) {
            sim_fail("transfer %d: a stride of %d bytes is beyond the DMA", (int)t->ticket,
                     (int)strides[i]);
        }
    }
    check_alignment(t);
}

/* Bytes from the first to the last one of a side. */
static int64_t extent(const cg_dma_transfer *t, int32_t row, int32_t plane)
{
    return (int64_t)run_offset(t, runs(t) - 1, row, plane) + t->length;
}

/* Checks the scratchpad's side and marks its bytes as arriving or leaving. */
static void take_scratchpad(sim_transfer *f)
{
    const int32_t ticket = f->t.ticket;
    f->pad = f->store != 0
                 ? sim_position("a store's source", f->t.from, extent(&f->t, f->t.from_row, f->t.from_plane))
                 : sim_position("a load's target", f->t.to, extent(&f->t, f->t.to_row, f->t.to_plane));
    sim_banks = 0;
    for (int32_t i = 0; i < runs(&f->t); i++) {
        const int32_t first = pad_offset(f, i);
        for (int32_t at = first; at < first + f->t.length; at++) {
            const int32_t state = sim_pad.state[at];
            sim_touch(at);
            if (f->store != 0) {
                if (state != SIM_VALID) {
                    sim_fail("transfer %d: sends byte %d of the scratchpad, which is not there yet",
                             (int)ticket, (int)at);
                }
                sim_pad.leaving[at]++;
                continue;
            }
            if (state == SIM_ARRIVING || state == SIM_COMPUTING || sim_pad.in_use[at] != 0
                || sim_pad.leaving[at] != 0) {
                sim_fail("transfer %d: overwrites byte %d of the scratchpad, which is %s", (int)ticket,
                         (int)at, sim_pad.leaving[at] != 0 ? "being sent" : "in use");
            }
            sim_pad.state[at] = SIM_ARRIVING;
        }
    }
}

static void release_scratchpad(const sim_transfer *f)
{
    for (int32_t i = 0; i < runs(&f->t); i++) {
        const int32_t first = pad_offset(f, i);
        for (int32_t at = first; at < first + f->t.length; at++) {
            if (f->store != 0) {
                sim_pad.leaving[at]--;
            } else {
                sim_pad.state[at] = SIM_VALID;
            }
        }
    }
}

/* Remembers the source and spoils the target. */
static void begin(sim_transfer *f)
{
    f->source = malloc((size_t)runs(&f->t) * (size_t)f->t.length);
    for (int32_t i = 0; i < runs(&f->t); i++) {
        read_source(f, i, f->source + (ptrdiff_t)i * f->t.length);
        if (f->store != 0 && sim_cached(&f->t)) {
            sim_cache_written(run_to(&f->t, i), f->t.length);
        }
    }
    for (int32_t i = 0; i < runs(&f->t); i++) {
        memset(run_to(&f->t, i), 0x5A, (size_t)f->t.length);
    }
}

static int32_t is_in_scratchpad(const void *at)
{
    const uintptr_t base = (uintptr_t)sim_pad.base;
    return (uintptr_t)at >= base && (uintptr_t)at < base + (uintptr_t)sim_pad.size;
}

int32_t cg_dma_start(const cg_dma_transfer *t)
{
    sim_transfer *f = NULL;
    sim_dma_stir();
    if (t->ticket != next_ticket) {
        sim_fail("transfer %d: its ticket should be %d", (int)t->ticket, (int)next_ticket);
    }
    next_ticket++;
    if (sim_injected("dma", t->ticket)) {
        return CG_HAL_DMA_ERROR;
    }
    check_shape(t);
    for (int32_t i = 0; i < SIM_DMA_QUEUE && f == NULL; i++) {
        f = flights[i].active == 0 ? &flights[i] : NULL;
    }
    if (f == NULL) {
        sim_fail("transfer %d: %d transfers wait already", (int)t->ticket, SIM_DMA_QUEUE);
    }
    f->t = *t;
    f->active = 1;
    f->store = is_in_scratchpad(t->from);
    if (is_in_scratchpad(t->to) == f->store) {
        sim_fail("transfer %d: one side must be the scratchpad, the other one memory", (int)t->ticket);
    }
    f->low = 0;
    f->high = runs(t);
    take_scratchpad(f);
    begin(f);
    sim_clock_transfer(t, f->store, (int64_t)runs(t) * t->length);
    return CG_HAL_OK;
}

int32_t cg_dma_wait(int32_t ticket)
{
    sim_dma_stir();
    for (int32_t i = 0; i < SIM_DMA_QUEUE; i++) {
        sim_transfer *f = &flights[i];
        if (f->active == 0 || f->t.ticket != ticket) {
            continue;
        }
        while (f->low < f->high) {
            move(f, --f->high);
        }
        release_scratchpad(f);
        free(f->source);
        f->active = 0;
        sim_clock_transfer_wait(ticket);
        return CG_HAL_OK;
    }
    sim_fail("transfer %d: is waited for, but is not under way", (int)ticket);
}

void sim_dma_open(void)
{
    next_ticket = 0;
}

void sim_dma_close(int32_t complete)
{
    for (int32_t i = 0; i < SIM_DMA_QUEUE; i++) {
        if (flights[i].active != 0 && complete != 0) {
            sim_fail("transfer %d: nobody has waited for it", (int)flights[i].t.ticket);
        }
        if (flights[i].active != 0) {
            free(flights[i].source);
            flights[i].active = 0;
        }
    }
}
