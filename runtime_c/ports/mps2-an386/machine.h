/* SPDX-License-Identifier: 0BSD */
/* mps2-an386: Cortex-M4. Clock: CMSDK timer 0 at 25 MHz, counting down; one instruction takes 1 ns. */
#ifndef MACHINE_H
#define MACHINE_H

#include "cortexm.h"

typedef uint32_t port_ticks_t;

#define PORT_TICK_INSTRUCTIONS 40u
#define PORT_TICKS_PER 1u

#define TIMER0 ((volatile uint32_t *)0x40000000u) /* control, value, reload */

static inline void port_start_clock(void)
{
    TIMER0[2] = 0xFFFFFFFFu;
    TIMER0[1] = 0xFFFFFFFFu;
    TIMER0[0] = 1;
}

static inline __attribute__((always_inline)) port_ticks_t port_ticks(void)
{
    return ~TIMER0[1];
}

#endif
