"""What to say when a model does not fit: who is at the peak, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from codegen.board_schema import Board
from codegen.errors import OverBudget, Unsupported
from codegen.graph import Graph, Node
from codegen.occupancy import live_at
from codegen.plan import Buffer, Home, Plan, PlanOptions
from codegen.planner.blocks import align_up

_BOARDS_NAMED = 3


def kib(size: int) -> str:
    """Bytes for people: `102.0 KiB`, or `512 B` below 1 KiB."""
    return f"{size / 1024:.1f} KiB" if size >= 1024 else f"{size} B"


def over_budget(
    graph: Graph,
    board: Board,
    nodes: Sequence[Node],
    buffers: Sequence[Buffer],
    need: int,
    state: int,
    peak: int,
) -> OverBudget:
    """The error with needed and available bytes, the operator at the peak and what lives there.

    `need` is what the arena takes, `state` what variables take beside it.
    """
    in_arena = [b for b in buffers if b.home is Home.ARENA]
    live = sorted(live_at(in_arena, peak), key=lambda b: -b.size)
    names = ", ".join(
        f"{graph.tensors[b.tensors[0]].label if b.tensors else 'scratch'} {kib(b.size)}"
        for b in live[:4]
    )
    overlap = " and overlap in part" if sum(b.size for b in live) > need else ""
    have = ", ".join(
        f"{m.name} {m.usable:,} B" for m in (board.memory(n) for n in board.placement.arena)
    )
    among = f" ({state:,} B of them for state)" if state else ""
    where = nodes[max(0, min(peak, len(nodes) - 1))].label if nodes else "the inputs"
    return OverBudget(
        f"the activations need {need + state:,} B of RAM{among} and board {board.name} has {have}; "
        f"peak at {where}, where {names} are live{overlap}",
        ram_bytes=need + state,
    )


def over_flash(board: Board, order: Sequence[str], sizes: Sequence[tuple[str, int]]) -> OverBudget:
    """The error when constants do not fit.

    Args:
        board: the profile.
        order: the memories that were tried, by name.
        sizes: (what it is, bytes) of every constant.
    """
    alignment = max(board.memory(n).alignment for n in order)
    total = 0
    for _, size in sizes:  # the gaps between them count, or needed bytes could be fewer than had
        total = align_up(total, alignment) + size
    largest = sorted(sizes, key=lambda item: -item[1])[:3]
    names = ", ".join(f"{name} {kib(size)}" for name, size in largest)
    have = ", ".join(f"{n} {board.memory(n).usable:,} B" for n in dict.fromkeys(order))
    return OverBudget(
        f"the weights and tables need {total:,} B of flash and board {board.name} "
        f"has {have}; the largest are {names}",
        flash_bytes=total,
    )


def with_advice(
    error: OverBudget,
    board: Board,
    shipped: Sequence[Board],
    options: PlanOptions,
    plan: Callable[[Board, PlanOptions], Plan],
) -> OverBudget:
    """The same error, ending in other options with which the model fits, and in other boards.

    These are the smallest of `shipped` on which it fits with the quickest strategies; others may
    fit it onto more. `plan` makes the plan of a board and options, where the sizes leave a chance.
    """
    quick = replace(options, order="model", arena="greedy", memory="min")
    others = [b for b in shipped if b.name != board.name and b.cpu.core != "host"]
    hopeful = [
        b
        for b in sorted(others, key=lambda b: (_largest_ram(b), _flash(b)))
        if _largest_ram(b) >= error.ram_bytes and _flash(b) >= error.flash_bytes
    ]
    fitting = (b for b in hopeful if _planned(plan, b, quick))
    names = ", ".join(b.name for b in islice(fitting, _BOARDS_NAMED))
    advice = [_other_options(board, options, plan)] if error.ram_bytes else []
    if shipped:
        advice.append(
            f"the smallest boards that fit: {names}" if names else "no shipped board has that much"
        )
    return OverBudget(
        "; ".join([str(error), *filter(None, advice)]),
        ram_bytes=error.ram_bytes,
        flash_bytes=error.flash_bytes,
    )


def _planned(
    plan: Callable[[Board, PlanOptions], Plan], board: Board, options: PlanOptions
) -> Plan | None:
    """The plan, if there is one that fits."""
    try:
        return plan(board, options)
    except (OverBudget, Unsupported):
        return None


def _other_options(
    board: Board, options: PlanOptions, plan: Callable[[Board, PlanOptions], Plan]
) -> str:
    """The least change of options with which the model fits this board; empty if none does."""
    best = replace(options, order="auto", arena="auto", memory="min")
    changes = [
        ("", best),
        ("without --keep-input", replace(best, keep_input=False)),
        ("with --io-buffers caller", replace(best, caller_io=True)),
    ]
    for words, changed in changes:
        found = _planned(plan, board, changed) if changed != options else None
        if found is not None:
            named = words or f"with --order {found.order_strategy} --arena {found.arena_strategy}"
            return f"{named} it fits and takes {found.total_arena:,} B"
    return ""


def _largest_ram(board: Board) -> int:
    """Bytes of the largest single memory that may hold the arena."""
    return max(board.memory(name).usable for name in board.placement.arena)


def _flash(board: Board) -> int:
    """Bytes of all memories that may hold constants."""
    names = {*board.placement.weights, *board.placement.tables}
    return sum(board.memory(name).usable for name in names)
