"""The stack that the compiler's call graph predicts covers what runs on the emulators use."""

import json
from pathlib import Path

import pytest

from codegen.boards import load_board
from codegen.emit.stack import LIMIT
from codegen.errors import ToolError
from codegen.resources import data_dir
from codegen.verify.emulator import build_emulator_program, emulator_target
from codegen.verify.sources import GeneratedSources, Request
from codegen.verify.stack import library_bytes, parse_call_graph, source_call_graph, stack_usage
from codegen.verify.toolchain import find_tool
from tests.tools.stack_table import entries, kernels
from tests.verify.test_emulator import BOARDS, STACK_USER
from tests.verify.tiny_model import SIZE, tiny_model

GRAPH = """graph: { title: "m.c"
node: { title: "m.c:l_00" label: "l_00\\nm.c:3:39\\n40 bytes (static)\\n0 dynamic objects" }
node: { title: "m.c:l_01" label: "l_01\\nm.c:9:39\\n8 bytes (static)\\n0 dynamic objects" }
node: { title: "m.c:go" label: "go\\nm.c:1:5\\n16 bytes (dynamic,bounded)\\n0 dynamic objects" }
node: { title: "m_run" label: "m_run\\nm.c:20:5\\n24 bytes (static)\\n0 dynamic objects" }
node: { title: "memcpy" label: "__builtin_memcpy\\n<built-in>" shape : ellipse }
edge: { sourcename: "m_run" targetname: "m.c:go" label: "m.c:22:7" }
edge: { sourcename: "m.c:go" targetname: "m.c:l_00" label: "m.c:13:1" }
edge: { sourcename: "m.c:go" targetname: "m.c:l_01" label: "m.c:14:1" }
edge: { sourcename: "m.c:l_01" targetname: "memcpy" label: "m.c:10:1" }
}
"""


def test_deepest_chain_counts_library_functions() -> None:
    graph = parse_call_graph(GRAPH)
    assert graph.named(r"l_\d+") == ["m.c:l_00", "m.c:l_01"]
    assert graph.deepest("m.c:l_00") == 40
    assert graph.deepest("m.c:l_01") == 8 + library_bytes("memcpy")
    assert graph.deepest("m_run") == 24 + 16 + 40
    assert graph.above("m_run", "m.c:l_01") == 24 + 16
    with pytest.raises(ToolError, match="memcpy never calls m_run"):
        graph.above("memcpy", "m_run")


