"""What the checker's parts share: look-ups by name, words for faults, and steps of nested loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from codegen.planner.checker.document import (
    Buffer,
    Document,
    Kernel,
    Layer,
    Loop,
    Memory,
    Step,
    Tensor,
)

_LABEL_NAME = 40  # characters of a tensor's name that faults show


@dataclass(frozen=True)
class Index:
    """A document with its parts by name. Of doubled names the last one counts."""

    document: Document
    tensors: Mapping[int, Tensor]
    buffers: Mapping[str, Buffer]
    memories: Mapping[str, Memory]

    @staticmethod
    def of(document: Document) -> Index:
        return Index(
            document,
            {t.id: t for t in document.tensors},
            {b.name: b for b in document.buffers},
            {m.name: m for m in document.memories},
        )

    def label(self, tensor: int) -> str:
        """`tensor 5 "conv1"`; the name is untrusted text."""
        if tensor not in self.tensors:
            return f"tensor {tensor}"
        name = self.tensors[tensor].name
        short = name if len(name) <= _LABEL_NAME else name[:_LABEL_NAME] + "..."
        return f'tensor {tensor} "{"".join(c if c.isprintable() else "?" for c in short)}"'

    def home(self, tensor: int) -> str:
        """The home of the tensor's buffer, or nothing if it has no buffer."""
        name = self.tensors[tensor].buffer if tensor in self.tensors else None
        return self.buffers[name].home if name is not None and name in self.buffers else ""


def layer_label(position: int, layer: Layer) -> str:
    """`layer 3 CONV_2D`: the position in execution order, not the operator's number."""
    return f"layer {position} {layer.kind}"


def loops_entered_once(
    steps: Iterable[Step], prefix: str = "", loops: tuple[Loop, ...] = ()
) -> Iterator[tuple[str, Kernel, tuple[Loop, ...]]]:
    """Every kernel step in order, as (its path such as `1.0`, the step, the loops around it)."""
    for number, step in enumerate(steps):
        path = f"{prefix}{number}"
        if isinstance(step, Loop):
            yield from loops_entered_once(step.body, f"{path}.", (*loops, step))
        elif isinstance(step, Kernel):
            yield path, step, loops


def executed(
    steps: Iterable[Step], env: dict[str, int], prefix: str = ""
) -> Iterator[tuple[str, Step, dict[str, int]]]:
    """Every execution of every step but loops in order of time, with the loop variables' values."""
    for number, step in enumerate(steps):
        path = f"{prefix}{number}"
        if isinstance(step, Loop):
            for value in range(step.count):
                yield from executed(step.body, {**env, step.loop: value}, f"{path}.")
        elif isinstance(step, Kernel):
            yield path, _shifted(step, step.row.at(env)), env
        else:
            yield path, step, env


def _shifted(kernel: Kernel, rows: int) -> Kernel:
    """The kernel with both ends of its rows moved."""
    if not rows:
        return kernel
    y0, y1, *rest = kernel.range
    return kernel.model_copy(update={"range": (y0 + rows, y1 + rows, *rest)})
