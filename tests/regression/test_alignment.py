"""Arena and tables lie as the board profile asks, and a misaligned buffer is an error code.

Forgotten alignment gave hard faults now and then, depending on what the linker put in front.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from tests.emit.programs import make_build, run_c, write
from tests.regression.nets import inverted_residual
from tests.tflite_builder import ModelBuilder
from tests.zoo import zoo

CROSS = ("arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mthumb", "-O2", "-ffp-contract=off")

# axi is the cacheable RAM of this board; its arena may share no cache line with anything else.
PLACES = (("mps2-an386", "sram"), ("stm32h743", "dtcm"), ("stm32h743", "axi"))


@pytest.mark.skipif(shutil.which(CROSS[0]) is None, reason=f"{CROSS[0]} is not installed")
@pytest.mark.parametrize(("name", "memory"), PLACES)
def test_linked_addresses(name: str, memory: str, tmp_path: Path) -> None:
    """A byte in front of everything, and sections of any order, move nothing out of line."""
    board = load_board(name)
    only = board.placement.model_copy(update={"arena": (memory,)})
    board = board.model_copy(update={"placement": only})
    options = BuildOptions(name="net")
    built = build(parse_model(inverted_residual()), "net", board, options)
    alignment = {
        "arena": board.memory(memory).alignment,
        "net": max(board.memory(m).alignment for m in board.placement.weights),
    }
    write(built.files, tmp_path)
    (tmp_path / "first.c").write_text(
        "char first_byte = 1; char first_bss; const char first_const = 2;\n"
        "void _start(void); void _start(void) { first_bss = first_const; }\n"
    )
    (tmp_path / "use.c").write_text(
        '#include "net.h"\nvoid use(void); void use(void) { net_run(); }\n'
    )
    sources = ["first.c", "use.c", "net.c", "net_weights.c"]
    command = [*CROSS, "-nostartfiles", "--specs=nosys.specs", *sources, "-o", "image"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    nm = subprocess.run(
        ["arm-none-eabi-nm", "image"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r"^([0-9a-f]+) \w ((?:arena_|net_op)\w+)$", nm, re.MULTILINE)
    assert len(found) > 5 and any(name.startswith("arena_") for _, name in found)
    assert not [s for address, s in found if int(address, 16) % alignment[s.split("_")[0]]]


def float_border() -> bytes:
    """float[1,4] -> QUANTIZE -> RELU6 -> DEQUANTIZE -> float[1,4]."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), "float32") for _ in range(2))
    codes, clipped = (builder.tensor((1, 4), "int8", 0.05, 0) for _ in range(2))
    builder.op("QUANTIZE", [x], [codes])
    builder.op("RELU6", [codes], [clipped])
    builder.op("DEQUANTIZE", [clipped], [y])
    return builder.build([x], [y])


MAIN = """
#include <stdio.h>
#include "net.h"

static float room[64];

int main(void)
{
    unsigned char *bytes = (unsigned char *)room;
    printf("%d ", net_init() == NET_OK && net_run() == NET_NO_MEMORY);
    for (int i = 1; i < 4; i++) {
        printf("%d ", net_set_input(0, bytes + i) == NET_BAD_ARGUMENT);
        printf("%d ", net_set_output(0, bytes + i) == NET_BAD_ARGUMENT);
    }
    printf("%d ", net_set_input(0, NULL) == NET_BAD_ARGUMENT);
    printf("%d ", net_set_output(1, room) == NET_BAD_ARGUMENT);
    printf("%d ", net_run() == NET_NO_MEMORY && net_step() == NET_NO_MEMORY);
    printf("%d ", net_set_input(0, room) == NET_OK && net_set_output(0, room + 32) == NET_OK);
    room[0] = 1.0f;
    printf("%d ", net_run() == NET_OK);
    printf("%.2f\\n", (double)room[32]);
    return 0;
}
"""


def test_misaligned_buffers(tmp_path: Path) -> None:
    options = BuildOptions(name="net", plan=PlanOptions(caller_io=True))
    write(make_build(float_border(), options=options).files, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    sources = [tmp_path / f for f in ("main.c", "net.c", "net_weights.c")]
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    assert run_c(tmp_path, sources, flags) == f"{'1 ' * 11}1 1.00\n"


def test_wider_elements_are_aligned_in_the_arena() -> None:
    plan = make_build(zoo(), options=BuildOptions(name="net")).plan
    for tensor, name in plan.tensor_buffers.items():
        buffer = next(b for b in plan.buffers if b.name == name)
        place = buffer.offset + plan.layout(tensor).offset
        assert place % plan.graph.tensors[tensor].dtype.size == 0
