"""Cases that LOGISTIC and TANH of int16 are both held against."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.unary import ALL_INT16, SYMMETRIC, Unary, compiled_outputs, random_quant, unary_model
from tests.oracle import run_reference

TYPES = ("int16", "int16")


def assert_int16_equal(op: str, workdir: Path, rng: np.random.Generator) -> None:
    """Every code under scales of all sizes: powers of two, some of them exact, and others."""
    scales = [
        *(2.0**-k for k in range(18)),
        *(random_quant(rng, 1e-6, 5.0)[0] for _ in range(12)),
        float(np.nextafter(np.float32(2.0**-12), np.float32(1))),
        2.0**-12 * 1.0005,
        2.0**-12 * 1.001,
    ]
    data = unary_model([Unary(op, (s, 0), SYMMETRIC, types=TYPES, shape=(65536,)) for s in scales])
    inputs = [ALL_INT16] * len(scales)
    results = compiled_outputs(data, inputs, workdir / "sanitized")
    for scale, raw, wanted in zip(scales, results, run_reference(data, [inputs])[0], strict=True):
        np.testing.assert_array_equal(np.frombuffer(raw, np.int16), wanted, err_msg=str(scale))
    shapes = ((), (3, 5, 7), (2, 1, 3, 2, 4))
    shaped = [Unary(op, (1e-3, 0), SYMMETRIC, types=TYPES, shape=shape) for shape in shapes]
    assert_equal({"shapes": unary_model(shaped)}, workdir / "shapes", rng)
