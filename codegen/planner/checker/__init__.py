"""The proof that a plan is safe, from plan.json alone.

Nothing of the planner, of the operators or of the plan's own classes is used here: what the
checker knows of them is docs/plan_format.md. It proves, for every byte and exactly:

* every reference resolves, every buffer lies aligned in its arena and every arena in its memory;
* buffers that live at one time share no byte, but for an input that dies under its output;
* every kernel finds the input that it reads complete and intact, whatever shares memory with it;
* output over input of one kernel only as its alias class allows;
* every byte of every tensor is produced exactly once, and outputs are there at the end.

Apart from that it counts the lower bound anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from codegen.planner.checker.bound import bound_fault
from codegen.planner.checker.document import Document, parse
from codegen.planner.checker.index import Index
from codegen.planner.checker.placement import placement
from codegen.planner.checker.simulate import Simulation
from codegen.planner.checker.structure import references

MAX_FAULTS = 20


class UnsafePlan(AssertionError):
    """A plan of our own that the checker refuses: a bug of the planner, never the user's fault."""


@dataclass(frozen=True)
class CheckReport:
    """The faults, one line each (at most `MAX_FAULTS`), and how much was looked at.

    Attributes:
        faults: none if the plan is safe.
        bound_fault: why the claimed lower bound is none; empty if it is one. Safety does not hang
            on it.
        executions: kernel steps executed, loops expanded.
        bytes_read, bytes_written: by all of them.
    """

    faults: tuple[str, ...]
    executions: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    bound_fault: str = ""

    @property
    def safe(self) -> bool:
        return not self.faults


def check_plan(document: object) -> CheckReport:
    """Prove the plan safe or say why it is not; never raises, whatever `document` is."""
    parsed, faults = parse(document)
    if parsed is None:
        return CheckReport(tuple(faults[:MAX_FAULTS]))
    try:
        return _check(parsed)
    except MemoryError:
        return CheckReport(("plan: its tensors are too large to simulate",))


def _check(document: Document) -> CheckReport:
    index = Index.of(document)
    faults = list(islice(references(index), MAX_FAULTS))
    if faults:
        return CheckReport(tuple(faults))
    faults = list(islice(placement(index), MAX_FAULTS))
    if any(
        b.offset + b.size > index.memories[b.memory].usable
        for b in document.buffers
        if b.home in ("arena", "state")
    ):
        return CheckReport(tuple(faults))  # over budget, so there is no memory to simulate
    simulation = Simulation(index)
    faults += islice(simulation.run(), MAX_FAULTS - len(faults))
    return CheckReport(
        tuple(faults),
        simulation.executions,
        simulation.bytes_read,
        simulation.bytes_written,
        bound_fault(index),
    )


def check_file(path: Path) -> CheckReport:
    """The report of a plan.json; that it is unreadable or malformed is a fault too.

    Every fault names the file.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        return _no_plan(f"{path}: cannot be read ({error.strerror})")
    except UnicodeDecodeError:
        return _no_plan(f"{path}: is not UTF-8 text")
    except (ValueError, RecursionError) as error:
        return _no_plan(f"{path}: is not valid JSON: {error}")
    report = check_plan(document)
    return replace(report, faults=tuple(f"{path}: {fault}" for fault in report.faults))


def _no_plan(why: str) -> CheckReport:
    return CheckReport((f"{why}; give the path of a plan.json",))


def require_safe(document: object) -> CheckReport:
    """The report of a plan that has to be safe.

    Raises:
        UnsafePlan: with the first fault.
    """
    report = check_plan(document)
    if report.faults:
        more = f" (and {len(report.faults) - 1} more)" if len(report.faults) > 1 else ""
        raise UnsafePlan(f"the planner made an unsafe plan: {report.faults[0]}{more}")
    return report
