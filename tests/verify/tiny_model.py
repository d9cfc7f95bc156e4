"""A hand-written model that keeps the contract of generated code: two layers, each adding 1.

Tensors: 0 = input and 1 = output of layer 0 (4 rows of 3 pixels of 2 channels), 2 = output. Layer 0
writes into a wider buffer, as a view of a concatenation does, in two ranges, the lower one first.
"""

from codegen.verify.sources import GeneratedSources

SIZE = 4 * 3 * 2

_VIEW = """
#ifndef CG_VIEW_H
#define CG_VIEW_H
#include <stdint.h>
typedef struct cg_dst {
    void *base;
    int32_t row;
    int32_t pixel;
    int32_t ring;
    int32_t row0;
    int32_t col0;
} cg_dst;
#endif
"""

_HEADER = """
#ifndef {upper}_H
#define {upper}_H
#include <stdint.h>
#define {upper}_INPUT_COUNT 1
#define {upper}_OUTPUT_COUNT 1
#define {upper}_INPUT_0_BYTES 24
#define {upper}_OUTPUT_0_BYTES 24
typedef enum {name}_status {{ {upper}_OK = 0, {upper}_MORE = 1, {upper}_BROKEN = 7 }} {name}_status;
{name}_status {name}_init(void);
{name}_status {name}_set_input(int32_t index, const void *buffer);
{name}_status {name}_set_output(int32_t index, void *buffer);
void *{name}_input(int32_t index);
const void *{name}_output(int32_t index);
{name}_status {name}_run(void);
{name}_status {name}_step(void);
void {name}_reset(void);
#endif
"""

_SOURCE = """
#include "{name}.h"
#include "cg/cg_view.h"

#ifdef {upper}_TAP
extern void {name}_tap(int32_t tensor, int32_t image, const cg_dst *view, int32_t y0, int32_t y1,
    int32_t width, int32_t pixel_bytes);
#define TAP(tensor, view, y0, y1) {name}_tap((tensor), 0, (view), (y0), (y1), 3, 2)
#else
#define TAP(tensor, view, y0, y1) (void)(view)
#endif

extern const uint8_t {name}_weights[1];
static uint8_t own[48], wide[4 * 3 * 5];
static const uint8_t *input = own;
static uint8_t *output = own + 24;
static int32_t runs;

static __attribute__((noinline)) void layer_0(int32_t y0, int32_t y1)
{{
    const cg_dst view = {{wide + 1, 15, 5, 0, 0, 0}};
    for (int32_t i = 6 * y0; i < 6 * y1; i++) {{
        wide[5 * (i / 2) + i % 2 + 1] = (uint8_t)(input[i] + {name}_weights[0]);
    }}
    TAP(1, &view, y0, y1);
}}

static __attribute__((noinline)) void layer_1(void)
{{
    const cg_dst view = {{output, 6, 2, 4, 0, 0}};
    for (int32_t i = 0; i < 24; i++) {{
        output[i] = (uint8_t)(wide[5 * (i / 2) + i % 2 + 1] + {name}_weights[0]);
    }}
    TAP(2, &view, 0, 4);
}}

{name}_status {name}_init(void)
{{
    return {init};
}}

void *{name}_input(int32_t index)
{{
    (void)index;
    return own;
}}

const void *{name}_output(int32_t index)
{{
    (void)index;
    return output;
}}

{name}_status {name}_set_input(int32_t index, const void *buffer)
{{
    (void)index;
    input = buffer;
    return {upper}_OK;
}}

{name}_status {name}_set_output(int32_t index, void *buffer)
{{
    (void)index;
    output = buffer;
    return {upper}_OK;
}}

void {name}_reset(void)
{{
    runs = 0;
}}

{name}_status {name}_step(void)
{{
    static int32_t next;
    next = (next + 1) % 2;
    if (next == 1) {{
        layer_0(2, 4);
        layer_0(0, 2);
        return {upper}_MORE;
    }}
    layer_1();
    return {upper}_OK;
}}

{name}_status {name}_run(void)
{{
    volatile uint32_t burn = {loops};
    runs++;
    layer_0(2, 4);
    layer_0(0, 2);
    layer_1();
    while (burn > 0) {{
        burn--;
    }}
    {extra}
    return {upper}_OK;
}}
"""


def tiny_model(
    name: str = "tiny",
    *,
    extra: str = "",
    init: str | None = None,
    loops: int = 0,
    weight: int = 1,
    caller_io: bool = False,
) -> GeneratedSources:
    """The model, with the C statements `extra` at the end of run() and `loops` idle rounds."""
    upper = name.upper()
    keys = {
        "name": name,
        "upper": upper,
        "extra": extra,
        "init": init or f"{upper}_OK",
        "loops": f"{loops}u",
    }
    files = {
        f"{name}.h": _HEADER.format(**keys),
        f"{name}.c": _SOURCE.format(**keys),
        f"{name}_weights.c": (
            f"#include <stdint.h>\nextern const uint8_t {name}_weights[1];\n"
            f"const uint8_t {name}_weights[1] = {{{weight}}};\n"
        ),
        "cg/cg_view.h": _VIEW,
    }
    return GeneratedSources(name, files, (SIZE,), (SIZE,), caller_io)


def plus(data: bytes, amount: int) -> bytes:
    """`data` with `amount` added to every byte."""
    return bytes((byte + amount) % 256 for byte in data)
