"""The command line: what it writes, prints and answers, and how it fails."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from codegen import __version__, cli, output
from codegen.boards import list_boards
from codegen.memory_map import memory_map
from codegen.planner import arena, order
from tests import paths
from tests.emit.programs import make_build, two_convolutions
from tests.planner.test_order_build import branches
from tests.tflite_builder import ModelBuilder

REPO = Path(__file__).resolve().parent.parent
DEMO = REPO / "docs" / "demo" / "digits.tflite"
TINY_NAMES = (
    *("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "str_ww_ref_model"),
)
FILES = {
    *("net.h", "net_internal.h", "net.c", "net_weights.c", "main_example.c", "CMakeLists.txt"),
    *("README.md", "report.html", "plan.json", "cg/cg_conv_2d.h", "cg/cg_view.h"),
    "cg/cg_fixed_point.h",
}


def run(*arguments: object) -> Result:
    """One command in this process."""
    return CliRunner().invoke(cli.cli, [str(a) for a in arguments])


def run_process(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """One command as a user's shell starts it, away from the checkout."""
    command = [sys.executable, "-m", "codegen", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=60, check=False, **options
    )


def fails(result: Result, *words: str) -> str:
    """Assert exit status 1, one line on stderr and nothing else; return the line."""
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    for word in words:
        assert word in line
    return line


