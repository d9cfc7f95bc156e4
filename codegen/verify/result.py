"""What a verification found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codegen.verify.trace import Simulated


@dataclass(frozen=True)
class Difference:
    """The first element that is not what the interpreter computes."""

    target: str
    run: int
    tensor: str
    element: tuple[int, ...]
    got: str
    expected: str
    operator: str | None = None
    layer: int | None = None

    def line(self) -> str:
        """One line for people."""
        where = f"{self.operator}, layer {self.layer}, " if self.operator else ""
        return (
            f"{self.target}: run {self.run}: {where}{self.tensor} at {list(self.element)} "
            f"is {self.got}, the interpreter gives {self.expected}"
        )


@dataclass(frozen=True)
class TargetResult:
    """One machine: `error` says why it could not run or what it broke, None if all is well.

    `largest_gap` is the largest difference in a float output, within what counts as equal;
    `unseen_tensors` are those of subgraphs, which the interpreter does not show;
    `simulated` is what NPU and DMA did when they were simulated.
    """

    name: str
    runs: int = 0
    bytes_compared: int = 0
    largest_gap: float = 0.0
    inner_tensors: int = 0
    unseen_tensors: int = 0
    difference: Difference | None = None
    error: str | None = None
    stack_bytes: int | None = None
    instructions: int | None = None
    accuracy: float | None = None
    simulated: Simulated | None = None

    @property
    def equal(self) -> bool:
        return self.difference is None and self.error is None

    def to_json(self) -> dict[str, Any]:
        """The target's entry in `codegen verify --json`."""
        return {
            "equal": self.equal,
            "runs": self.runs,
            "bytes_compared": self.bytes_compared,
            "largest_gap": self.largest_gap,
            "inner_tensors": self.inner_tensors,
            "unseen_tensors": self.unseen_tensors,
            "error": self.error,
            "stack_bytes": self.stack_bytes,
            "instructions": self.instructions,
            "accuracy": self.accuracy,
        }


@dataclass(frozen=True)
class VerifyResult:
    """All targets together; `endless` inputs were left out since a loop did not end on them."""

    targets: tuple[TargetResult, ...]
    endless: int = 0

    @property
    def equal(self) -> bool:
        return bool(self.targets) and all(target.equal for target in self.targets)

    def to_json(self) -> dict[str, Any]:
        """What `codegen verify --json` prints."""
        difference = next((t.difference for t in self.targets if t.difference), None)
        return {
            "equal": self.equal,
            "runs": sum(t.runs for t in self.targets),
            "bytes_compared": sum(t.bytes_compared for t in self.targets),
            "first_difference": difference and {**vars(difference), "line": difference.line()},
            "targets": {t.name: t.to_json() for t in self.targets},
            **({"endless_inputs": self.endless} if self.endless else {}),
            **({"timeline": self.simulated.figures.to_json()} if self.simulated else {}),
        }

    def lines(self) -> list[str]:
        """The result for people, a line or two per target."""
        lines = [line for target in self.targets for line in _target_lines(target)]
        if self.endless:
            lines.append(f"{self.endless} inputs left out: a loop of the model did not end on them")
        return [*lines, *(self.simulated.figures.lines() if self.simulated else ())]

    @property
    def simulated(self) -> Simulated | None:
        """What the simulated hardware did, on a board with an NPU."""
        return next((t.simulated for t in self.targets if t.simulated), None)


def _target_lines(target: TargetResult) -> list[str]:
    if target.error is not None:
        return [f"{target.name}: FAILED: {target.error}"]
    if target.difference is not None:
        return [f"DIFFERENT: {target.difference.line()}"]
    figures = [f"{target.runs} runs, {target.bytes_compared:,} bytes"]
    if target.largest_gap:
        figures.append(f"floats within {target.largest_gap:.2g}")
    if target.inner_tensors:
        figures.append(f"{target.inner_tensors} inner tensors")
    if target.unseen_tensors:
        figures.append(f"not the {target.unseen_tensors} inside of subgraphs")
    if target.instructions is not None:
        figures.append(f"{target.instructions:,} instructions per inference")
    if target.stack_bytes is not None:
        figures.append(f"{target.stack_bytes} B of stack")
    lines = [f"{target.name}: equal to the TFLite interpreter ({', '.join(figures)})"]
    if target.accuracy is not None:
        lines.append(f"{target.name}: {100 * target.accuracy:.1f} % of the labels are right")
    return lines
