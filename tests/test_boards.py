"""Board profiles: the shipped ones load; whatever is wrong with one is a line that names it."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from codegen import board_schema
from codegen.board_schema import Board, Isa
from codegen.boards import check_board, describe, list_boards, load_board
from codegen.errors import InvalidBoard
from codegen.resources import data_dir
from codegen.sizes import parse_size

REAL = (
    "apollo4",
    "esp32-c3",
    "esp32-s3",
    "imxrt1062",
    "nrf52840",
    "nrf5340",
    "rp2040",
    "rp2350",
    "stm32f746",
    "stm32h743",
)
EMULATED = ("mps2-an386", "mps2-an505", "mps3-an547", "riscv32-virt")
SHIPPED = sorted(path.stem for path in data_dir("boards").glob("*.toml"))

GOOD = """
name = "mine"
description = "a board of my own"
sources = ["data sheet, table 3"]

[[memory]]
name = "sram"
kind = "ram"
size = "64KiB"
address = 0x20000000
cycles_per_word = 1
reserved = "8KiB"
section = ".noinit"

[[memory]]
name = "flash"
kind = "flash"
size = 1048576
address = 0x08000000
cycles_per_word = 1.5
alignment = 32

[cpu]
core = "cortex-m4"
clock_hz = 64000000

[compiler]
command = "arm-none-eabi-gcc"
flags = ["-mcpu=cortex-m4", "-mthumb"]

[placement]
arena = ["sram"]
weights = ["flash"]
tables = ["flash", "sram"]
"""

ENGINE = """
[scratchpad]
size = "32KiB"
banks = 2

[cache]
line = 32

[dma]
channels = 2
bytes_per_cycle = 8
setup_cycles = 60
ranks = 3
max_length = "64KiB"
alignment = 4

[[dma.path]]
from = "flash"
to = "scratchpad"
bytes_per_cycle = 2

[[dma.path]]
from = "scratchpad"
to = "sram"
bytes_per_cycle = 8

[npu]
start_cycles = 50
macs_per_cycle = 128
depthwise_macs_per_cycle = 16
depthwise_tap_multiple = 4
elements_per_cycle = 2
input_channel_multiple = 8
output_channel_multiple = 8
partial_sums = true

[[npu.operator]]
name = "CONV_2D"
max_kernel = [7, 7]
max_stride = [2, 2]
activations = ["NONE", "RELU6"]

[[npu.operator]]
name = "ADD"
"""


EMULATOR = """
[emulator]
kind = "qemu"
machine = "m"
port = "no-such-port"
command = "qemu-system-arm"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped(name: str) -> None:
    board = load_board(name)
    assert board.name == name
    assert all(memory.usable > 0 for memory in board.memories)
    assert name in describe(board).splitlines()[0]


def test_list_is_sorted_and_complete() -> None:
    names = [board.name for board in list_boards()]
    assert names == SHIPPED
    assert {"host", *EMULATED, *REAL} <= set(names)


@pytest.mark.parametrize("name", REAL)
def test_real_boards_say_where_figures_are_from(name: str) -> None:
    board = load_board(name)
    assert len(board.sources) >= 2
    assert all(memory.address is not None for memory in board.memories)
    assert board.emulator is None


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "host"])
def test_flags_are_accepted_and_give_the_isa(name: str) -> None:
    board = load_board(name)
    compiler = shutil.which(board.compiler.command)
    if compiler is None:
        pytest.skip(f"{board.compiler.command} is not installed")
    command = [compiler, *board.compiler.flags, "-Werror", "-dM", "-E", "-x", "c", "-"]
    result = subprocess.run(
        command, input="", capture_output=True, text=True, check=False, timeout=30
    )
    assert result.returncode == 0, result.stderr
    for feature, macro in (("dsp", "__ARM_FEATURE_DSP"), ("mve", "__ARM_FEATURE_MVE")):
        assert getattr(board.cpu.isa, feature) == (f"#define {macro} " in result.stdout)
    hardware_float = any(
        f"#define {macro} " in result.stdout for macro in ("__ARM_FP", "__riscv_f")
    )
    assert board.cpu.isa.fpu == hardware_float


@pytest.mark.parametrize("name", EMULATED)
def test_emulated(name: str) -> None:
    emulator = load_board(name).emulator
    assert emulator is not None
    assert emulator.command.startswith("qemu-system-")


