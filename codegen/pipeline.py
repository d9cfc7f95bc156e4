"""From a loaded model to the text of its C files: the whole way, without touching a disk."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codegen.board_schema import Board
from codegen.emit import ModelInfo, emit
from codegen.emit.names import identifier
from codegen.emit.stack import stack_bound
from codegen.errors import CodegenError, OverBudget, Unsupported
from codegen.graph import Graph, Model
from codegen.ops.base import TableKind
from codegen.passes import link, simplify
from codegen.passes.copy_in_turn import copy_in_turn
from codegen.passes.io_int8 import io_int8
from codegen.plan import Plan, PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.budget import with_advice
from codegen.planner.build import build_plan
from codegen.planner.checker import require_safe
from codegen.target import WEIGHTS_GROWTH


@dataclass(frozen=True)
class BuildOptions:
    """What a user may ask of `codegen build`.

    Attributes:
        name: the C prefix; None takes the file's name, cleaned.
        io: "model" keeps the file's input and output types, "int8" drops QUANTIZE and DEQUANTIZE
            at the border.
        plan: what is asked of the planner.
        sizes: the options that gave inputs their sizes, as they were written.
    """

    name: str | None = None
    io: str = "model"
    plan: PlanOptions = field(default_factory=PlanOptions)
    sizes: tuple[str, ...] = ()

    def words(self) -> str:
        """The options as the generated files state them."""
        plan = self.plan
        flags = list(self.sizes)
        flags += ["--keep-input"] * plan.keep_input + ["--io-buffers caller"] * plan.caller_io
        if plan.weights_growth != WEIGHTS_GROWTH:
            flags.append(f"--weights-growth {plan.weights_growth:g}")
        return " ".join(
            [
                f"--io {self.io}",
                f"--order {plan.order}",
                f"--arena {plan.arena}",
                f"--memory {plan.memory}",
                f"--kernels {plan.kernels}",
                f"--reference {plan.reference}",
                f"--optimize {plan.optimize}",
                *flags,
            ]
        )


@dataclass(frozen=True, eq=False)
class Build:
    """A finished build: the plan and every file by relative path."""

    name: str
    plan: Plan
    files: Mapping[str, str]
    seconds: float

    @property
    def stack_bytes(self) -> int:
        """The bound that the header states."""
        return stack_bound(self.plan)

    def summary(self) -> dict[str, Any]:
        """What `codegen build --json` prints."""
        plan = self.plan
        return {
            "name": self.name,
            "files": sorted(self.files),
            "arena_bytes": plan.total_arena,
            "lower_bound_bytes": plan.lower_bound,
            "state_bytes": plan.total_state,
            "weights_bytes": plan.constant_bytes(TableKind.WEIGHTS),
            "tables_bytes": plan.constant_bytes(TableKind.TABLES),
            "memories": {
                name: {"used": use.used, "size": use.size} for name, use in plan.memories.items()
            },
            "order": plan.order_strategy,
            "arena": plan.arena_strategy,
            "seconds": round(self.seconds, 3),
        }


def prepare_graph(model: Model, options: BuildOptions) -> Graph:
    """The main graph after every pass.

    Raises:
        Unsupported: for state that cannot be known now, or inputs or outputs that are empty or of
            a type that C does not have.
    """
    _check_interface(model.main)
    graph = link(model)
    if options.plan.reference == "litert":
        graph = copy_in_turn(graph)
    return simplify(io_int8(graph) if options.io == "int8" else graph)


def _check_interface(graph: Graph) -> None:
    """Refuse what no caller could give or get, where no operator is there to be refused."""
    touched = {t for node in graph.nodes for t in (*node.inputs, *node.outputs)}
    for tensor in (graph.tensors[t] for t in (*graph.inputs, *graph.outputs)):
        where = f"{tensor.label} {tensor.describe()} is an input or output of the model"
        if not tensor.elements:
            raise Unsupported(f"{where} without elements; remove it from the model")
        if not tensor.dtype.in_c and tensor.index not in touched:
            raise Unsupported(f"{where} of a type that C does not have; remove it from the model")


def _prefix(asked: str | None, title: str) -> str:
    """The C prefix: the user's own as it is, or the file's name, cleaned.

    Raises:
        CodegenError: if the user's own cannot prefix C symbols and files.
    """
    cleaned = identifier(title if asked is None else asked)
    if asked is not None and asked != cleaned:
        raise CodegenError(
            f"--name {asked!r} cannot prefix C symbols and files (lower-case letters, digits and "
            f"single '_', no word of C or CMake, no library's name); {cleaned!r} can"
        )
    return cleaned


def build(
    model: Model,
    title: str,
    board: Board,
    options: BuildOptions | None = None,
    others: Sequence[Board] = (),
) -> Build:
    """Plan and print a model. `title` is the file's name without its ending.

    `others` are the boards that are named if this one is too small.

    Raises:
        CodegenError: anything that stops the build, in one line.
        UnsafePlan: a plan that the independent checker refuses, which is a bug.
    """
    options = options or BuildOptions()
    start = time.perf_counter()
    name = _prefix(options.name, title)
    graph = prepare_graph(model, options)
    try:
        plan = build_plan(graph, board, options.plan)
    except OverBudget as error:
        if board.npu is not None:
            raise
        plain = [b for b in others if b.npu is None]  # planning for the others takes too long
        raise with_advice(
            error, board, plain, options.plan, lambda b, asked: build_plan(graph, b, asked)
        ) from None
    require_safe(plan_document(plan, name))
    info = ModelInfo(name, title, model.sha256, options.words())
    files = emit(plan, info)
    return Build(name, plan, files, time.perf_counter() - start)
