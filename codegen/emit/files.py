"""The output directory as a mapping from relative path to text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2

from codegen import __version__
from codegen.emit import context
from codegen.emit.engine import scratchpad_bytes
from codegen.emit.names import comment, comment_lines
from codegen.emit.stack import stack_bound
from codegen.ops.base import TableKind
from codegen.plan import Plan
from codegen.plan_json import plan_document
from codegen.report import report_context
from codegen.resources import data_dir
from codegen.target import Optimize

_TEMPLATES = {
    "model.h.j2": "{name}.h",
    "model_internal.h.j2": "{name}_internal.h",
    "model.c.j2": "{name}.c",
    "model_weights.c.j2": "{name}_weights.c",
    "main_example.c.j2": "main_example.c",
    "CMakeLists.txt.j2": "CMakeLists.txt",
    "README.md.j2": "README.md",
    "report.html.j2": "report.html",
}


@dataclass(frozen=True)
class ModelInfo:
    """What the files say about where they come from.

    Attributes:
        name: the C prefix, already a clean identifier.
        title: the file's own name, untrusted text.
        sha256: of the .tflite file.
        options: the options that shaped the output, as words.
    """

    name: str
    title: str
    sha256: str
    options: str


def emit(plan: Plan, info: ModelInfo) -> dict[str, str]:
    """Every file of the output, by relative path. The same plan gives the same text."""
    templates = environment()
    runtime = _runtime_files(context.headers(plan))
    uses_libm = any(_MATHS in text for text in runtime.values())
    values = {**_values(plan, info), "uses_libm": uses_libm}
    files = {
        path.format(name=info.name): templates.get_template(template).render(values)
        for template, path in _TEMPLATES.items()
    }
    files["plan.json"] = json.dumps(plan_document(plan, info.name), indent=1) + "\n"
    files.update(runtime)
    if plan.npu is not None:
        files.update(_port_files(plan))
    return dict(sorted(files.items()))


@cache
def environment() -> jinja2.Environment:
    """The templates, strict about undefined names; HTML and SVG escape what they print."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_dir("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=lambda name: name is not None and name.endswith((".html.j2", ".svg.j2")),
    )


def _values(plan: Plan, info: ModelInfo) -> dict[str, Any]:
    namer = context.Namer(plan, info.name)
    layers = context.layers(namer)
    alignments = [m.alignment for m in plan.board.memories if m.kind == "flash"]
    return {
        "model": {
            "name": info.name,
            "upper": info.name.upper(),
            "title": comment(info.title),
            "sha256": info.sha256,
            "version": __version__,
            "board": plan.board.name,
            "options": comment_lines(f"Options: {info.options}"),
            "for_size": plan.options.optimize == Optimize.SIZE.value,
            "keep_input": plan.options.keep_input,
            "caller_io": plan.options.caller_io,
            "arena_bytes": plan.total_arena,
            "state_bytes": plan.total_state,
            "weights_bytes": plan.constant_bytes(TableKind.WEIGHTS),
            "tables_bytes": plan.constant_bytes(TableKind.TABLES),
            "stack_bytes": stack_bound(plan),
            "macs": sum(layer.macs for layer in layers),
            "unbounded": plan.has_unbounded_loop,
            "constant_alignment": max(alignments, default=16),
        },
        "layers": layers,
        "functions": tuple(context.functions(layers)),
        "shared": namer.sharing.functions,
        "plains": tuple(namer.sharing.plains.values()),
        "constants": context.constants(namer),
        "inputs": context.ports(namer, plan.graph.inputs),
        "outputs": context.ports(namer, plan.graph.outputs),
        "arenas": context.arenas(plan),
        "states": context.states(plan),
        "resets": context.resets(namer),
        "branches": context.branches(namer),
        "places": context.places(plan),
        "headers": context.headers(plan),
        "engine": _engine(plan),
        "report": report_context(plan),
    }


def _engine(plan: Plan) -> dict[str, Any] | None:
    """What the templates say of NPU and DMA; None on a board without."""
    if plan.npu is None or plan.board.dma is None or plan.board.scratchpad is None:
        return None
    return {
        "scratchpad": scratchpad_bytes(plan),
        "alignment": plan.board.scratchpad.alignment,
        "port": f"cg_port_{plan.board.dma.port}.c",
    }


def _port_files(plan: Plan) -> dict[str, str]:
    """The port that drives DMA and NPU, under cg/."""
    dma = plan.board.dma
    name = f"cg_port_{dma.port}.c" if dma else "cg_port_cpu.c"
    path = data_dir("runtime_c") / "hal" / "ports" / f"{name.removeprefix('cg_port_')}"
    files = _runtime_files(["cg_npu_tiles.h"])
    return files | {f"cg/{name}": path.read_text(encoding="utf-8")}


_MATHS = "#include <math.h>"
_INCLUDE = re.compile(r'^#include "(cg_\w+\.h)"', re.MULTILINE)


def _runtime_files(names: Iterable[str]) -> dict[str, str]:
    """The kernel headers that the model uses, and what they include, under cg/."""
    found: dict[str, str] = {}
    waiting = [*names, "cg_view.h"]
    while waiting:
        name = waiting.pop()
        if f"cg/{name}" not in found:
            found[f"cg/{name}"] = text = _runtime_text(name)
            waiting.extend(_INCLUDE.findall(text))
    return found


def _runtime_text(name: str) -> str:
    folders = (data_dir("runtime_c") / folder for folder in ("kernels", "include", "hal"))
    path = next(folder / name for folder in folders if (folder / name).is_file())
    return path.read_text(encoding="utf-8")