@pytest.mark.parametrize("name", EMULATED)
def test_emulated_memories_are_those_of_the_linker_script(name: str) -> None:
    board = load_board(name)
    assert board.emulator is not None
    script = data_dir("runtime_c") / "ports" / board.emulator.port / "link.ld"
    regions = re.findall(r"ORIGIN = (\w+), LENGTH = (\d+)([KM])", script.read_text("utf-8"))
    linked = {(int(origin, 0), parse_size(f"{n}{unit}iB")) for origin, n, unit in regions}
    assert {(memory.address, memory.size) for memory in board.memories} == linked


def test_own_board_by_path(tmp_path: Path) -> None:
    board = load_board(str(write(tmp_path, GOOD)))
    sram = board.memory("sram")
    assert (sram.size, sram.usable, sram.alignment) == (65536, 57344, 16)
    assert board.memory("flash").alignment == 32
    assert board.placement.tables == ("flash", "sram")
    assert (board.npu, board.dma, board.scratchpad, board.cache, board.emulator) == (None,) * 5
    with pytest.raises(KeyError):
        board.memory("qspi")


def test_frozen() -> None:
    with pytest.raises(ValidationError):
        load_board("host").name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("lines", "isa"),
    [
        ("", Isa(dsp=True, fpu=True)),
        ("fpu = false", Isa(dsp=True)),
        ("dsp = false\nmve = true", Isa(mve=True, fpu=True)),
    ],
)
def test_isa(tmp_path: Path, lines: str, isa: Isa) -> None:
    text = GOOD.replace("clock_hz = 64000000", f"clock_hz = 64000000\n{lines}")
    assert load_board(str(write(tmp_path, text))).cpu.isa == isa


def test_engine_tables(tmp_path: Path) -> None:
    board = load_board(str(write(tmp_path, GOOD + ENGINE)))
    assert board.scratchpad is not None
    assert (board.scratchpad.size, board.scratchpad.banks) == (32768, 2)
    assert board.dma is not None
    assert [(p.source, p.destination, p.bytes_per_cycle) for p in board.dma.paths] == [
        ("flash", "scratchpad", 2),
        ("scratchpad", "sram", 8),
    ]
    assert board.npu is not None
    conv, add = board.npu.operators
    assert (conv.max_kernel, conv.max_dilation, conv.activations) == (
        (7, 7),
        None,
        ("NONE", "RELU6"),
    )
    assert (add.name, add.types) == ("ADD", ("int8",))


def test_describe(tmp_path: Path) -> None:
    text = describe(load_board(str(write(tmp_path, GOOD + ENGINE))))
    for part in (
        "cortex-m4, 64 MHz, dsp fpu",
        "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb",
        "sram: ram 64 KiB at 0x20000000, 8 KiB reserved, 1 cycles/word",
        "section .noinit",
        "flash > sram",
        "128 MAC/cycle: CONV_2D, ADD",
        "flash->scratchpad 2, scratchpad->sram 8",
        "lines of 32 bytes, write-back",
        "data sheet, table 3",
    ):
        assert part in text


def test_unknown_name() -> None:
    with pytest.raises(InvalidBoard, match=r"'mps2-an368'; did you mean mps2-an386.*boards list"):
        load_board("mps2-an368")
    with pytest.raises(InvalidBoard, match=r"'zzz'; see 'codegen boards list'"):
        load_board("zzz")


