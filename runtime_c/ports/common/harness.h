/* SPDX-License-Identifier: 0BSD */
/*
 * The harness feeds generated models with inputs and reports what they answer. It speaks one binary protocol on
 * every machine; a port brings the bytes in and out.
 *
 * Every number is a little-endian uint32. A request is {model, flags, input bytes} and then the bytes of all inputs
 * of that model in order. An answer is a row of records {tag, a, b, c, d, length} with `length` bytes behind each:
 *
 *   'C' once at start: a = instructions of a loop of known length, b = instructions the port's clock counted for it
 *   'T' rows [c, d) of image b of tensor a (builds with taps)
 *   'N' what command a of a simulated NPU has written (builds with taps)
 *   'O' output a
 *   'L' layer a took c + d * 2^32 instructions (requests with HARNESS_LAYERS)
 *   'E' end of the answer: a = status, b = bytes of stack that run() used, c + d * 2^32 = instructions of run()
 *
 * Outputs are sent only when the status is 0. Ports without a painted stack report 0 for it; a PC counts nanoseconds
 * in place of instructions.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stdint.h>

/* Request flag: call reset() before run(). */
#define HARNESS_RESET 1u
/* Request flag: call step() instead of run() and report every layer. */
#define HARNESS_LAYERS 2u
/* The flags from this bit on are a number of runs that go before the one reported, to warm caches up. */
#define HARNESS_WARM_UP_BIT 8

typedef struct harness_figures {
    uint32_t stack_bytes;
    uint64_t instructions;
} harness_figures;

/* One generated model; its adapter fills this in. */
typedef struct harness_model {
    const char *name;
    bool *ready; /* init() has succeeded */
    int32_t input_count;
    int32_t output_count;
    const int32_t *input_bytes;
    const int32_t *output_bytes;
    int32_t (*init)(void);
    void (*reset)(void);
    void *(*input)(int32_t index);
    const void *(*output)(int32_t index);
    int32_t (*run)(harness_figures *figures);
    int32_t (*run_layers)(void);
} harness_model;

/* The models of this program (generated). */
extern const harness_model *const harness_models[];
extern const uint32_t harness_model_count;

/* Called by an adapter's tap: announces a record of `bytes` bytes, which harness_put() then delivers. */
void harness_tap(int32_t tensor, int32_t image, int32_t y0, int32_t y1, int32_t bytes);
/* The same for the tile that command `number` of a simulated NPU has computed. */
void harness_tile(int32_t number, int32_t bytes);
void harness_put(const void *bytes, uint32_t count);
/* Called by an adapter's run_layers() after each layer. */
void harness_layer(int32_t layer, const harness_figures *figures);

/* What a port provides besides its machine.h. */

void port_open(void);
/* Reads `count` bytes of the requests; fewer only at their end. Returns the number read. */
uint32_t port_read(void *to, uint32_t count);
/* Writes to the answers; ends the program when that fails. */
void port_write(const void *from, uint32_t count);
/* Prints one line on the error stream and ends the program with a status that is not 0. */
void port_fail(const char *line) __attribute__((noreturn));

#endif