def test_assembly_counts_though_the_compiler_does_not_see_its_stack() -> None:
    graph = parse_call_graph(GRAPH.replace("l_01", "l_01_asm"))
    assert graph.deepest("m.c:l_01_asm") == 8 + 96 + library_bytes("memcpy")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int f(int n) { volatile char c[n]; c[0] = 1; return c[0]; }", "f has a dynamic frame"),
        ("int f(int (*g)(int)) { return g(1) + 1; }", "f calls through a pointer"),
    ],
)
def test_unbounded_functions_are_refused(body: str, message: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(body)
    with pytest.raises(ToolError, match=message):
        source_call_graph([find_tool("gcc")], ["-O2"], source)


def test_recursion_is_refused() -> None:
    loop = 'edge: { sourcename: "m.c:l_01" targetname: "m_run" label: "m.c:10:1" }\n}'
    graph = parse_call_graph(GRAPH.replace("\n}\n", f"\n{loop}\n"))
    with pytest.raises(ToolError, match="calls itself"):
        graph.deepest("m_run")


@pytest.fixture(params=BOARDS)
def board_name(request: pytest.FixtureRequest) -> str:
    target = emulator_target(load_board(request.param))
    assert target is not None
    for tool in (target.compiler, target.emulator):
        try:
            find_tool(tool)
        except ToolError as missing:
            pytest.skip(str(missing))
    return str(request.param)


def used(models: list[GeneratedSources], board_name: str, workdir: Path) -> list[int]:
    """Stack that each model uses on an emulator, the most of three inputs."""
    target = emulator_target(load_board(board_name))
    assert target is not None
    program = build_emulator_program(models, target, workdir, flags=["-Wno-error"])
    most = [0] * len(models)
    for fill in (3, 77, 200):
        requests = [Request(i, (bytes([fill]) * SIZE,)) for i in range(len(models))]
        for i, result in enumerate(program.run(requests)):
            most[i] = max(most[i], result.stack_bytes or 0)
    return most


@pytest.mark.emulator
def test_prediction_covers_use_and_is_close(board_name: str, tmp_path: Path) -> None:
    models = [tiny_model(), tiny_model("deep", extra=STACK_USER)]
    compiler = load_board(board_name).compiler
    for model, nbytes in zip(models, used(models, board_name, tmp_path / "run"), strict=True):
        flags = ("-O2", *compiler.flags)
        usage = stack_usage(model, [find_tool(compiler.command)], flags, tmp_path / model.name)
        assert len(usage.layers) == 2
        assert max(usage.layers) <= usage.run
        assert nbytes <= usage.run <= nbytes + 32


LIBRARY = {
    "memcpy": "memcpy(own, own + 24, 5u + own[0] % 16u);",
    "memmove": "memmove(own, own + 1, 5u + own[0] % 16u);",
    "memset": "memset(own, own[1], 5u + own[0] % 16u);",
    "__aeabi_ldivmod": "volatile int64_t d = -777777777777LL * own[0], q = INT64_MAX; q = q / d;",
    "__aeabi_uldivmod": "volatile uint64_t d = 77777777ULL * own[0], q = UINT64_MAX; q = q / d;",
    "__aeabi_fdiv": "volatile float f = own[0]; f = f / 1.7f;",
    "__aeabi_ddiv": "volatile double f = own[0]; f = f / 1.7;",
    "__aeabi_d2lz": "volatile double f = own[0]; volatile int64_t i = (int64_t)f; (void)i;",
    "__aeabi_l2d": "volatile int64_t i = own[0]; volatile double f = (double)i; (void)f;",
    "expf": "volatile float f = own[0]; f = expf(f);",
    "tanhf": "volatile float f = own[0]; f = tanhf(f);",
    "logf": "volatile float f = own[0]; f = logf(f);",
    "expm1f": "volatile float f = own[0]; f = expm1f(f);",
    "erfcf": "volatile float f = own[0]; f = erfcf(f);",
    "powf": "volatile float f = own[0]; f = powf(f, 1.7f);",
    "sqrtf": "volatile float f = own[0]; f = sqrtf(f);",
    "fmodf": "volatile float f = 1e30f * own[0]; f = fmodf(f, 1.7f);",
    "floor": "volatile double f = 0.1 * own[0]; f = floor(f);",
    "floorf": "volatile float f = 0.1f * own[0]; f = floorf(f);",
    "roundf": "volatile float f = own[0]; f = roundf(f);",
    "exp": "volatile double f = own[0]; f = exp(f);",
    "pow": "volatile double f = own[0]; f = pow(f, 1.7);",
}
"""Function -> statements at the end of run() that call it."""


def calling(function: str, statements: str) -> GeneratedSources:
    name = f"m_{function}"
    model = tiny_model(name, extra=f"{{ {statements} }}")
    source = f"#include <math.h>\n#include <string.h>\n{model.files[f'{name}.c']!s}"
    return GeneratedSources(name, {**model.files, f"{name}.c": source}, (SIZE,), (SIZE,))


@pytest.mark.emulator
def test_allowances_cover_the_libraries(board_name: str, tmp_path: Path) -> None:
    models = [tiny_model(), *(calling(*item) for item in LIBRARY.items())]
    base, *figures = used(models, board_name, tmp_path)
    over = {
        function: nbytes - base
        for function, nbytes in zip(LIBRARY, figures, strict=True)
        if nbytes - base > library_bytes(function)
    }
    assert not over


def test_table_has_every_kernel_within_the_limit() -> None:
    table = json.loads((data_dir("runtime_c") / "kernels" / "stack.json").read_text())
    assert set(table) == set(entries(kernels())), "run: python tests/tools/stack_table.py --new"
    assert max(nbytes for figures in table.values() for nbytes in figures.values()) <= LIMIT
