"""Tables in C hold the bytes that they are printed from, whatever their type and values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen.emit.literals import C_TYPES, array_lines, array_type
from tests.emit.programs import run_c

PROGRAM = """
#include <stdint.h>
#include <stdio.h>

{tables}
static void show(const void *table, unsigned long size)
{{
    for (unsigned long i = 0; i < size; i++) {{
        printf("%02x", ((const unsigned char *)table)[i]);
    }}
    printf("\\n");
}}

int main(void)
{{
{calls}
    return 0;
}}
"""


def _tables() -> dict[str, NDArray[np.generic]]:
    """Extremes and a few values in between for every type that numpy and C both have."""
    found: dict[str, NDArray[np.generic]] = {"bool": np.array([True, False])}
    for dtype in {d.numpy for d in C_TYPES} - {None, np.dtype(bool)}:
        assert dtype is not None
        if dtype.kind == "f":
            info = np.finfo(dtype)
            values = [0.0, -0.0, 0.1, -1 / 3, 3, info.max, info.min, info.tiny, np.inf, -np.inf]
            found[dtype.name] = np.array(values, dtype)
        else:
            limits = np.iinfo(dtype)
            found[dtype.name] = np.array([limits.min, limits.max, 0, 1, limits.max // 3], dtype)
    return found


def test_every_type(tmp_path: Path) -> None:
    tables = _tables()
    assert len(tables) >= 12
    text = "".join(
        f"static const {array_type(values)} t_{name}[] = {{\n"
        + "\n".join(array_lines(values))
        + "};\n"
        for name, values in tables.items()
    )
    calls = "\n".join(f"    show(t_{name}, sizeof t_{name});" for name in tables)
    (tmp_path / "main.c").write_text(PROGRAM.format(tables=text, calls=calls))
    printed = run_c(tmp_path, [tmp_path / "main.c"]).split()
    assert printed == [values.tobytes().hex() for values in tables.values()]
