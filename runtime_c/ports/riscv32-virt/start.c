/* SPDX-License-Identifier: 0BSD */
/* Start-up of QEMU's riscv32 "virt" machine: traps, FPU, thread pointer, memory, then main(). */
#include <stdint.h>

#include "semihost.h"

extern uint32_t link_bss_start[];
extern uint32_t link_bss_end[];

int main(void);
void reset_handler(void);
void start(void) __attribute__((noreturn));
void trap_handler(void) __attribute__((noreturn, aligned(4)));

/* The loader has put all data in place. The C library keeps errno behind the thread pointer. */
__attribute__((naked, section(".entry"))) void reset_handler(void)
{
    __asm__ volatile(".option push\n"
                     ".option norelax\n"
                     ".option arch, +zicsr\n"
                     "la gp, __global_pointer$\n"
                     "la sp, link_stack_top\n"
                     "la tp, link_tls_start\n"
                     "la t0, trap_handler\n"
                     "csrw mtvec, t0\n"
#if defined(__riscv_flen)
                     "li t0, 0x2000\n" /* mstatus.FS */
                     "csrs mstatus, t0\n"
#endif
                     "j start\n"
                     ".option pop\n");
}

void start(void)
{
    for (volatile uint32_t *to = link_bss_start; to < link_bss_end; to++) {
        *to = 0;
    }
    semihost_exit(main());
}

void trap_handler(void)
{
    uint32_t at;
    uint32_t cause;
    __asm__ volatile(".option push\n"
                     ".option arch, +zicsr\n"
                     "csrr %0, mepc\n"
                     "csrr %1, mcause\n"
                     ".option pop\n"
                     : "=&r"(at), "=&r"(cause));
    semihost_print("harness: processor fault at ");
    semihost_print_hex(at);
    semihost_print(", mcause ");
    semihost_print_hex(cause);
    semihost_print("\n");
    semihost_exit(1);
}
