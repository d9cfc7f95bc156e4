"""Every wait, clean and invalidate of an emitted program is needed: without it the simulator fails.

One program holds all mutants: each such call runs unless the environment names its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import ToolError
from codegen.verify.program import HostProgram, build_host_program
from codegen.verify.session import sources_of
from codegen.verify.sources import GeneratedSources
from tests import oracle
from tests.npu.test_models import BOARDS, MODELS, NAMES, built
from tests.paths import requires_models

pytestmark = requires_models

_NEEDED = re.compile(
    r"^( *)((?:CG_TRY\(cg_(?:dma|npu)_wait|cg_cache_(?:clean|invalidate))\(.*\);)$", re.MULTILINE
)
_SWITCH = """#include <stdlib.h>
static int left_out(int number)
{
    const char *asked = getenv("LEFT_OUT");
    return asked != NULL && atoi(asked) == number;
}
"""


def with_switches(source: str) -> tuple[str, list[str]]:
    """The C code with a switch around every call that is to be left out, and these calls."""
    calls: list[str] = []

    def guarded(match: re.Match[str]) -> str:
        calls.append(match[2])
        return f"{match[1]}if (!left_out({len(calls) - 1})) {{ {match[2]} }}"

    return _SWITCH + _NEEDED.sub(guarded, source), calls


def _inputs(name: str) -> tuple[list[Any], list[Any]]:
    """One random input set of a model, and what the interpreter makes of it."""
    assert MODELS is not None
    graph = built(name, "npu-64k").plan.graph
    rng = np.random.default_rng(1)
    (x,) = (graph.tensors[t] for t in graph.inputs)
    sets = [[rng.integers(-128, 128, x.shape).astype(np.int8)]]
    data = (MODELS / "app" / f"{NAMES[name]}.tflite").read_bytes()
    return sets[0], oracle.run_reference(data, sets)[0]


def _fails(program: HostProgram, inputs: list[Any], expected: list[Any]) -> bool:
    """Whether two runs stop with an error or give other bytes than the interpreter."""
    try:
        for _ in range(2):
            run = program.run(0, [x.tobytes() for x in inputs], reset=False)
            if run.status or run.outputs != tuple(y.tobytes() for y in expected):
                return True
    except ToolError:
        return True
    return False


def harmless(name: str, board: str, folder: Path, chosen: Callable[[int], list[int]]) -> list[str]:
    """The calls without which a model runs as well; `chosen` are tried of so many."""
    sources = sources_of(built(name, board))
    text = sources.files[f"{sources.name}.c"]
    assert isinstance(text, str)
    switched, calls = with_switches(text)
    assert ("cg_cache_" in "".join(calls)) == (board == "npu-256k")
    changed = GeneratedSources(
        **{**vars(sources), "files": {**sources.files, f"{sources.name}.c": switched}}
    )
    inputs, expected = _inputs(name)
    with build_host_program([changed], folder) as program:
        assert not _fails(program, inputs, expected)
    found = []
    for number in chosen(len(calls)):
        mutant = HostProgram(folder / "program", (changed,), 60.0, {"LEFT_OUT": str(number)})
        with mutant:
            if not _fails(mutant, inputs, expected):
                found.append(calls[number])
    return found


def test_nothing_can_be_left_out(
    tmp_path: Path, sample: Callable[[Sequence[Any], int], list[Any]]
) -> None:
    """A plain run tries some calls of some programs; `--full` all of kws and ic on all boards."""
    for name, board in sample(list(product(("kws", "ic"), BOARDS)), 4):
        folder = tmp_path / f"{name} {board}"
        folder.mkdir()
        found = harmless(name, board, folder, lambda count: sample(range(count), 12))
        assert not found, (name, board, found)
