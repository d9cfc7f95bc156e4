/* SPDX-License-Identifier: 0BSD */
#include "harness.h"

#include <string.h>

#include "measure.h"

#define CALIBRATION_ROUNDS 100000u

typedef struct request {
    const harness_model *model;
    uint32_t flags;
} request;

static uint8_t pending[4096];
static uint32_t pending_count;

static void flush(void)
{
    port_write(pending, pending_count);
    pending_count = 0;
}

void harness_put(const void *bytes, uint32_t count)
{
    const uint8_t *from = bytes;
    while (count > 0) {
        const uint32_t room = (uint32_t)sizeof pending - pending_count;
        const uint32_t part = count < room ? count : room;
        memcpy(pending + pending_count, from, part);
        pending_count += part;
        from += part;
        count -= part;
        if (pending_count == sizeof pending) {
            flush();
        }
    }
}

static void put_u32(uint32_t value)
{
    const uint8_t bytes[4] = {
        (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    harness_put(bytes, sizeof bytes);
}

static void put_record(char tag, const uint32_t words[4], uint32_t length)
{
    put_u32((uint32_t)(unsigned char)tag);
    for (int32_t i = 0; i < 4; i++) {
        put_u32(words[i]);
    }
    put_u32(length);
}

void harness_tap(int32_t tensor, int32_t image, int32_t y0, int32_t y1, int32_t bytes)
{
    const uint32_t words[4] = {(uint32_t)tensor, (uint32_t)image, (uint32_t)y0, (uint32_t)y1};
    put_record('T', words, (uint32_t)bytes);
}

void harness_tile(int32_t number, int32_t bytes)
{
    const uint32_t words[4] = {(uint32_t)number, 0, 0, 0};
    put_record('N', words, (uint32_t)bytes);
}

void harness_layer(int32_t layer, const harness_figures *figures)
{
    const uint32_t words[4] = {(uint32_t)layer, figures->stack_bytes, (uint32_t)figures->instructions,
                               (uint32_t)(figures->instructions >> 32)};
    put_record('L', words, 0);
}

static uint32_t get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t all_input_bytes(const harness_model *model)
{
    uint32_t sum = 0;
    for (int32_t i = 0; i < model->input_count; i++) {
        sum += (uint32_t)model->input_bytes[i];
    }
    return sum;
}

/* Reads the head of the next request; false at the end of the requests. */
static bool next_request(request *out)
{
    uint8_t head[12];
    const uint32_t got = port_read(head, sizeof head);
    if (got == 0) {
        return false;
    }
    if (got != sizeof head || get_u32(head) >= harness_model_count) {
        port_fail("harness: malformed request");
    }
    out->model = harness_models[get_u32(head)];
    out->flags = get_u32(head + 4);
    if (get_u32(head + 8) != all_input_bytes(out->model)) {
        port_fail("harness: the request has another number of input bytes than the model");
    }
    return true;
}

static void read_inputs(const harness_model *model)
{
    for (int32_t i = 0; i < model->input_count; i++) {
        const uint32_t count = (uint32_t)model->input_bytes[i];
        if (port_read(model->input(i), count) != count) {
            port_fail("harness: the request ends within an input");
        }
    }
}

static int32_t prepare(const harness_model *model, uint32_t flags)
{
    if (!*model->ready) {
        const int32_t status = model->init();
        if (status != 0) {
            return status;
        }
        *model->ready = true;
    }
    if ((flags & HARNESS_RESET) != 0u) {
        model->reset();
    }
    return 0;
}

static void put_outputs(const harness_model *model)
{
    for (int32_t i = 0; i < model->output_count; i++) {
        const uint32_t words[4] = {(uint32_t)i, 0, 0, 0};
        const uint32_t count = (uint32_t)model->output_bytes[i];
        put_record('O', words, count);
        harness_put(model->output(i), count);
    }
}

static void serve(const request *asked)
{
    harness_figures figures = {0, 0};
    int32_t status = prepare(asked->model, asked->flags);
    read_inputs(asked->model);
    for (uint32_t i = asked->flags >> HARNESS_WARM_UP_BIT; i > 0 && status == 0; i--) {
        status = asked->model->run(&figures);
    }
    if (status == 0) {
        status = (asked->flags & HARNESS_LAYERS) != 0u ? asked->model->run_layers() : asked->model->run(&figures);
    }
    if (status == 0) {
        put_outputs(asked->model);
    }
    const uint32_t end[4] = {(uint32_t)status, figures.stack_bytes, (uint32_t)figures.instructions,
                             (uint32_t)(figures.instructions >> 32)};
    put_record('E', end, 0);
    flush();
}

/* Counts a loop of known length, so that the reader can tell whether the clock counts instructions. */
static void put_calibration(void)
{
    harness_figures figures;
    const measure_state state = measure_begin();
    const uint32_t expected = port_spin(CALIBRATION_ROUNDS);
    measure_end(&state, &figures);
    const uint32_t words[4] = {expected, (uint32_t)figures.instructions, 0, 0};
    put_record('C', words, 0);
    flush();
}

int main(void)
{
    request asked;
    port_open();
    put_calibration();
    while (next_request(&asked)) {
        serve(&asked);
    }
    return 0;
}
