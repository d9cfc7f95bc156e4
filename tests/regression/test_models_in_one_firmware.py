"""One firmware, several models: no symbol twice, no state shared that should not be.

The same file built twice under two names and another model are linked together and run in turns,
layer by layer; two of them also share one arena, as long as only one inference is under way.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from codegen.pipeline import BuildOptions
from codegen.verify.toolchain import EXACT_FLAGS, STRICT_FLAGS
from tests.emit.programs import make_build, write
from tests.regression.nets import inverted_residual, long_skips

MAIN = """
#include <stdio.h>
#include <string.h>
#include "a.h"
#include "b.h"
#include "c.h"

enum { MOST = A_ARENA_BYTES > C_ARENA_BYTES ? A_ARENA_BYTES : C_ARENA_BYTES };
static union { long double align; unsigned char bytes[MOST + 64]; } memory;

static void fill(void *to, int32_t count, int32_t first)
{
    for (int32_t i = 0; i < count; i++) {
        ((signed char *)to)[i] = (signed char)((first + i * 7) % 200 - 100);
    }
}

int main(void)
{
    static unsigned char alone[A_OUTPUT_0_BYTES], other[C_OUTPUT_0_BYTES];
    unsigned char *arena = memory.bytes + (64 - (uintptr_t)memory.bytes % 64) % 64;
    if (a_set_arena_ram(arena, MOST) != A_OK || c_set_arena_ram(arena, MOST) != C_OK) {
        return 1;
    }
    if (a_init() != A_OK || b_init() != B_OK || c_init() != C_OK) {
        return 2;
    }
    fill(a_input(0), A_INPUT_0_ELEMENTS, 3);
    if (a_run() != A_OK) {
        return 3;
    }
    memcpy(alone, a_output(0), sizeof alone);
    fill(c_input(0), C_INPUT_0_ELEMENTS, 5);
    if (c_run() != C_OK) {
        return 4;
    }
    memcpy(other, c_output(0), sizeof other);

    fill(a_input(0), A_INPUT_0_ELEMENTS, 3);
    fill(b_input(0), B_INPUT_0_ELEMENTS, 3);
    a_status a;
    b_status b;
    int32_t steps = 0;
    do {
        a = a_step();
        b = b_step();
        steps++;
    } while (a == A_MORE && b == B_MORE);
    printf("%d %d %d ", a == A_OK, b == B_OK, steps == A_LAYER_COUNT && steps == B_LAYER_COUNT);
    printf("%d ", memcmp(alone, a_output(0), sizeof alone));
    printf("%d ", memcmp(alone, b_output(0), sizeof alone));

    fill(a_input(0), A_INPUT_0_ELEMENTS, 9);
    if (a_step() != A_MORE) {
        return 5;
    }
    a_reset();
    fill(c_input(0), C_INPUT_0_ELEMENTS, 5);
    while (c_step() == C_MORE) {
    }
    printf("%d ", memcmp(other, c_output(0), sizeof other));
    fill(a_input(0), A_INPUT_0_ELEMENTS, 3);
    while (a_step() == A_MORE) {
    }
    printf("%d\\n", memcmp(alone, a_output(0), sizeof alone));
    return 0;
}
"""


def test_three_models_in_turns(tmp_path: Path) -> None:
    """Each model has its own directory, as the README has it; the names of cg/ are the same."""
    models = {"a": inverted_residual(), "b": inverted_residual(), "c": long_skips()}
    objects = []
    for name, data in models.items():
        write(make_build(data, options=BuildOptions(name=name)).files, tmp_path / name)
        for suffix in ("", "_weights"):
            objects.append(f"{name}{suffix}.o")
            define = [] if name == "b" else [f"-D{name.upper()}_STATIC_ARENA=0"]
            source = f"{name}/{name}{suffix}.c"
            command = ["cc", *STRICT_FLAGS, *EXACT_FLAGS, "-O1", *define, "-c", source, "-o"]
            subprocess.run([*command, objects[-1]], cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(MAIN)
    defines = ["-DA_STATIC_ARENA=0", "-DC_STATIC_ARENA=0", *(f"-I{name}" for name in models)]
    command = ["cc", "-std=c99", *defines, "main.c", *objects, "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./program"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "1 1 1 0 0 0 0\n"
