"""Inputs on which a loop of the model does not end: the interpreter must never be given them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from codegen.errors import NoAnswer
from codegen.verify.inputs import InputSet
from codegen.verify.program import build_host_program
from codegen.verify.sources import GeneratedSources

PATIENCE = 2.0
"""Seconds after which a run is taken to be endless."""


def ending(
    sources: GeneratedSources, sets: Sequence[InputSet], patience: float = PATIENCE
) -> list[InputSet]:
    """The sets on which run() of the generated code ends.

    Raises:
        ToolError: if the code cannot be compiled, or fails in another way.
    """
    kept = []
    with (
        tempfile.TemporaryDirectory(prefix="codegen-") as folder,
        build_host_program([sources], Path(folder), timeout=patience) as program,
    ):
        for values in sets:
            try:
                program.run(0, [value.tobytes() for value in values])
            except NoAnswer:
                continue
            kept.append(values)
    return kept
