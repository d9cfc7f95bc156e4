"""What the output promises: no warnings, empty .data, no heap, a C++ header, stable bytes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.pipeline import BuildOptions
from codegen.plan import PlanOptions
from codegen.verify.toolchain import EXACT_FLAGS, STRICT_FLAGS
from tests.emit.programs import make_build, run_c, two_convolutions, write
from tests.tflite_builder import ModelBuilder

CROSS = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb")


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")


@pytest.mark.parametrize(
    "compiler",
    [
        pytest.param(("gcc",), marks=needs("gcc")),
        pytest.param(("clang",), marks=needs("clang")),
        pytest.param(CROSS, marks=needs(CROSS[0])),
    ],
)
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O3"])
@pytest.mark.parametrize("caller_io", [False, True])
def test_no_warnings(
    compiler: tuple[str, ...], level: str, caller_io: bool, tmp_path: Path
) -> None:
    options = BuildOptions(plan=PlanOptions(caller_io=caller_io))
    write(make_build(two_convolutions(), options=options).files, tmp_path)
    for source in ("net.c", "net_weights.c", "main_example.c"):
        command = [*compiler, *STRICT_FLAGS, *EXACT_FLAGS, level, "-c", source, "-o", "/dev/null"]
        subprocess.run(command, cwd=tmp_path, check=True)


@needs("gcc")
@pytest.mark.parametrize("caller_io", [False, True])
def test_the_inference_of_the_readme_compiles(caller_io: bool, tmp_path: Path) -> None:
    files = make_build(
        two_convolutions(), options=BuildOptions(plan=PlanOptions(caller_io=caller_io))
    ).files
    write(files, tmp_path)
    text = files["README.md"]
    lines = text[text.index("One inference:") : text.index("`net.h` says")].splitlines()[1:]
    include, *body = [line.strip() for line in lines if line.strip()]
    buffers = "int8_t in0[NET_INPUT_0_ELEMENTS] = {0}" + (
        ", out0[NET_OUTPUT_0_ELEMENTS]" if caller_io else ""
    )
    (tmp_path / "use.c").write_text(
        "\n".join((include, "#include <string.h>", "int main(void) {", f"{buffers};", *body))
        + "\nreturn out0[0];\n}\n"
    )
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "use.c", "-o", "use.o"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("op", ["LOGISTIC", "RESHAPE"])
def test_the_maths_library_is_linked_where_it_is_used(op: str) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), "float32") for _ in range(2))
    builder.op(op, [x], [y])
    files = make_build(builder.build([x], [y])).files
    used = op == "LOGISTIC"
    assert ("target_link_libraries(net PUBLIC m)" in files["CMakeLists.txt"]) == used
    assert ("link with `-lm`" in files["README.md"]) == used


@needs("g++")
def test_header_is_cpp(tmp_path: Path) -> None:
    write(make_build(two_convolutions()).files, tmp_path)
    (tmp_path / "use.cpp").write_text(
        '#include "net.h"\nint main() { return net_quantize_input_0(0.5f) + net_init(); }\n'
    )
    command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "use.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)


@needs(CROSS[0])
def test_sections_and_symbols(tmp_path: Path) -> None:
    """.data is empty, the weights are read-only, and nothing but memory functions is called."""
    built = make_build(two_convolutions(), board="mps2-an386")
    write(built.files, tmp_path)
    for source in ("net.c", "net_weights.c"):
        subprocess.run([*CROSS, "-O2", "-c", source], cwd=tmp_path, check=True)
    sizes = _sections(tmp_path / "net.o") | _sections(tmp_path / "net_weights.o")
    assert sizes.get(".data", 0) == 0
    names = ("net.o", "net_weights.o")
    symbols = subprocess.run(
        ["arm-none-eabi-nm", *names], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    undefined = {line.split()[-1] for line in symbols.splitlines() if " U " in line}
    own = {name for name in undefined if name.startswith("net_")}
    assert undefined - own <= {"memcpy", "memset", "memmove"}
    assert " R net_op00_weights" in symbols


def _sections(path: Path) -> dict[str, int]:
    text = subprocess.run(
        ["arm-none-eabi-size", "-A", str(path)], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith(".")]
    return {row[0]: int(row[1]) for row in rows}


def test_readme_names_the_sections_that_the_linker_script_must_place() -> None:
    """Without NOLOAD a section that is not called .bss makes the image as large as the arena."""
    on_chip = make_build(two_convolutions(), board="stm32h743").files["README.md"]
    assert "| dtcm at 0x20000000 | `.dtcm_bss (NOLOAD)` |" in on_chip
    assert "## Sections" not in make_build(two_convolutions()).files["README.md"]


def test_same_input_same_bytes() -> None:
    data = two_convolutions()
    assert make_build(data).files == make_build(data).files


def test_arena_matches_the_header(tmp_path: Path) -> None:
    built = make_build(two_convolutions())
    assert f"#define NET_ARENA_BYTES {built.plan.total_arena}\n" in built.files["net.h"]
    assert f"static uint8_t arena_ram[{built.plan.total_arena}];" in built.files["net.c"]


INTERLEAVED = """
#include <stdio.h>
#include <string.h>
#include "a.h"
#include "b.h"

