/* SPDX-License-Identifier: 0BSD */
/*
 * mps3-an547: Cortex-M55. Clock: low word of the SSE-300 system counter at 32 MHz; one instruction takes 1 ns, so
 * four ticks are 125 instructions.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "cortexm.h"

typedef uint32_t port_ticks_t;

#define PORT_TICK_INSTRUCTIONS 125u
#define PORT_TICKS_PER 4u

#define COUNTER_CONTROL (*(volatile uint32_t *)0x58100000u)
#define COUNTER_LOW (*(volatile uint32_t *)0x58000000u)

static inline void port_start_clock(void)
{
    COUNTER_CONTROL = 1;
}

static inline __attribute__((always_inline)) port_ticks_t port_ticks(void)
{
    return COUNTER_LOW;
}

#endif
