/* SPDX-License-Identifier: 0BSD */
/* A PC: a clock that counts nanoseconds, and a stack that belongs to the operating system. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t port_ticks_t;

#define PORT_TICK_INSTRUCTIONS 1u
#define PORT_TICKS_PER 1u

static inline volatile uint32_t *port_stack_low(void)
{
    return NULL;
}

static inline volatile uint32_t *port_stack_pointer(void)
{
    return NULL;
}

port_ticks_t port_ticks(void);

static inline uint32_t port_spin(uint32_t rounds)
{
    (void)rounds;
    return 0;
}

#endif
