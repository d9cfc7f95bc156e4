"""`--optimize size`: functions around kernels that layers share instead of inlining a copy each.

Most calls see whole maps. Their views and range come from seven numbers, which layers of equal
shapes have in common: those of `cg_plain`. For all other calls (rings, slices, tiles, several
inputs) there is a function that takes views and range as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.plan import Affine, KernelStep, Plan, View, kernel_steps
from codegen.target import Optimize


@dataclass(frozen=True)
class SharedText:
    """A function that calls a kernel for several layers.

    Attributes:
        function: its name.
        kernel: what computes the layers in the end.
        callee: what it calls.
        args_type: of the kernel's constants, empty if it has none.
        sources, results: names of the views.
        has_scratch: whether it takes scratch memory.
        is_plain: whether it makes views and range itself.
    """

    function: str
    kernel: str
    callee: str
    args_type: str
    sources: tuple[str, ...]
    results: tuple[str, ...]
    has_scratch: bool
    is_plain: bool

    @property
    def views(self) -> list[str]:
        """The parameters of views and range."""
        maps = [f"const cg_src *{name}" for name in self.sources]
        return [*maps, *(f"const cg_dst *{name}" for name in self.results), "const cg_range *range"]


PlainMaps = tuple[int, ...]
"""The fields of a `cg_plain` in order."""


@dataclass(frozen=True)
class PlainText:
    """One `cg_plain` of the file."""

    name: str
    fields: PlainMaps


@dataclass(frozen=True, eq=False)
class Sharing:
    """What the layers of a plan share; nothing without `--optimize size`."""

    functions: tuple[SharedText, ...]
    """Callees before callers."""
    plains: Mapping[PlainMaps, PlainText]
    """In the order of first use."""

    def function_of(self, step: KernelStep) -> SharedText | None:
        """What a layer calls in place of the kernel, if anything."""
        fitting = [f for f in self.functions if f.kernel == step.call.kernel]
        plain = [f for f in fitting if f.is_plain and is_plain(step)]
        return next(iter(plain or fitting), None)

    def plain_of(self, step: KernelStep) -> PlainText | None:
        """The maps of a call that is made through a function for plain calls."""
        function = self.function_of(step)
        return self.plains[plain_maps(step)] if function and function.is_plain else None


def sharing_of(plan: Plan) -> Sharing:
    """Kernels that several steps call get functions; others stay in their layer."""
    if plan.options.optimize != Optimize.SIZE.value:
        return Sharing((), {})
    steps: dict[str, list[KernelStep]] = {}
    for layer in plan.layers:
        for step in kernel_steps(layer.steps):
            steps.setdefault(step.call.kernel, []).append(step)
    shared = [calls for calls in steps.values() if len(calls) > 1]
    plains: dict[PlainMaps, PlainText] = {}
    for maps in (plain_maps(step) for calls in shared for step in calls if is_plain(step)):
        plains.setdefault(maps, PlainText(f"maps_{len(plains)}", maps))
    return Sharing(tuple(f for calls in shared for f in _functions(calls)), plains)


def _functions(steps: Sequence[KernelStep]) -> Iterator[SharedText]:
    """The function for any call if there is one that is not plain, and that for plain ones."""
    call, plain = steps[0].call, [is_plain(step) for step in steps]
    name = call.kernel.removeprefix("cg_")
    whole = SharedText(
        function=f"shared_{name}",
        kernel=call.kernel,
        callee=call.kernel,
        args_type=call.args if call.params else "",
        sources=view_names("x", call.inputs),
        results=view_names("y", call.outputs),
        has_scratch=bool(call.scratch),
        is_plain=False,
    )
    if not all(plain):
        yield whole
    if any(plain):
        callee = call.kernel if all(plain) else whole.function
        yield replace(whole, function=f"plain_{name}", callee=callee, is_plain=True)


def view_names(letter: str, views: Sequence[object]) -> tuple[str, ...]:
    """`x`, or `x0`, `x1` and so on where there are several."""
    return (letter,) if len(views) == 1 else tuple(f"{letter}{i}" for i in range(len(views)))


def is_plain(step: KernelStep) -> bool:
    """Whether a call makes the whole of one map from the whole of another."""
    if len(step.inputs) != 1 or len(step.outputs) != 1:
        return False
    r = step.range
    from_zero = r.y0 == r.x0 == r.c0 == 0 and step.row == Affine(0)
    return from_zero and all(map(_is_whole, (*step.inputs, *step.outputs)))


def _is_whole(view: View) -> bool:
    return view.ring == view.row0 == view.col0 == 0


def plain_maps(step: KernelStep) -> PlainMaps:
    """The fields of the `cg_plain` of a plain call."""
    (x,), (y,), r = step.inputs, step.outputs, step.range
    return (x.row, x.pixel, y.row, y.pixel, r.y1, r.x1, r.c1)
