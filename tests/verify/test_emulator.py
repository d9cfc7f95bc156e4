"""The tiny model on every emulated machine: exact bytes, stack, instructions, faults, time-outs."""

import shutil
from pathlib import Path

import pytest

from codegen.boards import load_board
from codegen.errors import ToolError
from codegen.verify.emulator import (
    EmulatorProgram,
    EmulatorTarget,
    build_emulator_program,
    emulator_target,
)
from codegen.verify.sources import Request
from tests.verify.tiny_model import SIZE, plus, tiny_model

pytestmark = pytest.mark.emulator

BOARDS = ("mps2-an386", "mps3-an547", "mps2-an505", "riscv32-virt")
RAMP = bytes(range(SIZE))
LOOPS = 20_000


@pytest.fixture(params=BOARDS, scope="module")
def target(request: pytest.FixtureRequest) -> EmulatorTarget:
    found = emulator_target(load_board(request.param))
    assert found is not None
    for tool in (found.compiler, found.emulator):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    return found


STACK_USER = """
    volatile uint8_t local[200];
    for (uint32_t i = 0; i < sizeof local; i++) {
        local[i] = 0;
    }
"""


@pytest.fixture(scope="module")
def program(target: EmulatorTarget, tmp_path_factory: pytest.TempPathFactory) -> EmulatorProgram:
    models = [tiny_model(), tiny_model("busy", extra=STACK_USER, loops=LOOPS, weight=5)]
    return build_emulator_program(models, target, tmp_path_factory.mktemp("images"))


def test_outputs_are_exact_and_models_keep_apart(program: EmulatorProgram) -> None:
    inputs = [RAMP, bytes(SIZE), plus(RAMP, 200)]
    results = program.run([Request(model, (data,)) for data in inputs for model in (0, 1)])
    expected = [plus(data, 2 * step) for data in inputs for step in (1, 5)]
    assert [result.outputs for result in results] == [(data,) for data in expected]
    assert all(result.status == 0 for result in results)


def test_layers_are_counted_one_by_one(program: EmulatorProgram) -> None:
    (single,) = program.run([Request(0, (RAMP,), layers=True)])
    assert single.outputs == (plus(RAMP, 2),)
    assert len(single.layer_ticks) == 2
    assert all(20 < ticks < 1000 for ticks in single.layer_ticks)


def test_stack_figure_covers_locals_and_little_more(program: EmulatorProgram) -> None:
    small, big = program.run([Request(0, (RAMP,)), Request(1, (RAMP,))])
    assert small.stack_bytes is not None and big.stack_bytes is not None
    assert 0 <= small.stack_bytes < 100
    assert 200 <= big.stack_bytes < 300


def test_instructions_follow_the_work(program: EmulatorProgram) -> None:
    small, big = program.run([Request(0, (RAMP,)), Request(1, (RAMP,))])
    assert 100 < small.ticks < 2000
    # the idle loop: load, subtract, store, load, compare, branch
    assert 4 * LOOPS < big.ticks < 8 * LOOPS


def test_figures_are_repeatable(program: EmulatorProgram) -> None:
    requests = [Request(1, (RAMP,))] * 3
    first, second = program.run(requests), program.run(requests)
    assert first == second
    counts = [result.ticks for result in first]
    assert max(counts) - min(counts) <= 50  # one tick of the slowest clock


def test_taps(target: EmulatorTarget, tmp_path: Path) -> None:
    program = build_emulator_program([tiny_model()], target, tmp_path, taps=True)
    (result,) = program.run([Request(0, (RAMP,))])
    assert result.taps == {1: plus(RAMP, 1), 2: plus(RAMP, 2)}


def test_initialised_and_zeroed_data(target: EmulatorTarget, tmp_path: Path) -> None:
    extra = """
    static int32_t seven = 7;
    static int32_t zero;
    output[0] = (uint8_t)(seven + zero);
    seven++;
    """
    program = build_emulator_program([tiny_model(extra=extra)], target, tmp_path)
    results = program.run([Request(0, (RAMP,))] * 2)
    assert [result.outputs[0][0] for result in results] == [7, 8]


def test_floating_point_and_libm(target: EmulatorTarget, tmp_path: Path) -> None:
    model = tiny_model(extra="output[0] = (uint8_t)expf((float)input[1]);")
    source = "#include <math.h>\n" + str(model.files["tiny.c"])
    model = type(model)(model.name, {**model.files, "tiny.c": source}, (SIZE,), (SIZE,))
    program = build_emulator_program([model], target, tmp_path)
    (result,) = program.run([Request(0, (bytes([0, 5]) + RAMP[2:],))])
    assert result.outputs[0][0] == 148  # e^5 = 148.4


def test_fault_is_reported(target: EmulatorTarget, tmp_path: Path) -> None:
    model = tiny_model(extra='if (input[0] == 9) { __asm__ volatile(".short 0, 0xde00"); }')
    program = build_emulator_program([model], target, tmp_path)
    with pytest.raises(ToolError, match=f"{target.machine}: harness: processor fault at 0x"):
        program.run([Request(0, (bytes([9]) * SIZE,))])


def test_stack_overflow_is_reported(target: EmulatorTarget, tmp_path: Path) -> None:
    extra = STACK_USER.replace("200", "8180")
    program = build_emulator_program([tiny_model(extra=extra)], target, tmp_path)
    with pytest.raises(ToolError, match="used up the whole stack"):
        program.run([Request(0, (RAMP,))])


def test_hanging_image_is_ended(target: EmulatorTarget, tmp_path: Path) -> None:
    model = tiny_model(extra="while (input[0] == 9) { burn = 1; }")
    program = build_emulator_program([model], target, tmp_path, timeout=2)
    with pytest.raises(ToolError, match=f"{target.machine}: did not end within 2 s"):
        program.run([Request(0, (bytes([9]) * SIZE,))])


def test_image_that_does_not_fit_is_refused(target: EmulatorTarget, tmp_path: Path) -> None:
    model = tiny_model(extra="static uint8_t big[9000000]; big[input[0]] = 1; output[0] = big[1];")
    with pytest.raises(ToolError, match=r"overflowed by|will not fit"):
        build_emulator_program([model], target, tmp_path)


def test_a_board_without_an_emulator_has_no_target() -> None:
    assert emulator_target(load_board("host")) is None


def test_missing_emulator_is_named(target: EmulatorTarget, tmp_path: Path) -> None:
    absent = EmulatorTarget(target.compiler, target.flags, "qemu-system-none", "virt", target.port)
    with pytest.raises(ToolError, match="qemu-system-none is not installed"):
        build_emulator_program([tiny_model()], absent, tmp_path)
