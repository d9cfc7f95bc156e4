/* SPDX-License-Identifier: 0BSD */
/* QEMU's riscv32 "virt" machine. Clock: minstret, which counts instructions. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

typedef uint64_t port_ticks_t;

#define PORT_TICK_INSTRUCTIONS 1u
#define PORT_TICKS_PER 1u

extern uint32_t link_stack_low[];

static inline volatile uint32_t *port_stack_low(void)
{
    return link_stack_low;
}

static inline __attribute__((always_inline)) volatile uint32_t *port_stack_pointer(void)
{
    volatile uint32_t *pointer;
    __asm__ volatile("mv %0, sp" : "=r"(pointer));
    return pointer;
}

static inline __attribute__((always_inline)) port_ticks_t port_ticks(void)
{
    uint32_t high;
    uint32_t low;
    uint32_t again;
    __asm__ volatile(".option push\n"
                     ".option arch, +zicsr\n"
                     "1: csrr %0, minstreth\n"
                     "csrr %1, minstret\n"
                     "csrr %2, minstreth\n"
                     "bne %0, %2, 1b\n"
                     ".option pop\n"
                     : "=&r"(high), "=&r"(low), "=&r"(again));
    return (uint64_t)high << 32 | low;
}

/* Runs 2 * rounds instructions and returns that number. */
static inline __attribute__((always_inline)) uint32_t port_spin(uint32_t rounds)
{
    uint32_t left = rounds;
    __asm__ volatile("1: addi %0, %0, -1\n"
                     "bnez %0, 1b\n"
                     : "+r"(left));
    return 2u * rounds;
}

#endif
