"""Solve the public MiniMalloc problems: `python tests/benchmarks/offsets.py DIR [NAME...] --json`.

DIR holds files NAME.1048576.csv with columns id,lower,upper,size: buffers of `size` bytes, live in
[lower, upper), to be placed below 1,048,576. A problem counts as solved when the offsets found pass
the planner's validation. Seconds are CPU time of this one thread.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from codegen.planner.blocks import Block, Place, Region, validate
from codegen.planner.branch_and_bound import Verdict
from codegen.planner.optimal import solve_below

CAPACITY = 1_048_576
SECONDS = 60.0


def read_problem(path: Path) -> list[Block]:
    """The buffers of one file."""
    with path.open(newline="") as file:
        return [
            Block(row["id"], int(row["size"]), int(row["lower"]), int(row["upper"]) - 1)
            for row in csv.DictReader(file)
        ]


def solve(blocks: list[Block]) -> bool:
    """Whether valid offsets below the capacity were found."""
    verdict, offsets = solve_below(blocks, CAPACITY, 1, SECONDS)
    if verdict is not Verdict.FITS:
        return False
    places = {name: Place("arena", offset) for name, offset in offsets.items()}
    validate(blocks, [Region("arena", CAPACITY, 1)], places)
    return True


def run(directory: Path, names: tuple[str, ...] = ()) -> dict[str, dict[str, bool | float]]:
    """Name -> whether it was solved and the CPU seconds it took; all problems if none is named."""
    results: dict[str, dict[str, bool | float]] = {}
    for path in sorted(directory.glob(f"*.{CAPACITY}.csv")):
        name = path.name.split(".")[0]
        if names and name not in names:
            continue
        start = time.process_time()
        solved = solve(read_problem(path))
        results[name] = {"solved": solved, "seconds": round(time.process_time() - start, 3)}
    return results


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(directory: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Solve the problems of DIRECTORY, or only those named; status 1 if one is not solved."""
    results = run(directory, names)
    if not results:
        raise click.ClickException(f"{directory} holds no such *.{CAPACITY}.csv")
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        for name, result in results.items():
            click.echo(
                f"{name}  {'solved' if result['solved'] else 'open':6}  {result['seconds']:.1f} s"
            )
        click.echo(f"total {sum(r['seconds'] for r in results.values()):.1f} s")
    sys.exit(not all(r["solved"] for r in results.values()))


if __name__ == "__main__":
    main()