enum { MOST = A_ARENA_BYTES > B_ARENA_BYTES ? A_ARENA_BYTES : B_ARENA_BYTES };
static _Alignas(16) unsigned char shared[MOST];

static void fill(void *to, int first)
{
    for (int i = 0; i < A_INPUT_0_BYTES; i++) {
        ((signed char *)to)[i] = (signed char)(first + i);
    }
}

int main(void)
{
    signed char once[A_OUTPUT_0_BYTES], again[A_OUTPUT_0_BYTES];
    if (a_init() != A_NO_MEMORY || a_input(0) != NULL || a_output(0) != NULL) {
        return 1;
    }
    if (a_set_arena_ram(shared + 1, MOST - 1) != A_BAD_ARGUMENT) {
        return 1;
    }
    if (a_set_arena_ram(shared, A_ARENA_BYTES - 1) != A_BAD_ARGUMENT) {
        return 2;
    }
    if (a_set_arena_ram(shared, MOST) != A_OK || b_set_arena_ram(shared, MOST) != B_OK) {
        return 3;
    }
    if (a_init() != A_OK || b_init() != B_OK || a_input(1) != NULL || a_output(-1) != NULL) {
        return 4;
    }
    fill(a_input(0), 3);
    if (a_run() != A_OK) {
        return 5;
    }
    memcpy(once, a_output(0), sizeof once);
    fill(b_input(0), 50);
    if (b_run() != B_OK) {
        return 6;
    }
    fill(a_input(0), 3);
    int steps = 1;
    while (a_step() == A_MORE) {
        steps++;
    }
    memcpy(again, a_output(0), sizeof again);
    printf("%d %d\\n", steps == A_LAYER_COUNT, memcmp(once, again, sizeof once));
    return 0;
}
"""


def test_two_models_share_an_arena_and_step_equals_run(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        write(make_build(two_convolutions(seed), options=BuildOptions(name=name)).files, tmp_path)
    (tmp_path / "main.c").write_text(INTERLEAVED)
    sources = [tmp_path / f for f in ("main.c", "a.c", "a_weights.c", "b.c", "b_weights.c")]
    flags = ("-std=c11", "-DA_STATIC_ARENA=0", "-DB_STATIC_ARENA=0")
    assert run_c(tmp_path, sources, flags) == "1 0\n"


HOOKED = """
#include <stdio.h>
#include <string.h>
#include "net.h"

int before[NET_LAYER_COUNT], after[NET_LAYER_COUNT];

int main(void)
{
    signed char in[NET_INPUT_0_ELEMENTS], copy[NET_INPUT_0_ELEMENTS];
    if (net_init() != NET_OK) {
        return 1;
    }
    memset(in, 7, sizeof in);
    memcpy(net_input(0), in, sizeof in);
    for (int i = 0; i < 2; i++) {
        if (net_run() != NET_OK) {
            return 2;
        }
    }
    memcpy(copy, net_input(0), sizeof copy);
    printf("%d %d %d\\n", before[0], after[NET_LAYER_COUNT - 1], memcmp(in, copy, sizeof in) == 0);
    return 0;
}
"""


def test_hooks_and_kept_input(tmp_path: Path) -> None:
    options = BuildOptions(plan=PlanOptions(keep_input=True))
    built = make_build(two_convolutions(), options=options)
    write(built.files, tmp_path)
    (tmp_path / "main.c").write_text(HOOKED)
    (tmp_path / "hooks.h").write_text(
        "extern int before[], after[];\n"
        "#define NET_BEFORE_LAYER(index) (before[index]++)\n"
        "#define NET_AFTER_LAYER(index) (after[index]++)\n"
    )
    sources = [tmp_path / f for f in ("main.c", "net.c", "net_weights.c")]
    assert run_c(tmp_path, sources, ('-DNET_HOOKS_HEADER="hooks.h"',)) == "2 2 1\n"
    assert built.plan.total_arena > make_build(two_convolutions()).plan.total_arena


VALUES = """
#include <stdio.h>
#include "net.h"

int main(void)
{
    printf("%d %d %d %d %d ", net_quantize_input_0(0.0f), net_quantize_input_0(1000.0f),
        net_quantize_input_0(-1000.0f), net_quantize_input_0(-0.125f),
        net_quantize_input_0(0.125f));
    printf("%.4f\\n", (double)net_dequantize_output_0(1));
    return 0;
}
"""


def test_values_are_quantised_and_dequantised(tmp_path: Path) -> None:
    """Input scale 0.05, zero point -3; output scale 0.3, zero point -9; halves away from zero."""
    write(make_build(two_convolutions()).files, tmp_path)
    (tmp_path / "main.c").write_text(VALUES)
    sources = [tmp_path / f for f in ("main.c", "net.c", "net_weights.c")]
    assert run_c(tmp_path, sources) == "-3 127 -128 -6 0 3.0000\n"
