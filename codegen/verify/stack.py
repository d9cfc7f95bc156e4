"""How deep the stack of generated C gets, from the compiler's own call graph (gcc 10 or newer)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import ToolError
from codegen.verify.compile import run_compiler, write_sources
from codegen.verify.sources import GeneratedSources

_NODE = re.compile(r'^node: \{ title: "(?P<title>[^"]+)" label: "(?P<label>[^"]*)"', re.MULTILINE)
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', re.MULTILINE)
_FRAME = re.compile(r"\\n(\d+) bytes \(([^)]*)\)")

_ASSEMBLY_BYTES = 96
"""What a function of the kernels in assembly, CG_ASM, may take; the compiler sees none of it."""

_MEMORY_FUNCTION = re.compile(r"(__aeabi_)?mem(cpy|move|set)\d?")


def library_bytes(function: str) -> int:
    """Stack that a function without a body here needs at most, on any supported core.

    These are allowances over what was measured on the emulated machines with newlib and picolibc:
    24 bytes for memory functions, 80 for 64-bit division and software floating point, 176 for libm.
    """
    if _MEMORY_FUNCTION.fullmatch(function):
        return 32
    return 96 if function.startswith("__") else 224


@dataclass(frozen=True)
class CallGraph:
    """Functions of translation units, by the titles that gcc gives them."""

    frames: Mapping[str, int]
    """Bytes of stack of each function that has a body here."""
    calls: Mapping[str, frozenset[str]]

    def deepest(self, root: str) -> int:
        """Bytes of the deepest chain of calls that starts with `root`, its own frame included.

        Raises ToolError for a recursion, which has no bound.
        """
        return self._deepest(root, ())

    def above(self, title: str, via: str) -> int:
        """Bytes of the deepest chain from `title` down to, without, `via`.

        Raises ToolError if no chain leads there.
        """
        if title == via:
            return 0
        called = [c for c in self.calls.get(title, ()) if self.reaches(c, via)]
        if not called:
            raise ToolError(f"{title} never calls {via}; measure the function that does")
        return self.frames[title] + max(self.above(c, via) for c in called)

    def with_unit(self, other: CallGraph) -> CallGraph:
        """This graph and that of another translation unit, whose functions it calls."""
        return CallGraph({**self.frames, **other.frames}, {**self.calls, **other.calls})

    def named(self, pattern: str) -> list[str]:
        """Titles of the functions here whose name matches as a whole, sorted."""
        return sorted(
            title for title in self.frames if re.fullmatch(pattern, title.rpartition(":")[2])
        )

    def _deepest(self, title: str, chain: tuple[str, ...]) -> int:
        if title in chain:
            raise ToolError(f"{title} calls itself; its stack has no bound")
        if title not in self.frames:
            return library_bytes(title)
        below = (self._deepest(called, (*chain, title)) for called in self.calls.get(title, ()))
        return self.frames[title] + max(below, default=0)

    def reaches(self, title: str, via: str) -> bool:
        """Whether a chain of calls leads from `title` to `via`."""
        return title == via or any(self.reaches(c, via) for c in self.calls.get(title, ()))


def parse_call_graph(text: str) -> CallGraph:
    """The graph in a file of -fcallgraph-info=su.

    Raises ToolError for a function whose frame grows at run time or that calls through a pointer.
    """
    frames: dict[str, int] = {}
    for match in _NODE.finditer(text):
        frame = _FRAME.search(match["label"])
        if frame is None:
            continue
        if frame[2] not in ("static", "dynamic,bounded"):
            raise ToolError(f"{match['title']} has a {frame[2]} frame; its stack has no bound")
        own = _ASSEMBLY_BYTES if match["title"].endswith("_asm") else 0
        frames[match["title"]] = int(frame[1]) + own
    calls: dict[str, set[str]] = {}
    for caller, called in _EDGE.findall(text):
        if called == "__indirect_call":
            raise ToolError(f"{caller} calls through a pointer; its stack has no bound")
        calls.setdefault(caller, set()).add(called)
    return CallGraph(frames, {caller: frozenset(called) for caller, called in calls.items()})


def source_call_graph(compiler: Sequence[str], flags: Sequence[str], source: Path) -> CallGraph:
    """Compile `source` (a gcc that knows -fcallgraph-info is needed) and read its call graph."""
    target = source.with_suffix(".o")
    run_compiler([*compiler, *flags, "-fcallgraph-info=su", "-c", str(source), "-o", str(target)])
    return parse_call_graph(source.with_suffix(".ci").read_text())


@dataclass(frozen=True)
class StackUsage:
    """Bytes of stack of one model on one target, the caller of run() not included."""

    run: int
    """The deepest chain of calls from run()."""
    callers: int
    """What run() and the others need from there down to a layer's function."""
    layers: tuple[int, ...]
    """The deepest chain from run() through each layer, in order of execution."""


def stack_usage(
    model: GeneratedSources, compiler: Sequence[str], flags: Sequence[str], workdir: Path
) -> StackUsage:
    """Compile `model` below `workdir` and follow its calls.

    `compiler` is a gcc of version 10 or newer with its leading arguments. Of a model that drives
    NPU and DMA the port's functions count too. Raises ToolError if it fails or the stack has no
    bound.
    """
    source, _ = write_sources(model, workdir)
    graph = source_call_graph(compiler, flags, source)
    for port in model.port_files:
        graph = graph.with_unit(source_call_graph(compiler, flags, workdir / port))
    return usage_of(graph, model.name)


def usage_of(graph: CallGraph, name: str) -> StackUsage:
    """Follow the calls of the model called `name`, all of whose functions are in the graph."""
    run = f"{name}_run"
    titles = graph.named(r"layer_\d+")
    # gcc leaves some calls out of its graph: a layer without a caller is called like the others
    callers = max((graph.above(run, t) for t in titles if graph.reaches(run, t)), default=0)
    layers = tuple(callers + graph.deepest(title) for title in titles)
    return StackUsage(max(graph.deepest(run), *layers, 0), callers, layers)