def tree(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(two_convolutions())
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# --- build ------------------------------------------------------------------------------------


def test_build_writes_every_file_and_says_where(net: Path, out: Path) -> None:
    result = run("build", net, "--board", "host", "-o", out)
    assert result.exit_code == 0, result.output
    assert tree(out) == FILES
    assert f"wrote {len(FILES)} files to {out}" in result.stdout
    assert result.stderr == ""


def test_build_as_json(net: Path, out: Path) -> None:
    result = run(
        "build", net, "--board", "mps2-an386", "-o", out, "--kernels", "portable", "--json"
    )
    summary = json.loads(result.stdout)
    assert set(summary) == {
        *("name", "files", "arena_bytes", "lower_bound_bytes", "state_bytes", "weights_bytes"),
        *("tables_bytes", "memories", "order", "arena", "seconds"),
    }
    assert summary["name"] == "net"
    assert set(summary["files"]) == FILES == tree(out)
    assert summary["weights_bytes"] == 4 * 3 * 3 * 2 + 4 * 4 + 3 * 4 + 3 * 4
    assert summary["state_bytes"] == 0
    # The second convolution reads 6 x 6 x 4 bytes and writes 6 x 6 x 3, perhaps over its input.
    assert 6 * 6 * 4 <= summary["arena_bytes"] <= 6 * 6 * (4 + 3)
    assert 0 < summary["seconds"] < 10
    flash, ram = summary["memories"]["flash"], summary["memories"]["sram"]
    assert (flash["size"], ram["size"]) == ((4096 - 128) * 1024, (4096 - 64) * 1024)
    assert flash["used"] >= summary["weights_bytes"] + summary["tables_bytes"]
    assert ram["used"] == summary["arena_bytes"]


def test_same_model_same_bytes(net: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        assert run_process("build", net, "--board", "host", "-o", tmp_path / folder).stderr == ""
    for name in FILES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_directory_with_files_is_kept_unless_forced(net: Path, out: Path) -> None:
    out.mkdir()
    (out / "mine.c").write_text("mine")
    (out / "net.h").write_text("old")
    fails(run("build", net, "--board", "host", "-o", out), str(out), "not empty", "--force")
    assert tree(out) == {"mine.c", "net.h"}
    assert run("build", net, "--board", "host", "-o", out, "--force").exit_code == 0
    assert tree(out) == FILES | {"mine.c"}
    assert (out / "mine.c").read_text() == "mine"
    assert (out / "net.h").read_text() != "old"


def test_an_empty_directory_and_the_current_one_are_filled(
    net: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out.mkdir()
    monkeypatch.chdir(out)
    assert run("build", net, "--board", "host", "-o", ".").exit_code == 0
    assert tree(Path.cwd()) == FILES


def test_a_linked_directory_is_written_through(net: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    out.symlink_to("real")
    assert run("build", net, "--board", "host", "-o", out).exit_code == 0
    assert out.is_symlink()
    assert tree(tmp_path / "real") == FILES


def test_missing_parents_are_made(net: Path, tmp_path: Path) -> None:
    assert run("build", net, "--board", "host", "-o", tmp_path / "a" / "b").exit_code == 0
    assert tree(tmp_path / "a" / "b") == FILES
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o755


@pytest.mark.parametrize("blocked", ["", "cg", "net.h/x"])
def test_something_in_the_way(net: Path, out: Path, blocked: str) -> None:
    """A file where the directory or its folder goes, a folder where a file goes."""
    place = out / blocked if blocked else out
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("mine")
    line = fails(run("build", net, "--board", "host", "-o", out, "--force"))
    assert "is a file" in line or "is a directory" in line
    assert (place if blocked != "net.h/x" else out / "net.h" / "x").read_text() == "mine"
    assert not blocked or tree(out) == {blocked}


def test_a_parent_that_is_a_file(net: Path, tmp_path: Path) -> None:
    fails(run("build", net, "--board", "host", "-o", net / "out"), f"{net} is a file")


@pytest.mark.parametrize("existing", [False, True])
def test_a_disk_that_fails_midway_leaves_nothing(
    net: Path, out: Path, existing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if existing:
        out.mkdir()
        (out / "net.h").write_text("old")
    before = tree(net.parent)
    real, calls = Path.write_text, []

    def failing(self: Path, *arguments: object, **options: object) -> int:
        calls.append(self)
        if len(calls) == 5:
            raise OSError(28, "No space left on device")
        return real(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", failing)
    result = run("build", net, "--board", "host", "-o", out, "--force")
    fails(result, "cannot write", "No space left on device")
    assert tree(net.parent) == before
    assert sorted(p.name for p in net.parent.iterdir()) == ["net.tflite"] + ["out"] * existing


def test_a_template_that_fails_leaves_nothing(
    net: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object, **options: object) -> None:
        raise RuntimeError("broken template")

    monkeypatch.setattr("codegen.pipeline.emit", failing)
    assert isinstance(run("build", net, "--board", "host", "-o", out).exception, RuntimeError)
    assert [p.name for p in net.parent.iterdir()] == ["net.tflite"]


def test_a_place_where_nobody_can_write(net: Path) -> None:
    fails(run("build", net, "--board", "host", "-o", "/proc/out"), "cannot write /proc/out: ")


def test_an_interrupted_move_removes_what_lay_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "_move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        output.write_directory(tmp_path / "out", {"a": "text"}, force=False)
    assert list(tmp_path.iterdir()) == []


def test_name_prefixes_symbols_and_files(net: Path, out: Path) -> None:
    result = run("build", net, "--board", "host", "-o", out, "--name", "eye", "--json")
    assert json.loads(result.stdout)["name"] == "eye"
    assert {"eye.h", "eye.c", "eye_weights.c"} <= tree(out)
    assert "eye_run(void)" in (out / "eye.h").read_text()


def test_a_name_that_c_does_not_take(net: Path, out: Path) -> None:
    fails(run("build", net, "--board", "host", "-o", out, "--name", "My Eye"), "'my_eye' can")
    assert not out.exists()


def open_batch(signature: tuple[int, ...] | None = (-1, 4, 4, 2)) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 2), scale=0.5, signature=signature)
    y = builder.tensor((1, 4, 4, 3), scale=0.5, signature=signature and (-1, 4, 4, 3))
    w = builder.tensor((3, 1, 1, 2), scale=0.5, data=[1, 2, 3, 4, 5, 6])
    bias = builder.tensor((3,), "int32", scale=0.25, data=[7, 0, -7])
    builder.op("CONV_2D", [x, w, bias], [y], padding="SAME", stride_h=1, stride_w=1)
    return builder.build([x], [y])


def test_batch_of_a_model_that_leaves_it_open(net: Path, out: Path) -> None:
    net.write_bytes(open_batch())
    result = run("build", net, "--board", "host", "-o", out, "--batch", "3", "--json")
    assert result.exit_code == 0, result.output
    assert f"#define NET_INPUT_0_BYTES {3 * 4 * 4 * 2}\n" in (out / "net.h").read_text()


def test_batch_of_a_model_that_fixes_it(net: Path, out: Path) -> None:
    net.write_bytes(open_batch(None))
    fails(run("build", net, "--board", "host", "-o", out, "--batch", "3"), "batch")


def test_buffers_of_the_caller_and_kept_input(net: Path, tmp_path: Path) -> None:
    """Buffers of the caller leave the arena; a kept input stays live to the end."""

    def arena(*options: str) -> int:
        folder = tmp_path / "_".join(("out", *options))
        result = run("build", net, "--board", "host", "-o", folder, "--json", *options)
        return int(json.loads(result.stdout)["arena_bytes"])

    plain, caller, kept = arena(), arena("--io-buffers", "caller"), arena("--keep-input")
    assert caller < plain < kept
    assert "net_set_input" in (tmp_path / "out_--io-buffers_caller" / "net.h").read_text()


@pytest.mark.parametrize("kind", ["order", "arena"])
def test_strategies_by_name(kind: str, net: Path, out: Path) -> None:
    strategies = {"order": order.STRATEGIES, "arena": arena.STRATEGIES}[kind]
    for name in strategies:
        result = run(
            "build", net, "--board=host", "-o", out, "--force", "--json", f"--{kind}", name
        )
        assert json.loads(result.stdout)[kind] == name


def test_long_names_do_not_break_the_memory_map(net: Path, out: Path) -> None:
    net.write_bytes(two_convolutions(name="functional/activation/Relu;" * 20))
    lines = run("build", net, "--board", "host", "-o", out).stdout.splitlines()
    named = [line for line in lines if "functional/activation" in line]
    assert len(named) == 3 and all(len(line) <= 120 for line in named)


def test_the_memory_map_fits_the_terminal() -> None:
    """The end of a name says most, so the beginning goes; the budgets come last, in sight."""
    plan = make_build(two_convolutions(name="functional/" * 20 + "Relu_7")).plan
    lines = memory_map(plan, 80).splitlines()
    named = [line for line in lines if "Relu_7" in line]
    assert len(named) == 3 and all(len(line) <= 80 and "| …" in line for line in named)
    assert lines[-1].startswith("flash ") and lines[-2].startswith("ram ")


# --- budgets ----------------------------------------------------------------------------------


@pytest.fixture
def board_file(tmp_path: Path) -> Callable[[int, int], Path]:
    """A board with exactly so many bytes of RAM and flash."""

    def make(ram: int, flash: int) -> Path:
        text = (REPO / "boards" / "nrf52840.toml").read_text()
        head = text[: text.index("[[memory]]")].replace('"nrf52840"', '"small"')
        path = tmp_path / "small.toml"
        path.write_text(
            f"{head}"
            f'[[memory]]\nname = "ram"\nkind = "ram"\nsize = {ram}\ncycles_per_word = 1\n'
            f'[[memory]]\nname = "flash"\nkind = "flash"\nsize = {flash}\ncycles_per_word = 1\n'
            '[cpu]\ncore = "cortex-m4"\nclock_hz = 1000\n'
            '[compiler]\ncommand = "arm-none-eabi-gcc"\n'
            '[placement]\narena = ["ram"]\nweights = ["flash"]\ntables = ["flash"]\n'
        )
        return path

    return make


def needs(net: Path, board: Path, out: Path) -> dict[str, int]:
    result = run("build", net, "--board", board, "-o", out, "--force", "--json")
    assert result.exit_code == 0, result.output
    return {name: use["used"] for name, use in json.loads(result.stdout)["memories"].items()}


def test_the_exact_budget_is_enough_and_a_byte_less_is_not(
    net: Path, out: Path, board_file: Callable[[int, int], Path]
) -> None:
    used = needs(net, board_file(1 << 20, 1 << 20), out)
    assert needs(net, board_file(used["ram"], used["flash"]), out) == used

    line = fails(
        run("build", net, "--board", board_file(used["ram"] - 1, 1 << 20), "-o", out / "ram"),
        *(f"need {used['ram']} B of RAM", f"board small has ram {used['ram'] - 1} B"),
        *("peak at operator ", 'CONV_2D, where tensor 1 "t1" 144 B', "boards that fit: "),
    )
    named = line.split("boards that fit: ")[1].split(", ")
    assert set(named) <= {b.name for b in list_boards()} - {"host"}

    line = fails(
        run("build", net, "--board", board_file(1 << 20, used["flash"] - 1), "-o", out / "flash"),
        *(" B of flash", f"board small has flash {used['flash'] - 1} B"),
        *("weights of operator 0 CONV_2D 72 B", "boards that fit: "),
    )
    assert not (out / "ram").exists() and not (out / "flash").exists()


def test_options_that_help_are_named_with_what_they_come_to(
    net: Path, out: Path, board_file: Callable[[int, int], Path]
) -> None:
    ways = " it fits and takes "
    used = needs(net, board_file(1 << 20, 1 << 20), out)["ram"]
    small = board_file(used - 8, 1 << 20)
    fails(run("plan", net, "--board", small), f"with --io-buffers caller{ways}", "; the smallest ")
    net.write_bytes(branches(np.random.default_rng(1)))
    used = needs(net, board_file(1 << 20, 1 << 20), out)["ram"]
    words = ("build", net, "--board", board_file(used, 1 << 20), "-o", out / "x")
    fails(run(*words, "--order", "model"), f"with --order optimal --arena optimal{ways}")
    fails(
        run(*words, "--keep-input"),
        f"without --keep-input{ways}",
        "; the smallest boards that fit: ",
    )


def wide(channels: int, filters: int) -> bytes:
    """A 1x1 convolution over 64x64 pixels."""
    builder = ModelBuilder()
    x = builder.tensor((1, 64, 64, channels), scale=0.5)
    y = builder.tensor((1, 64, 64, filters), scale=0.5)
    weights = b"\1" * (channels * filters)
    w = builder.tensor((filters, 1, 1, channels), scale=0.5, data=weights)
    builder.op("CONV_2D", [x, w, -1], [y], padding="SAME", stride_h=1, stride_w=1)
    return builder.build([x], [y])


def test_only_boards_that_really_fit_are_named(
    net: Path, out: Path, board_file: Callable[[int, int], Path]
) -> None:
    """256 KiB of input: an nRF52840 does not hold it, an i.MX RT1062 does."""
    net.write_bytes(wide(64, 26))
    line = fails(run("build", net, "--board", board_file(1000, 1 << 20), "-o", out), "256.0 KiB")
    named = line.split("boards that fit: ")[1].split(", ")
    assert "nrf52840" not in named
    for name in named:
        assert run("build", net, "--board", name, "-o", out, "--force").exit_code == 0


def test_a_model_for_no_board_at_all(
    net: Path, out: Path, board_file: Callable[[int, int], Path]
) -> None:
    net.write_bytes(wide(4000, 2))
    fails(
        run("build", net, "--board", board_file(1000, 1 << 20), "-o", out),
        *("16000.0 KiB", "no shipped board has that much"),
    )


def test_constants_go_to_ram_only_where_the_arena_leaves_room(
    net: Path, out: Path, board_file: Callable[[int, int], Path]
) -> None:
    text = board_file(1 << 20, 1 << 20).read_text()
    text = text.replace('weights = ["flash"]', 'weights = ["ram", "flash"]')

    def used_with(ram: int) -> dict[str, int]:
        path = out.parent / "small.toml"
        path.write_text(text.replace(f"size = {1 << 20}", f"size = {ram}", 1))
        return needs(net, path, out)

    most = used_with(1 << 20)
    assert used_with(most["ram"]) == most
    less = used_with(most["ram"] - 1)
    assert less["ram"] < most["ram"] and less["flash"] > most["flash"]


# --- inspect and boards -----------------------------------------------------------------------


def test_inspect(net: Path) -> None:
    result = run("inspect", net)
    assert result.exit_code == 0
    assert "CONV_2D" in result.stdout and "int8" in result.stdout
    report = json.loads(run("inspect", net, "--json").stdout)
    assert report["macs"] == 6 * 6 * 4 * (3 * 3 * 2) + 6 * 6 * 3 * 4
    assert [o["unsupported"] for o in report["operators"]] == [None, None]


def test_inspect_shows_what_build_refuses(net: Path) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), "int8", 0.5) for _ in range(2))
    builder.op("CUSTOM", [x], [y], custom_name="Blend")
    net.write_bytes(builder.build([x], [y]))
    report = json.loads(run("inspect", net, "--json").stdout)
    assert "not supported" in report["operators"][0]["unsupported"]
    assert "Blend" in run("inspect", net).stdout


def test_boards_list_and_show() -> None:
    listed = run("boards", "list")
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert names == [b.name for b in list_boards()]
    assert len(names) >= 15
    assert [b["name"] for b in json.loads(run("boards", "list", "--json").stdout)] == names
    assert "Cortex-M4" in run("boards", "show", "mps2-an386").stdout
    assert json.loads(run("boards", "show", "rp2040", "--json").stdout)["name"] == "rp2040"


def test_boards_check(tmp_path: Path, board_file: Callable[[int, int], Path]) -> None:
    good = board_file(1000, 1000)
    assert run("boards", "check", good).stdout == f"{good}: a valid board profile\n"
    good.write_text(good.read_text().replace("clock_hz = 1000", 'clock_hz = "x"\nsped = 1'))
    result = run("boards", "check", good)
    assert result.exit_code == 1
    assert [line.split(": ")[:3] for line in result.stderr.splitlines()] == [
        ["error", str(good), "cpu.clock_hz"],
        ["error", str(good), "cpu.sped"],
    ]
    assert run("boards", "check", tmp_path / "absent.toml").exit_code == 1


def test_check_proves_the_plan_of_a_build(net: Path, out: Path) -> None:
    run("build", net, "--board", "host", "-o", out)
    result = run("check", out / "plan.json")
    assert (result.exit_code, result.stderr) == (0, "")
    (line,) = result.stdout.splitlines()
    assert line.startswith(f"{out / 'plan.json'}: safe: ") and "steps simulated" in line


def test_check_names_what_is_wrong(net: Path, out: Path, tmp_path: Path) -> None:
    """The second map moved onto the first one, which its layer still reads."""
    run("build", net, "--board", "host", "-o", out)
    plan = json.loads((out / "plan.json").read_text())
    for buffer in plan["buffers"]:
        if buffer["home"] == "arena":
            buffer["offset"] = 0
    (tmp_path / "moved.json").write_text(json.dumps(plan))
    result = run("check", tmp_path / "moved.json")
    assert (result.exit_code, result.stdout) == (1, "")
    moved = f"error: {tmp_path / 'moved.json'}: "
    assert all(line.startswith(moved) for line in result.stderr.splitlines())
    assert "CONV_2D" in result.stderr
    fails(run("check", tmp_path / "absent.json"), "absent.json", "cannot be read")
    fails(run("check", net), "net.tflite")


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["build"],
        ["build", "net.tflite"],
        ["build", "net.tflite", "--board", "host"],
        ["build", "net.tflite", "--board", "host", "-o", "out", "--batch", "0"],
        ["build", "net.tflite", "--board", "host", "-o", "out", "--io", "int4"],
        ["build", "net.tflite", "--board", "host", "-o", "out", "--order", "random"],
        ["verify", "net.tflite"],
        ["verify", "net.tflite", "--board", "host", "--samples", "-1"],
        ["verify", "net.tflite", "--board", "host", "--target", "moon"],
        ["inspect"],
        ["check"],
        ["boards", "shown"],
        ["bild"],
        ["--loud"],
    ],
)
def test_wrong_usage_ends_in_status_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["build", "inspect", "verify"])
def test_a_file_that_is_not_there(command: str, out: Path, tmp_path: Path) -> None:
    board = [] if command == "inspect" else ["--board", "host"]
    place = ["-o", out] if command == "build" else []
    absent = tmp_path / "absent.tflite"
    fails(run(command, absent, *board, *place), str(absent), "No such file")
    fails(run(command, tmp_path, *board, *place), str(tmp_path), "Is a directory")
    (tmp_path / "text.tflite").write_text("not a model at all")
    fails(run(command, tmp_path / "text.tflite", *board, *place), "text.tflite")
    (tmp_path / "empty.tflite").touch()
    fails(run(command, tmp_path / "empty.tflite", *board, *place), "empty.tflite")


