/* SPDX-License-Identifier: 0BSD */
/* What all Cortex-M machines share of machine.h. */
#ifndef CORTEXM_H
#define CORTEXM_H

#include <stdint.h>

extern uint32_t link_stack_low[];

static inline volatile uint32_t *port_stack_low(void)
{
    return link_stack_low;
}

static inline __attribute__((always_inline)) volatile uint32_t *port_stack_pointer(void)
{
    volatile uint32_t *pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    return pointer;
}

/* Runs 2 * rounds instructions and returns that number. */
static inline __attribute__((always_inline)) uint32_t port_spin(uint32_t rounds)
{
    uint32_t left = rounds;
    __asm__ volatile("1: subs %0, %0, #1\n"
                     "bne 1b\n"
                     : "+r"(left)
                     :
                     : "cc");
    return 2u * rounds;
}

#endif
