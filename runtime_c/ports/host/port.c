/* SPDX-License-Identifier: 0BSD */
/* The harness on a PC: requests on stdin, answers on stdout. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "harness.h"
#include "machine.h"

port_ticks_t port_ticks(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void port_open(void)
{
}

uint32_t port_read(void *to, uint32_t count)
{
    return (uint32_t)fread(to, 1, count, stdin);
}

void port_write(const void *from, uint32_t count)
{
    if (fwrite(from, 1, count, stdout) != count || fflush(stdout) != 0) {
        port_fail("harness: cannot write to stdout");
    }
}

void port_fail(const char *line)
{
    fprintf(stderr, "%s\n", line);
    exit(1);
}
