"""`codegen bench --vs FILE`: ratios against figures that were saved before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codegen.errors import CodegenError


def load_figures(path: Path) -> dict[str, float]:
    """The positive numbers of a JSON object such as `codegen bench --json` prints.

    Raises:
        CodegenError: for a file that cannot be read, is no such object or holds no number.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CodegenError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise CodegenError(f"{path}: is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise CodegenError(f"{path}: is no JSON object; save one with codegen bench --json")
    figures = {
        name: float(value)
        for name, value in document.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    }
    if not figures:
        raise CodegenError(f"{path}: holds no figure; save some with codegen bench --json")
    return figures


def ratios(measured: Mapping[str, Any], saved: Mapping[str, float]) -> dict[str, float]:
    """measured / saved for every figure that both have."""
    return {
        name: round(measured[name] / value, 4)
        for name, value in saved.items()
        if isinstance(measured.get(name), int | float)
    }


def comparison_lines(
    measured: Mapping[str, Any], saved: Mapping[str, float], title: str
) -> Iterator[str]:
    """One line per figure: now, then, ratio."""
    yield f"{f'against {title}':<24}{'now':>14}{'then':>14}{'ratio':>9}"
    for name, ratio in ratios(measured, saved).items():
        yield f"{name:<24}{measured[name]:>14,}{saved[name]:>14,.10g}{ratio:>9.3f}"
