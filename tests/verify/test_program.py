"""Generated C as a child process: exact bytes, taps, and a clear line for whatever fails."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.errors import ToolError
from codegen.verify.program import HostProgram, build_host_program
from tests.verify.tiny_model import SIZE, plus, tiny_model

RAMP = bytes(range(240, 240 + 16)) + bytes(range(SIZE - 16))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProgram]:
    models = [tiny_model(), tiny_model("other", weight=3)]
    with build_host_program(models, tmp_path_factory.mktemp("pair"), taps=True) as program:
        yield program


def test_two_models_in_one_program_keep_apart(pair: HostProgram) -> None:
    for model, step in ((0, 1), (1, 3), (0, 1)):
        result = pair.run(model, [RAMP])
        assert (result.status, result.outputs) == (0, (plus(RAMP, 2 * step),))


def test_taps_put_rows_in_order_and_leave_gaps_of_views_out(pair: HostProgram) -> None:
    assert pair.run(0, [RAMP]).taps == {1: plus(RAMP, 1), 2: plus(RAMP, 2)}


def test_host_reports_no_figures(pair: HostProgram) -> None:
    result = pair.run(0, [RAMP])
    assert result.stack_bytes is None
    assert result.ticks > 0


def test_wrong_input_size_is_refused(pair: HostProgram) -> None:
    with pytest.raises(ValueError, match="tiny: inputs of"):
        pair.run(0, [RAMP[1:]])


def test_without_taps_there_are_none(tmp_path: Path) -> None:
    with build_host_program([tiny_model()], tmp_path) as program:
        assert program.run(0, [RAMP]).taps == {}


def test_buffers_of_the_caller(tmp_path: Path) -> None:
    model = tiny_model(caller_io=True, extra="own[0] = 99; own[24] = 99;")
    with build_host_program([model], tmp_path) as program:
        assert [program.run(0, [data]).outputs for data in (RAMP, RAMP[::-1])] == [
            (plus(RAMP, 2),),
            (plus(RAMP[::-1], 2),),
        ]


def test_sanitized_program_gives_the_same_bytes(tmp_path: Path) -> None:
    with build_host_program([tiny_model()], tmp_path, sanitize=True, taps=True) as program:
        result = program.run(0, [RAMP])
    assert result.outputs == (plus(RAMP, 2),)
    assert result.taps[1] == plus(RAMP, 1)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compiler_is_taken_from_cc(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    monkeypatch.setenv("CC", f"{compiler} -DUNUSED")
    with build_host_program([tiny_model()], tmp_path) as program:
        assert program.run(0, [RAMP]).outputs == (plus(RAMP, 2),)


def test_state_lives_until_reset(tmp_path: Path) -> None:
    model = tiny_model(extra="output[0] = (uint8_t)runs;")
    with build_host_program([model], tmp_path) as program:
        counts = [
            program.run(0, [RAMP], reset=reset).outputs[0][0] for reset in (True, False, True)
        ]
    assert counts == [1, 2, 1]


def test_status_of_run_and_init_comes_back_without_outputs(tmp_path: Path) -> None:
    models = [
        tiny_model("runs", extra="if (input[0] == 9) { return RUNS_BROKEN; }"),
        tiny_model("inits", init="INITS_BROKEN"),
    ]
    nine = bytes([9]) * SIZE
    with build_host_program(models, tmp_path) as program:
        assert (program.run(0, [nine]).status, program.run(0, [nine]).outputs) == (7, ())
        assert program.run(1, [RAMP]).status == 7
        assert program.run(0, [RAMP]).outputs == (plus(RAMP, 2),)


def test_crash_is_named_and_the_next_run_works(tmp_path: Path) -> None:
    crash = "if (input[0] == 9) { *(volatile int *)(uintptr_t)(input[0] - 9) = 0; }"
    with build_host_program([tiny_model(extra=crash)], tmp_path, flags=["-O0"]) as program:
        with pytest.raises(ToolError, match=r"^tiny: crashed with SIG(SEGV|ILL|TRAP|BUS)$"):
            program.run(0, [bytes([9]) * SIZE])
        assert program.run(0, [RAMP]).outputs == (plus(RAMP, 2),)


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (
            "const uint8_t *volatile far = input; runs = far[input[0] - 150];",
            "AddressSanitizer: global-buffer-overflow",
        ),
        ("runs = 0x7fffffff - 200 + input[0];", "runtime error: signed integer overflow"),
    ],
)
def test_sanitizer_report_is_quoted(fault: str, line: str, tmp_path: Path) -> None:
    model = tiny_model(extra=fault)
    with (
        build_host_program([model], tmp_path, sanitize=True) as program,
        pytest.raises(ToolError, match=line),
    ):
        program.run(0, [bytes([201]) * SIZE])


def test_hanging_run_is_ended(tmp_path: Path) -> None:
    model = tiny_model(extra="while (input[0] == 9) { burn = 1; }")
    with build_host_program([model], tmp_path, timeout=0.5) as program:
        with pytest.raises(ToolError, match=r"^tiny: no answer within 0.5 s$"):
            program.run(0, [bytes([9]) * SIZE])
        assert program.run(0, [RAMP]).outputs == (plus(RAMP, 2),)


def test_rows_that_no_step_computes_are_reported(tmp_path: Path) -> None:
    model = tiny_model()
    source = str(model.files["tiny.c"]).replace(
        "layer_0(2, 4);\n    layer_0(0, 2);", "layer_0(2, 4);"
    )
    broken = type(model)(
        model.name, {**model.files, "tiny.c": source}, model.input_bytes, model.output_bytes
    )
    with (
        build_host_program([broken], tmp_path, taps=True) as program,
        pytest.raises(ToolError, match="tensor 1: row 0 of image 0 was never computed"),
    ):
        program.run(0, [RAMP])


def test_compiler_warning_is_an_error_with_its_line(tmp_path: Path) -> None:
    model = tiny_model(extra="int8_t narrow = runs; (void)narrow;")
    with pytest.raises(ToolError, match=r"tiny\.c:\d+:\d+: error: .*conversion"):
        build_host_program([model], tmp_path)


def test_equal_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="distinct names"):
        build_host_program([tiny_model(), tiny_model()], tmp_path)