def test_unreadable(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    deep = tmp_path / "deep.toml"
    deep.write_text("a = " + "[" * 100_000)
    for path, reason in (
        (tmp_path / "missing.toml", "No such file"),
        (tmp_path, "Is a directory"),
        (binary, "not UTF-8"),
        (write(tmp_path, "name = ?"), "line 1"),
        (deep, "not valid TOML"),
    ):
        (problem,) = check_board(path)
        assert problem.startswith(f"{path}: ")
        assert reason in problem
        with pytest.raises(InvalidBoard, match=reason):
            load_board(f"{path}/")


REPLACED = [
    ('name = "mine"\n', "", "name: is missing; add it"),
    ('name = "mine"', 'name = "My Board"', "name: must be lower-case letters, .* not 'My Board'"),
    ('name = "mine"', "name = 5", "name: must be text in quotes, not 5"),
    ('name = "mine"', 'name = "mine"\ncolour = "red"', "colour: is not a field; remove it"),
    ('name = "mine"', 'name = "mine"\nsource = "x"', "source: .* did you mean sources?"),
    ('["data sheet, table 3"]', "[]", "sources: needs at least 1 entries"),
    ('["data sheet, table 3"]', '[" "]', r"sources\[0\]: must be one line of text, not ' '"),
    ('["data sheet, table 3"]', '"x"', "sources: must be a list, not 'x'"),
    ('kind = "ram"', 'kind = "rom"', r"memory\[0\].kind: must be 'ram' or 'flash', not 'rom'"),
    (
        'size = "64KiB"',
        'size = "64KB"',
        r"memory\[0\].size: must be bytes as an integer, .* not '64KB'",
    ),
    ('size = "64KiB"', "size = 0", r"memory\[0\].size: must be at least 1, but is 0"),
    ('size = "64KiB"', "size = -1", r"memory\[0\].size: must not be negative"),
    ('size = "64KiB"', "sise = 1", r"memory\[0\].sise: .* did you mean size\?"),
    ('size = "64KiB"', 'size = "4GiB"', r"memory\[0\].size: reaches beyond 32-bit"),
    ('"sram"\nkind', '"S"\nkind', r"memory\[0\].name: must be a lower-case letter, .* not 'S'"),
    ('"flash"\nkind', '"sram"\nkind', r"memory\[1\].name: 'sram' names two memories"),
    ('"sram"\nkind', '"scratchpad"\nkind', r"memory\[0\].name: 'scratchpad' is kept"),
    ("cycles_per_word = 1\n", "cycles_per_word = 0\n", r"memory\[0\].cycles_per_word: .* above 0"),
    ("cycles_per_word = 1\n", "cycles_per_word = inf\n", r"cycles_per_word: .* finite"),
    ("cycles_per_word = 1\n", "cycles_per_word = []\n", r"cycles_per_word: must be a number"),
    ('reserved = "8KiB"', 'reserved = "64KiB"', r"memory\[0\].reserved: 65536 bytes leave nothing"),
    ("alignment = 32", "alignment = 24", r"memory\[1\].alignment: must be a power of two, not 24"),
    ("alignment = 32", "alignment = 0", r"memory\[1\].alignment: must be at least 1"),
    ("alignment = 32", 'alignment = "4"', r"memory\[1\].alignment: must be an integer, not '4'"),
    ("alignment = 32", "cacheable = true", r"memory\[1\].cacheable: .* add one with the line size"),
    ("alignment = 32", 'cacheable = "no"', r"memory\[1\].cacheable: must be true or false"),
    ("reserved =", "cacheable = true\nreserved =", r"memory\[0\].alignment: 16 lets buffers of"),
    ("0x08000000", "0x2000f000", r"memory\[1\].address: 'flash' overlaps 'sram', .* 0x20010000"),
    ("0x08000000", "-1", r"memory\[1\].address: must be at least 0"),
    ("[cpu]", "[cpu]\nendianness = 'big'", "cpu.endianness: must be 'little', not 'big'"),
    ('"cortex-m4"\nclock', '"cortex-m3"\nclock', "cpu.core: must be 'cortex-m0plus', .*"),
    ("-mcpu=cortex-m4", "-mcpu=cortex-m7", "compiler.flags: -mcpu=cortex-m7 contradicts cpu.core"),
    ("arm-none-eabi-gcc", "", "compiler.command: must be one program's name, .* not ''"),
    ('arena = ["sram"]', "arena = []", "placement.arena: needs at least 1"),
    ('arena = ["sram"]', 'arena = ["ram"]', "placement.arena: no memory is called 'ram'; .* sram"),
    ('arena = ["sram"]', 'arena = ["flash"]', "placement.arena: 'flash' is not RAM"),
    ('arena = ["sram"]', 'arena = ["sram", "sram"]', "placement.arena: names a memory twice"),
    ('weights = ["flash"]', 'weights = ["sram"]', "placement.weights: names no flash"),
    ('tables = ["flash", "sram"]', 'tables = ["sram"]', "placement.tables: names no flash"),
    ("[cpu]", "[emulator]\nkind = 'renode'\n[cpu]", "emulator.kind: must be 'qemu'"),
    ('size = "32KiB"', 'size = "32769"', "scratchpad.banks: do not divide the size"),
    ("line = 32", "line = 33", "cache.line: must be a power of two"),
    ("ranks = 3", "ranks = 4", "dma.ranks: must be at most 3, but is 4"),
    ('from = "flash"', 'from = "sdram"', r"dma.path\[0\].from: nothing is called 'sdram'"),
    ('from = "flash"', 'form = "flash"', r"dma.path\[0\].from: is missing"),
    ("max_stride = [2, 2]", "max_stride = [2]", r"npu.operator\[0\].max_stride"),
    ('"RELU6"]', '"GELU"]', r"npu.operator\[0\].activations\[1\]: must be 'NONE', .* 'GELU'"),
    ('name = "ADD"', 'name = "CONV_2D"', "npu.operator: CONV_2D stands there twice"),
    ('name = "ADD"', 'name = "add"', r"npu.operator\[1\].name: must be an operator's TFLite name"),
    ('section = ".noinit"', 'section = "a b"', r"memory\[0\].section: must be a linker section"),
    ("size = 1048576", f"size = {10**30}", r"memory\[1\].size: must be at most"),
    ("[npu]", "[npu]\n[npu]", "is not valid TOML"),
    ("[cpu]", '[cpu]\n"a\\nb\\u001b" = 1', r"cpu.a\?b\?: is not a field; remove it"),
]


@pytest.mark.parametrize(("old", "new", "line"), REPLACED)
def test_wrong_profile(tmp_path: Path, old: str, new: str, line: str) -> None:
    whole = GOOD + ENGINE
    assert old in whole
    path = write(
        tmp_path, whole.replace("[cache]\nline = 32\n", "") if new == "cacheable = true" else whole
    )
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InvalidBoard) as caught:
        load_board(str(path))
    problems = check_board(path)
    assert str(caught.value).startswith(problems[0])
    found = [problem for problem in problems if re.search(line, problem)]
    assert found, problems
    for problem in problems:
        assert "\n" not in problem
        assert problem.startswith(f"{path}: ")
        assert "; " in problem


