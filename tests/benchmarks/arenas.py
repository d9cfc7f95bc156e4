"""Measures the arena strategies for docs/planner.md: `python -m tests.benchmarks.arenas FILE...`.

For each model: bytes of the arena on the board `host` with the best order for each strategy, inputs
and outputs inside, and the least lower bound of any order. Operators that cannot be built are
planned by their sizes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.plan import PlanOptions
from codegen.planner.arena import STRATEGIES
from codegen.planning import plan_model


def main(files: list[Path]) -> None:
    """Print one Markdown table."""
    print(f"| model | operators | bound | {' | '.join(STRATEGIES)} |")
    print("|---|---|---|" + "---|" * len(STRATEGIES))
    for path in files:
        print(row(path))


def row(path: Path) -> str:
    """The line of one model."""
    model = load_model(path)
    found = plan_model(model, load_board("host"), PlanOptions(), lambda _: None).strategies
    least = [min(f.bytes for f in found if f.arena == name) for name in STRATEGIES]
    bound = min(f.lower_bound for f in found)
    figures = " | ".join(f"{value:,}" for value in (bound, *least))
    return f"| {path.stem} | {len(model.main.nodes)} | {figures} |"


if __name__ == "__main__":
    main([Path(arg) for arg in sys.argv[1:]])
