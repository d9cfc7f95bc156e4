"""`--memory`: how much more than the least an arena may take for the sake of speed."""

from __future__ import annotations

from collections.abc import Callable

from codegen.errors import CodegenError

MODES: dict[str, Callable[[int], int | None]] = {
    "min": lambda least: least,
    "balanced": lambda least: least * 11 // 10,
    "max": lambda least: None,
}


def granted(mode: str, least: int) -> int | None:
    """Bytes that the arenas may take if `least` is the least they can; None: all there are.

    Raises:
        CodegenError: for an unknown mode.
    """
    if mode not in MODES:
        raise CodegenError(f"unknown memory mode {mode!r}; choose {', '.join(MODES)}")
    return MODES[mode](least)
