"""`codegen verify`: what it answers when all is equal, when something differs, what it misses."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import pipeline
from codegen.verify import reference, toolchain
from tests.emit.programs import two_convolutions
from tests.test_cli import fails, open_batch, run, run_process
from tests.tflite_builder import ModelBuilder
from tests.zoo import zoo

DEMO = Path(__file__).resolve().parent.parent / "docs" / "demo"
EMULATOR = pytest.mark.skipif(
    not all(map(shutil.which, ("arm-none-eabi-gcc", "qemu-system-arm"))),
    reason="the Arm compiler or QEMU is not installed",
)
HOST = ("--board", "host", "--samples", "2")
OUTPUT_BYTES = 6 * 6 * 3
RUNS = 2 * (2 + 3)
"""Two samples and three edge cases, each run twice."""

Damage = Callable[[dict[str, str]], dict[str, str]]


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(two_convolutions())
    return path


def verify(*arguments: object, status: int = 0) -> dict[str, Any]:
    result = run("verify", *arguments, "--json")
    assert result.exit_code == status, result.output
    report: dict[str, Any] = json.loads(result.stdout)
    assert set(report) == {"equal", "runs", "bytes_compared", "first_difference", "targets"}
    return report


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


# --- equal ------------------------------------------------------------------------------------


def test_equal_on_the_host(net: Path) -> None:
    report = verify(net, *HOST)
    assert report["equal"] is True and report["first_difference"] is None
    assert (report["runs"], report["bytes_compared"]) == (RUNS, RUNS * OUTPUT_BYTES)
    host = report["targets"].pop("host")
    assert report["targets"] == {}
    assert (host["equal"], host["runs"], host["error"]) == (True, RUNS, None)
    assert host["inner_tensors"] > 0


@EMULATOR
@pytest.mark.emulator
def test_equal_on_both_targets(net: Path) -> None:
    report = verify(net, "--board", "mps2-an386", "--samples", "1")
    assert report["equal"] is True
    assert set(report["targets"]) == {"host", "emulator"}
    emulator = report["targets"]["emulator"]
    assert emulator["equal"] and emulator["runs"] == 2 * (1 + 3)
    assert 0 < emulator["stack_bytes"] <= 600
    assert emulator["instructions"] > 1000
    only = verify(net, "--board", "mps2-an386", "--samples", "0", "--target", "emulator")
    assert set(only["targets"]) == {"emulator"}


def test_words_for_people(net: Path) -> None:
    result = run("verify", net, *HOST)
    assert result.exit_code == 0
    assert result.stdout.startswith("host: equal to the TFLite interpreter (10 runs, 1,080 bytes")
    assert result.stderr == ""


@pytest.mark.parametrize(
    "options",
    [("--sanitize",), ("--io-buffers", "caller"), ("--keep-input", "--name", "eye", "--seed", "9")],
)
def test_options_that_shape_the_program(options: tuple[str, ...], net: Path) -> None:
    assert verify(net, *HOST, *options)["equal"] is True


def test_a_batch_of_three(net: Path) -> None:
    net.write_bytes(open_batch())
    report = verify(net, *HOST, "--batch", "3")
    assert report["equal"] and report["bytes_compared"] == RUNS * 3 * 4 * 4 * 3


def test_a_model_that_the_interpreter_refuses(net: Path) -> None:
    """LiteRT's CONV_2D wants a bias; the C code does without."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4, 4, 1), scale=0.5) for _ in range(2))
    w = builder.tensor((1, 1, 1, 1), scale=0.5, data=[1])
    builder.op("CONV_2D", [x, w, -1], [y], padding="SAME", stride_h=1, stride_w=1)
    net.write_bytes(builder.build([x], [y]))
    fails(run("verify", net, *HOST), "refuses this model", "CONV_2D", "Tensor at index 2")


