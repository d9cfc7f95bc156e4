/* SPDX-License-Identifier: 0BSD */
/* A port's input and output through two files in the emulator's working directory. */
#include "semihost.h"

#include <string.h>

#include "harness.h"

static int32_t requests;
static int32_t answers;

void semihost_print(const char *text)
{
    (void)semihost(SEMIHOST_WRITE0, text);
}

void semihost_print_hex(uint32_t value)
{
    char text[11] = "0x00000000";
    for (int32_t i = 9; i >= 2; i--) {
        text[i] = "0123456789abcdef"[value & 15u];
        value >>= 4;
    }
    semihost_print(text);
}

void semihost_exit(int32_t status)
{
    const uint32_t block[2] = {SEMIHOST_APPLICATION_EXIT, (uint32_t)status};
    (void)semihost(SEMIHOST_EXIT_EXTENDED, block);
    for (;;) {
    }
}

static int32_t open_file(const char *name, uint32_t mode)
{
    const uint32_t block[3] = {(uint32_t)(uintptr_t)name, mode, (uint32_t)strlen(name)};
    const int32_t handle = semihost(SEMIHOST_OPEN, block);
    if (handle == -1) {
        port_fail("harness: cannot open requests.bin or answers.bin");
    }
    return handle;
}

void port_open(void)
{
    requests = open_file("requests.bin", SEMIHOST_MODE_READ_BINARY);
    answers = open_file("answers.bin", SEMIHOST_MODE_WRITE_BINARY);
}

/* Both calls return the number of bytes that were NOT moved. */
static uint32_t left_over(int32_t operation, int32_t handle, const void *bytes, uint32_t count)
{
    const uint32_t block[3] = {(uint32_t)handle, (uint32_t)(uintptr_t)bytes, count};
    return (uint32_t)semihost(operation, block);
}

uint32_t port_read(void *to, uint32_t count)
{
    return count == 0 ? 0 : count - left_over(SEMIHOST_READ, requests, to, count);
}

void port_write(const void *from, uint32_t count)
{
    if (count > 0 && left_over(SEMIHOST_WRITE, answers, from, count) != 0) {
        port_fail("harness: cannot write answers.bin");
    }
}

void port_fail(const char *line)
{
    semihost_print(line);
    semihost_print("\n");
    semihost_exit(1);
}
