/* SPDX-License-Identifier: 0BSD
 *
 * What the parts of the `sim` port share: the state of the scratchpad, the clock, and how it complains.
 */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include <stdint.h>

#include "cg_hal.h"
#include "cg_sim_board.h"

/* What a byte of the scratchpad holds. */
enum { SIM_EMPTY, SIM_VALID, SIM_ARRIVING, SIM_COMPUTING };

typedef struct {
    uint8_t *base;
    int32_t size;
    uint8_t state[SIM_SCRATCHPAD_BYTES];
    uint8_t leaving[SIM_SCRATCHPAD_BYTES];   /* stores under way that read the byte */
    uint8_t in_use[SIM_SCRATCHPAD_BYTES];    /* the running command reads the byte */
} sim_scratchpad;

extern sim_scratchpad sim_pad;

/* The banks of the scratchpad that the transfer or command being started touches, a bit for each. */
extern uint64_t sim_banks;
void sim_touch(int32_t at);

/* Prints "sim: layer 3 CONV_2D: ..." and ends the program with a status that is not 0. */
void sim_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Whether call number `number` of a kind ("dma", "npu") is asked to fail; that happens once. */
int sim_injected(const char *kind, int32_t number);

/* A number below `limit`, the same ones in every run of the program. */
uint32_t sim_random(uint32_t limit);

/* Position in the scratchpad of bytes that must lie there; `what` names them. */
int32_t sim_position(const char *what, const void *start, int64_t bytes);

/* The clock, in cycles. */
extern int64_t sim_now;
void sim_clock_open(void);
void sim_clock_close(void);
void sim_clock_transfer(const cg_dma_transfer *t, int32_t store, int64_t bytes);
void sim_clock_transfer_wait(int32_t ticket);
void sim_clock_npu(const cg_npu_command *c);
void sim_clock_npu_wait(void);
void sim_clock_cpu(int64_t cycles);

/* Memory behind the cache. */
void sim_cache_open(void);
int sim_cached(const cg_dma_transfer *t);
void sim_cache_read(void *to, const void *from, int32_t bytes);
/* A transfer will store there: notes dirty lines and spoils what the CPU sees. */
void sim_cache_written(const void *start, int32_t bytes);
void sim_cache_write(void *to, const void *from, int32_t bytes);

/* Called by every function of the contract: a piece of some transfer may move. */
void sim_dma_stir(void);
void sim_dma_open(void);
void sim_dma_close(int32_t complete);
void sim_npu_open(void);
void sim_npu_close(int32_t complete);

#endif
