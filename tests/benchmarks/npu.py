"""Figures of the NPU schedules of models: `python -m tests.benchmarks.npu [--board NAME] FILES`.

Prints the table of docs/npu.md: modelled cycles against the limit and the proved bound, exposed
cycles, bytes moved against the compulsory ones, and the CPU seconds that planning took.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.npu.bound import proved_bound
from codegen.npu.planning import plan_figures, schedule_of
from codegen.pipeline import BuildOptions, prepare_graph
from codegen.plan import PlanOptions

BOARDS = ("npu-32k", "npu-64k", "npu-64k-flash", "npu-256k")
HEADER = "| model | board | cycles | / limit | / bound | exposed | bytes moved | / compulsory | s |"


def row(path: Path, board_name: str) -> str:
    """One line of the table."""
    start = time.process_time()
    graph = prepare_graph(load_model(path), BuildOptions())
    npu = schedule_of(graph, load_board(board_name), PlanOptions())
    seconds = time.process_time() - start
    f, bound = plan_figures(npu), proved_bound(npu.network)
    cells = (
        path.stem,
        board_name,
        f"{f.total:,}",
        f"{f.total / max(1, f.limit):.3f}",
        f"{f.total / max(1, bound):.3f}",
        f"{100 * f.exposed / max(1, f.total):.1f} %",
        f"{f.moved:,}",
        f"{f.moved / max(1, f.compulsory):.3f}",
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--board", action="append", dest="boards", help="default: all with an NPU")
    asked = parser.parse_args()
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for path in asked.files:
        for board in asked.boards or BOARDS:
            print(row(path, board), flush=True)


if __name__ == "__main__":
    main()
