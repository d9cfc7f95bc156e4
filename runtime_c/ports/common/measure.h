/* SPDX-License-Identifier: 0BSD */
/*
 * Stack and instructions of one call. Both halves are inlined into the function that makes the call, so that the stack
 * pointer and the clock are read right beside it and nothing of the harness is counted.
 *
 * machine.h of the port defines
 *   port_ticks_t, port_ticks()            a free-running clock, counting up and wrapping at its type
 *   PORT_TICK_INSTRUCTIONS, PORT_TICKS_PER  instructions per PORT_TICKS_PER ticks (0: there is no such clock)
 *   port_stack_pointer(), port_stack_low()  the stack is painted from port_stack_low() up to the pointer
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "harness.h"
#include "machine.h"

#define MEASURE_PAINT 0xA5C35A3Cu
#define MEASURE_INLINE static inline __attribute__((always_inline))

typedef struct measure_state {
    volatile uint32_t *stack_pointer;
    port_ticks_t ticks;
} measure_state;

MEASURE_INLINE measure_state measure_begin(void)
{
    measure_state state;
    state.stack_pointer = port_stack_pointer();
    /* volatile: a compiler must not turn this into a call of memset, whose frame would be painted over */
    for (volatile uint32_t *word = port_stack_low(); word < state.stack_pointer; word++) {
        *word = MEASURE_PAINT;
    }
    state.ticks = port_ticks();
    return state;
}

MEASURE_INLINE void measure_end(const measure_state *state, harness_figures *figures)
{
    const port_ticks_t elapsed = (port_ticks_t)(port_ticks() - state->ticks);
    volatile uint32_t *word = port_stack_low();
    while (word < state->stack_pointer && *word == MEASURE_PAINT) {
        word++;
    }
    if (word == port_stack_low() && word < state->stack_pointer) {
        port_fail("harness: run() used up the whole stack");
    }
    figures->stack_bytes = (uint32_t)((uintptr_t)state->stack_pointer - (uintptr_t)word);
    figures->instructions = (uint64_t)elapsed * PORT_TICK_INSTRUCTIONS / PORT_TICKS_PER;
}

#endif
