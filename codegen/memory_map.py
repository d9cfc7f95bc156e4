"""The memory map of a plan as text: what lies where, and when."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.picture import short_label
from codegen.plan import Buffer, Home, Plan

_COLUMNS = 48
_LEAST_LABEL = 16


def memory_map(plan: Plan, width: int) -> str:
    """Each arena from its top address down, time to the right; then the budget of every memory.

    `width` is that of the terminal in characters.
    """
    lines = []
    for memory, size in plan.arena_bytes.items():
        lines += [f"arena in {memory}: {size:,} bytes, {len(plan.layers)} layers to the right"]
        lines += [*_rows(plan, memory, width), ""]
    lines += [_budget_line(name, use.used, use.size) for name, use in plan.memories.items()]
    return "\n".join(lines)


def _budget_line(name: str, used: int, size: int) -> str:
    return f"{name:<10} {used:>11,} of {size:>13,} bytes  {100 * used / size:5.1f} %"


def _rows(plan: Plan, memory: str, width: int) -> Iterator[str]:
    placed = [b for b in plan.buffers if b.home is Home.ARENA and b.memory == memory]
    for b in sorted(placed, key=lambda b: (-b.offset, b.first)):
        row = f"{b.offset:>9,} +{b.size:<9,} |{_bar(b, len(plan.layers))}| "
        yield row + short_label(plan, b, max(_LEAST_LABEL, width - len(row)))


def _bar(buffer: Buffer, layers: int) -> str:
    """The life of a buffer on a fixed number of columns."""
    columns = min(_COLUMNS, layers + 2)
    first = (buffer.first + 1) * columns // (layers + 2)
    last = max(first + 1, -(-(buffer.last + 2) * columns // (layers + 2)))
    return " " * first + "#" * (min(last, columns) - first) + " " * (columns - min(last, columns))
