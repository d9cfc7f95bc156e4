/* SPDX-License-Identifier: 0BSD */
/* Start-up of the emulated Cortex-M machines: vectors, FPU and MVE, memory, then main(). */
#include <stdint.h>

#include "harness.h"
#include "machine.h"
#include "semihost.h"

#define SCB_CFSR (*(volatile uint32_t *)0xE000ED28u)

extern uint32_t link_stack_top[];
extern uint32_t link_data_load[];
extern uint32_t link_data_start[];
extern uint32_t link_data_end[];
extern uint32_t link_bss_start[];
extern uint32_t link_bss_end[];

int main(void);
void reset_handler(void);
void start(void) __attribute__((noreturn));
void fault_handler(void);
void report_fault(const uint32_t *frame) __attribute__((noreturn));

typedef void (*vector)(void);

typedef struct vector_table {
    uint32_t *stack_top;
    vector handlers[15];
} vector_table;

__attribute__((section(".vectors"), used)) static const vector_table vectors = {
    link_stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, 0, 0,
     0, fault_handler, fault_handler, 0, fault_handler, fault_handler},
};

/* CPACR: the coprocessors 10 and 11 are the FPU and MVE. Nothing compiled may run before they are on. */
__attribute__((naked)) void reset_handler(void)
{
    __asm__ volatile("ldr r0, =0xE000ED88\n"
                     "ldr r1, [r0]\n"
                     "orr r1, r1, #(0xF << 20)\n"
                     "str r1, [r0]\n"
                     "dsb\n"
                     "isb\n"
                     "b start\n");
}

/* Vector instructions are unpredicated only while FPSCR.LTPSIZE is 4; compilers take that for granted. */
static inline void set_ltpsize(void)
{
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE
    uint32_t fpscr;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(fpscr));
    fpscr = (fpscr & ~(7u << 16)) | (4u << 16);
    __asm__ volatile("vmsr fpscr, %0" : : "r"(fpscr));
#endif
}

void start(void)
{
    const uint32_t *from = link_data_load;
    set_ltpsize();
    for (volatile uint32_t *to = link_data_start; to < link_data_end; to++) {
        *to = *from++;
    }
    for (volatile uint32_t *to = link_bss_start; to < link_bss_end; to++) {
        *to = 0;
    }
    port_start_clock();
    semihost_exit(main());
}

__attribute__((naked)) void fault_handler(void)
{
    __asm__ volatile("mrs r0, msp\n"
                     "ldr r1, =link_stack_top\n"
                     "mov sp, r1\n"
                     "b report_fault\n");
}

/* `frame`: r0-r3, r12, lr, pc, xpsr as the processor pushed them, unless the stack was full. */
void report_fault(const uint32_t *frame)
{
    if (frame < link_stack_low) {
        port_fail("harness: run() used up the whole stack");
    }
    semihost_print("harness: processor fault at ");
    semihost_print_hex(frame[6]);
    semihost_print(", CFSR ");
    semihost_print_hex(SCB_CFSR);
    semihost_print("\n");
    semihost_exit(1);
}
