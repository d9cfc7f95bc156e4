"""The header's helper for one value gives the code that the QUANTIZE which it replaces gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.pipeline import BuildOptions
from tests import oracle
from tests.emit.programs import make_build, run_c, write
from tests.tflite_builder import ModelBuilder

MAIN = """
#include <stdio.h>
#include "net.h"

int main(void)
{
    float value;
    while (fread(&value, sizeof value, 1, stdin) == 1) {
        printf("%d\\n", net_quantize_input_0(value));
    }
    return 0;
}
"""


def border(count: int, dtype: str, scale: float, zero_point: int) -> bytes:
    """float[count] -> QUANTIZE -> RELU6 -> codes[count]."""
    builder = ModelBuilder()
    x = builder.tensor((count,), "float32")
    codes, y = (builder.tensor((count,), dtype, scale, zero_point) for _ in range(2))
    builder.op("QUANTIZE", [x], [codes])
    builder.op("RELU6", [codes], [y])
    return builder.build([x], [codes, y])


def coded_border(dtype: str, scale: float, zero_point: int) -> tuple[bytes, BuildOptions]:
    """A build whose border is codes: of int8 because QUANTIZE is left out, else by itself."""
    builder = ModelBuilder()
    x = builder.tensor((1,), "float32")
    inner, y = (builder.tensor((1,), dtype, scale, zero_point) for _ in range(2))
    builder.op("RELU6", [inner], [y])
    if dtype != "int8":
        return builder.build([inner], [y]), BuildOptions(name="net")
    builder.op("QUANTIZE", [x], [inner])
    return builder.build([x], [y]), BuildOptions(name="net", io="int8")


@pytest.mark.parametrize(
    ("dtype", "scale", "zero_point"),
    [
        ("int8", 0.5, -3),
        ("int8", 0.1, 100),
        ("int8", 0.0078125, -128),
        ("uint8", 0.1, 130),
        ("int16", 0.01, 0),
    ],
)
def test_helper_equals_quantize(
    dtype: str, scale: float, zero_point: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    ties = (np.arange(-300, 300) + 0.5) * np.float32(scale)
    near = [np.nextafter(ties.astype(np.float32), np.float32(v)) for v in (-1e9, 1e9)]
    far = [1e6, -1e6, 3e8, -3e8]
    values = np.concatenate([ties, *near, rng.normal(0, 40 * scale, 500), far]).astype(np.float32)
    values = values[np.abs(values / np.float32(scale)) < 2**30]
    ((codes, _),) = oracle.run_reference(border(values.size, dtype, scale, zero_point), [[values]])
    data, options = coded_border(dtype, scale, zero_point)
    write(make_build(data, options=options).files, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    sources = [tmp_path / f for f in ("main.c", "net.c", "net_weights.c")]
    got = run_c(tmp_path, sources, stdin=values.tobytes())
    assert [int(line) for line in got.split()] == codes.tolist()
