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


def border(count: int, scale: float, zero_point: int) -> bytes:
    """float[count] -> QUANTIZE -> RELU6 -> int8[count]."""
    builder = ModelBuilder()
    x = builder.tensor((count,), "float32")
    codes, y = (builder.tensor((count,), "int8", scale, zero_point) for _ in range(2))
    builder.op("QUANTIZE", [x], [codes])
    builder.op("RELU6", [codes], [y])
    return builder.build([x], [codes, y])


@pytest.mark.parametrize(("scale", "zero_point"), [(0.5, -3), (0.1, 100), (0.0078125, -128)])
def test_helper_equals_quantize(
    scale: float, zero_point: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    ties = (np.arange(-300, 300) + 0.5) * np.float32(scale)
    near = [np.nextafter(ties.astype(np.float32), np.float32(v)) for v in (-1e9, 1e9)]
    far = [1e6, -1e6, 3e8, -3e8]
    values = np.concatenate([ties, *near, rng.normal(0, 40 * scale, 500), far]).astype(np.float32)
    values = values[np.abs(values / np.float32(scale)) < 2**30]
    ((codes, _),) = oracle.run_reference(border(values.size, scale, zero_point), [[values]])
    # The helper needs a build whose border is int8, so the codes are no output of this one.
    builder = ModelBuilder()
    x = builder.tensor((1,), "float32")
    inner, y = (builder.tensor((1,), "int8", scale, zero_point) for _ in range(2))
    builder.op("QUANTIZE", [x], [inner])
    builder.op("RELU6", [inner], [y])
    options = BuildOptions(name="net", io="int8")
    write(make_build(builder.build([x], [y]), options=options).files, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    sources = [tmp_path / f for f in ("main.c", "net.c", "net_weights.c")]
    got = run_c(tmp_path, sources, stdin=values.tobytes())
    assert [int(line) for line in got.split()] == codes.tolist()