@pytest.mark.parametrize("io", ["model", "int8"])
def test_many_operators(io: str, tmp_path: Path) -> None:
    path = tmp_path / "zoo.tflite"
    path.write_bytes(zoo())
    report = verify(path, *HOST, "--io", io)
    assert report["targets"]["host"]["inner_tensors"] > 3 * 15


def test_the_demo_reaches_the_accuracy_of_the_interpreter() -> None:
    report = verify(
        *(DEMO / "digits.tflite", "--board", "host", "--samples", "0"),
        *("--inputs", DEMO / "digits_samples.npz"),
    )
    assert report["equal"] and report["targets"]["host"]["accuracy"] >= 0.96
    assert report["runs"] == 2 * (100 + 3)


def test_the_same_seed_feeds_the_same_inputs(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[bytes] = []
    real = reference.Reference.run

    def recording(self: Any, values: Any, tensors: Any) -> Any:
        fed.append(b"".join(v.tobytes() for v in values))
        return real(self, values, tensors)

    monkeypatch.setattr(reference.Reference, "run", recording)
    for seed in (3, 3, 4):
        verify(net, *HOST, "--seed", seed)
    assert fed[:5] == fed[5:10]
    assert set(fed[:2]).isdisjoint(fed[10:12])
    assert fed[2:5] == fed[12:15]


# --- different --------------------------------------------------------------------------------


def damage(monkeypatch: pytest.MonkeyPatch, change: Damage) -> None:
    real = pipeline.emit
    monkeypatch.setattr(pipeline, "emit", lambda plan, info: change(dict(real(plan, info))))


def with_bias(array: str, channel: int) -> Damage:
    """Adds a lot to one bias of the generated C."""

    def change(files: dict[str, str]) -> dict[str, str]:
        head, tail = files["net_weights.c"].split(f"{array}[", 1)
        size, values, rest = re.split(r"\] = \{|\};", tail, maxsplit=2)
        numbers = [int(v) for v in values.split(",") if v.strip()]
        numbers[channel] += 3000
        text = ", ".join(map(str, numbers))
        files["net_weights.c"] = f"{head}{array}[{size}] = {{ {text} }};{rest}"
        return files

    return change


@pytest.mark.parametrize(("layer", "tensor", "channel"), [(0, 1, 2), (1, 2, 1)])
def test_the_first_wrong_operator_and_element_are_named(
    layer: int, tensor: int, channel: int, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(monkeypatch, with_bias(f"net_op0{layer}_bias", channel))
    report = verify(net, *HOST, status=1)
    assert report["equal"] is False and report["targets"]["host"]["equal"] is False
    difference = report["first_difference"]
    assert difference["operator"] == f"operator {layer} CONV_2D"
    assert (difference["layer"], difference["run"]) == (layer, 0)
    assert difference["tensor"] == f'tensor {tensor} "t{tensor}"'
    assert difference["element"] == [0, 0, 0, channel]
    assert int(difference["got"]) > int(difference["expected"])
    result = run("verify", net, *HOST)
    assert result.exit_code == 1
    where = f"operator {layer} CONV_2D, layer {layer}, tensor {tensor}"
    assert result.stdout.startswith(f"DIFFERENT: host: run 0: {where}")
    assert "the interpreter gives" in result.stdout


def oracle_off_by_one(
    monkeypatch: pytest.MonkeyPatch, tensor: int, element: tuple[int, ...], call: int
) -> None:
    """The oracle's answer number `call` is one too high in one element."""
    real, count = reference.Reference.run, [0]

    def wrong(self: Any, values: Any, tensors: Any) -> Mapping[int, Any]:
        found: dict[int, Any] = real(self, values, tensors)
        if count[0] == call:
            found[tensor] = found[tensor].copy()
            found[tensor][element] += 1 if found[tensor][element] < 127 else -1
        count[0] += 1
        return found

    monkeypatch.setattr(reference.Reference, "run", wrong)


def test_an_inner_tensor_that_differs_is_found_though_outputs_agree(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle_off_by_one(monkeypatch, 1, (0, 4, 5, 3), call=1)
    difference = verify(net, *HOST, status=1)["first_difference"]
    assert (difference["operator"], difference["element"]) == ("operator 0 CONV_2D", [0, 4, 5, 3])
    assert difference["run"] == 2


def test_a_difference_in_a_late_run_keeps_its_number(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last edge case differs in its last element: run 8 of 10."""
    oracle_off_by_one(monkeypatch, 2, (0, 5, 5, 2), call=4)
    report = verify(net, *HOST, status=1)
    difference = report["first_difference"]
    assert (difference["run"], difference["element"]) == (8, [0, 5, 5, 2])
    assert (difference["operator"], difference["layer"]) == ("operator 1 CONV_2D", 1)
    assert report["runs"] == 9


@EMULATOR
@pytest.mark.emulator
def test_the_emulator_alone_can_differ(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(files: dict[str, str]) -> dict[str, str]:
        wrong = with_bias("net_op01_bias", 0)(dict(files))["net_weights.c"]
        right = files["net_weights.c"]
        files["net_weights.c"] = f"#ifdef __arm__\n{wrong}\n#else\n{right}\n#endif\n"
        return files

    damage(monkeypatch, change)
    words = ("--board", "mps2-an386", "--kernels", "portable", "--samples", "1")
    report = verify(net, *words, status=1)
    assert report["targets"]["host"]["equal"] is True
    assert report["targets"]["emulator"]["equal"] is False
    assert report["first_difference"]["target"] == "emulator"
    assert report["first_difference"]["element"] == [0, 0, 0, 0]


@EMULATOR
@pytest.mark.emulator
def test_more_stack_than_the_header_states_fails(
    net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "stack_bound", lambda plan: 8)
    report = verify(net, "--board", "mps2-an386", "--samples", "0", status=1)
    assert "more than the 8 B of the header" in report["targets"]["emulator"]["error"]


def test_c_that_does_not_compile_is_quoted(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(monkeypatch, lambda files: {**files, "net.c": files["net.c"] + "\nint x = y;\n"})
    error = verify(net, *HOST, status=1)["targets"]["host"]["error"]
    assert "net.c" in error and "error" in error and "\n" not in error


def test_a_status_of_run_fails(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(files: dict[str, str]) -> dict[str, str]:
        assert files["net.c"].count("    return status;\n") == 1
        return {
            **files,
            "net.c": files["net.c"].replace("return status;", "return (net_status)(status + 3);"),
        }

    damage(monkeypatch, change)
    error = verify(net, *HOST, status=1)["targets"]["host"]["error"]
    assert error == "run() returned status 3"


# --- inputs of the user -----------------------------------------------------------------------


IMAGES = np.arange(4 * 72, dtype=np.int8).reshape(4, 6, 6, 2)


@pytest.mark.parametrize(
    ("arrays", "sets"),
    [
        ({"t0": IMAGES}, 4),
        ({"input": IMAGES}, 4),
        ({"input_0": IMAGES[:, None]}, 4),
        ({"input": IMAGES[:1], "unrelated": "text"}, 1),
    ],
)
def test_own_inputs(arrays: dict[str, object], sets: int, net: Path, tmp_path: Path) -> None:
    inputs = save(tmp_path / "in.npz", **arrays)
    report = verify(net, "--board", "host", "--samples", "0", "--inputs", inputs)
    assert report["runs"] == 2 * (sets + 3)
    assert report["targets"]["host"]["accuracy"] is None


def test_labels_give_the_accuracy(net: Path, tmp_path: Path) -> None:
    own = ("--board", "host", "--samples", "0", "--inputs")
    labels = np.full(4, 200)
    report = verify(net, *own, save(tmp_path / "none.npz", input=IMAGES, labels=labels))
    assert report["targets"]["host"]["accuracy"] == 0
    result = run("verify", net, *own, tmp_path / "none.npz")
    assert "0.0 % of the labels are right" in result.stdout


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"image": IMAGES}, "no array for input 0; name one t0 or input_0 or input"),
        ({"input": IMAGES.astype(np.float32)}, "input is float32 where the model takes int8"),
        ({"input": IMAGES[..., :1]}, "has shape [4, 6, 6, 1] where the model takes [1, 6, 6, 2]"),
        ({"input": np.int8(1)}, "has shape [] where"),
        ({"input": IMAGES[:0]}, "holds no input at all"),
        ({"input": IMAGES, "labels": [1, 2]}, "2 labels for 4 inputs"),
        ({"input": IMAGES, "labels": list("abcd")}, "class numbers as integers"),
    ],
)
def test_wrong_arrays(arrays: dict[str, object], words: str, net: Path, tmp_path: Path) -> None:
    inputs = save(tmp_path / "in.npz", **arrays)
    fails(run("verify", net, *HOST, "--inputs", inputs), str(inputs), words)


def test_files_that_are_no_archive(net: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.npz"
    fails(run("verify", net, *HOST, "--inputs", path), str(path), "No such file")
    good = save(path, input=IMAGES).read_bytes()
    path.write_bytes(b"text")
    fails(run("verify", net, *HOST, "--inputs", path), str(path), "numpy.savez")
    for data in (b"", good[: len(good) // 2], good[:90] + b"\xff" * 40 + good[130:]):
        path.write_bytes(data)
        fails(run("verify", net, *HOST, "--inputs", path), str(path))
    np.savez(path, input=np.array([{}], dtype=object))
    fails(run("verify", net, *HOST, "--inputs", path), str(path))


# --- what is missing --------------------------------------------------------------------------


def without(monkeypatch: pytest.MonkeyPatch, *commands: str) -> None:
    real = shutil.which
    monkeypatch.setattr(
        toolchain.shutil, "which", lambda name: None if name in commands else real(name)
    )


def test_no_compiler(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    without(monkeypatch, "cc", "gcc", "clang")
    report = verify(net, *HOST, status=1)
    assert report["equal"] is False and report["runs"] == 0
    assert "apt-get install build-essential" in report["targets"]["host"]["error"]
    result = run("verify", net, *HOST)
    assert result.stdout.startswith("host: FAILED: cc is not installed;")
    assert result.stdout.count("\n") == 1


def test_a_cc_that_is_not_there(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-cc -O1")
    error = verify(net, *HOST, status=1)["targets"]["host"]["error"]
    assert "CC=no-such-cc" in error


@pytest.mark.parametrize("tool", ["qemu-system-arm", "arm-none-eabi-gcc"])
def test_host_verification_goes_on_without_the_emulator(
    tool: str, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, tool)
    report = verify(net, "--board", "mps2-an386", "--samples", "0", status=1)
    assert report["equal"] is False
    assert report["targets"]["host"]["equal"] is True
    error = report["targets"]["emulator"]["error"]
    assert error.startswith(f"{tool} is not installed; Debian/Ubuntu: apt-get install ")
    assert "macOS: brew install" in error


def test_no_interpreter(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert.interpreter", None)
    fails(run("verify", net, *HOST), "not installed; pip install ai-edge-litert")


def test_a_board_without_an_emulator(net: Path) -> None:
    fails(run("verify", net, *HOST, "--target", "emulator"), "names no emulator", "--target host")


def test_quiet_in_a_pipe(net: Path) -> None:
    done = run_process("verify", net, *HOST)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


def test_a_timeline_of_a_plan_without_npu(net: Path, tmp_path: Path) -> None:
    """Said before anything is compiled."""
    path = tmp_path / "t.json"
    line = fails(run("verify", net, *HOST, "--timeline", path), "codegen inspect --board host")
    assert line.startswith("error: --timeline: on board host no operator")
    assert not path.exists()
