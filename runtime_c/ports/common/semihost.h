/* SPDX-License-Identifier: 0BSD */
/* Semihosting calls: the emulator does the work of a file system for the program. */
#ifndef SEMIHOST_H
#define SEMIHOST_H

#include <stdint.h>

#define SEMIHOST_OPEN 0x01
#define SEMIHOST_WRITE0 0x04
#define SEMIHOST_WRITE 0x05
#define SEMIHOST_READ 0x06
#define SEMIHOST_EXIT_EXTENDED 0x20

#define SEMIHOST_MODE_READ_BINARY 1u
#define SEMIHOST_MODE_WRITE_BINARY 5u
#define SEMIHOST_APPLICATION_EXIT 0x20026u

#if defined(__arm__)
static inline int32_t semihost(int32_t operation, const void *argument)
{
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory", "cc");
    return r0;
}
#elif defined(__riscv)
static inline int32_t semihost(int32_t operation, const void *argument)
{
    register int32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    /* The emulator looks for exactly these three uncompressed instructions; they must not straddle a page. */
    __asm__ volatile(".balign 16\n"
                     ".option push\n"
                     ".option norvc\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}
#else
#error "semihost.h: no semihosting for this processor"
#endif

void semihost_print(const char *text);
void semihost_print_hex(uint32_t value);
void semihost_exit(int32_t status) __attribute__((noreturn));

#endif