def test_a_board_that_is_not_there(net: Path, out: Path) -> None:
    fails(run("build", net, "--board", "mps2-an385", "-o", out), "did you mean mps2-an386")
    fails(run("build", net, "--board", "./absent.toml", "-o", out), "absent.toml: cannot be read")


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    fails(run("inspect", tmp_path / "\x1b[2Jx\ny.tflite"), "?[2Jx y.tflite")


# --- as a process -----------------------------------------------------------------------------


def test_process_prints_nothing_but_its_result(net: Path, tmp_path: Path) -> None:
    done = run_process("build", net, "--board", "host", "-o", "out", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["name"] == "net"
    assert tree(tmp_path / "out") == FILES


def test_process_fails_in_one_line(tmp_path: Path) -> None:
    done = run_process("build", "absent.tflite", "--board", "host", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: absent.tflite: cannot be read")
    assert done.stderr.count("\n") == 1


def test_version_and_help() -> None:
    assert run_process("--version").stdout == f"codegen, version {__version__}\n"
    assert run_process("-h").stdout.startswith("Usage: codegen [OPTIONS] COMMAND")


@pytest.mark.parametrize("command", [["boards", "list"], ["boards", "list", "--json"]])
def test_a_reader_that_leaves_causes_no_traceback(command: list[str]) -> None:
    """As in `codegen boards list | head -0`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "codegen", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(REPO)},
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) in (0, 1)
    process.stderr.close()


def _tiny() -> list[Path]:
    """The MLPerf Tiny models in int8, where they are found."""
    names = {f"mlcommons-tiny__{name}" for name in TINY_NAMES}
    return [path for path in paths.app_models() if path.stem in names]


@pytest.mark.parametrize("path", [DEMO, *_tiny()], ids=lambda path: path.stem)
def test_a_build_takes_less_than_two_seconds(path: Path, tmp_path: Path) -> None:
    """All in all, in seconds of CPU time: tests share the machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run_process("build", path, "--board", "host", "-o", tmp_path / "out")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_the_options_line_says_all_that_was_asked(net: Path, out: Path) -> None:
    """Whole, however long; a file can be written again from what stands in it."""
    net.write_bytes(open_batch())
    words = ("--batch", "3", "--keep-input", "--io-buffers", "caller", "--weights-growth", "4")
    result = run("build", net, "--board", "stm32f746", "-o", out, "--kernels", "mve", *words)
    assert result.exit_code == 0, result.output
    banner = (out / "net.c").read_text().split("*/")[0]
    stated = banner.split("Options: ")[1].replace("\n *  ", "")
    for option in ("--batch 3", "--keep-input", "--io-buffers caller", "--weights-growth 4"):
        assert option in stated
    assert "note: core cortex-m7 lacks the instructions of --kernels mve" in result.stderr


@pytest.mark.parametrize("factor", ["nan", "inf", "0.5"])
def test_growth_that_is_no_factor(factor: str, net: Path, out: Path) -> None:
    result = run("build", net, "--board=host", "-o", out, "--weights-growth", factor)
    assert result.exit_code == 2
    assert "--weights-growth" in result.stderr
