"""Byte counts as people write them: "320KiB" in profiles and options, and back for reports."""

import re

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_PATTERN = re.compile(r"(\d{1,18})(?:\.(\d{1,6}))? ?([A-Za-z]*)")


def parse_size(value: object) -> int:
    """Bytes of an integer or of text such as "4096", "320KiB" or "1.5 MiB".

    Raises ValueError, its text fit for the user, for anything that is not a whole number of bytes.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"must not be negative, but is {value}")
        return value
    match = _PATTERN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[3] not in _UNITS:
        raise ValueError(
            f"must be bytes as an integer, or text such as '320KiB' or '1MiB', not {value!r}"
        )
    fraction = match[2] or ""
    scaled = int(match[1] + fraction) * _UNITS[match[3]]
    divisor: int = 10 ** len(fraction)
    size, rest = divmod(scaled, divisor)
    if rest:
        raise ValueError(f"must be a whole number of bytes, not {value!r}")
    return size


def format_size(size: int) -> str:
    """The size in the largest unit that gives a whole number or at least 10, to one decimal."""
    for unit in ("GiB", "MiB"):
        scale = _UNITS[unit]
        if size >= 10 * scale or (size >= scale and size % scale == 0):
            return _in_unit(size, unit)
    return _in_unit(size, "KiB") if size >= _UNITS["KiB"] else f"{size} B"


def _in_unit(size: int, unit: str) -> str:
    whole, rest = divmod(size, _UNITS[unit])
    return f"{size / _UNITS[unit]:.1f} {unit}" if rest else f"{whole} {unit}"