REMOVED = [
    ("[scratchpad]", "[cache]", "npu: computes from a scratchpad but there is none"),
    ("[dma]", "[npu]", "scratchpad: nothing fills it"),
]


@pytest.mark.parametrize(("start", "end", "line"), REMOVED)
def test_missing_table(tmp_path: Path, start: str, end: str, line: str) -> None:
    text = GOOD + ENGINE[: ENGINE.index(start)] + ENGINE[ENGINE.index(end) :]
    assert any(line in problem for problem in check_board(write(tmp_path, text)))


def test_duplicate_path(tmp_path: Path) -> None:
    text = GOOD + ENGINE.replace(
        'from = "scratchpad"\nto = "sram"', 'from = "flash"\nto = "scratchpad"'
    )
    assert "dma.path[1]: stands there twice; keep one" in check_board(write(tmp_path, text))[0]


def test_unknown_port(tmp_path: Path) -> None:
    (problem,) = check_board(write(tmp_path, GOOD + EMULATOR))
    assert re.search(
        r"emulator.port: no port is called 'no-such-port'; choose one of .*mps2-an386", problem
    )


def test_all_problems_are_told(tmp_path: Path) -> None:
    text = GOOD.replace('kind = "ram"', 'kind = "rom"').replace("alignment = 32", "alignment = 3")
    path = write(tmp_path, text)
    assert len(check_board(path)) == 2
    with pytest.raises(InvalidBoard, match=r"\(and 1 more: codegen boards check "):
        load_board(str(path))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_files_give_lines(data: st.DataObject) -> None:
    whole = (GOOD + ENGINE).encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    filler = data.draw(st.one_of(st.binary(max_size=6), st.sampled_from([b"[", b"-1", b'"x"'])))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.toml"
        path.write_bytes(whole[:start] + filler + whole[end:])
        for problem in check_board(path):
            assert problem.startswith(f"{path}: ")
            assert len(problem.splitlines()) == 1


def test_good_profile_has_no_problems(tmp_path: Path) -> None:
    assert check_board(write(tmp_path, GOOD)) == []


def test_built_directly_is_checked_too() -> None:
    data = load_board("host").model_dump()
    assert Board.model_validate(data) == load_board("host")
    data["placement"]["arena"] = ["nowhere"]
    with pytest.raises(ValidationError):
        Board.model_validate(data)


def test_every_field_is_documented() -> None:
    page = (data_dir("boards").parent / "docs" / "boards.md").read_text(encoding="utf-8")
    tables = [value for value in vars(board_schema).values() if isinstance(value, type)]
    for table in tables:
        if issubclass(table, BaseModel) and not table.__name__.startswith("_"):
            for name, field in table.model_fields.items():
                assert re.search(rf"[`.\[]{field.alias or name}[`\]]", page), (table, name)
