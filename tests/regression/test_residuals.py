"""Residual blocks: each convolution may be right and their sum still wrong.

Operands whose scales and zero points are far apart, the same tensor twice, a constant operand, and
all of that while the planner lets the sum overwrite one of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.plan import PlanOptions
from tests.ops.equality import assert_equal
from tests.regression.nets import Net, Quant, inverted_residual, long_skips


def residual(kind: str, skip: Quant, branch: Quant, out: Quant) -> bytes:
    net = Net()
    x = net.conv(net.input((1, 6, 5, 3), (0.1, 90)), 4, quant=skip)
    y = net.conv(net.conv(x, 8, quant=(0.3, -128)), 4, quant=branch)
    return net.build(net.binary(kind, x, y, out))


def same_twice(kind: str) -> bytes:
    net = Net()
    x = net.conv(net.input((2, 5, 5, 2)), 3)
    return net.build(net.binary(kind, x, x, (0.7, -4)))


def with_constant(kind: str, shape: tuple[int, ...]) -> bytes:
    net = Net()
    x = net.conv(net.input((1, 5, 4, 2)), 3)
    return net.build(net.binary(kind, net.constant(shape, (4.0, 100)), x, (1.0, 0)))


@pytest.mark.parametrize("keep_input", [False, True])
def test_sums(keep_input: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    far, near = (1.0, 90), (0.02, -128)
    cases = {}
    for kind in ("ADD", "SUB", "MUL"):
        cases[f"{kind} 50 to 1"] = residual(kind, far, near, (0.8, 3))
        cases[f"{kind} 1 to 50"] = residual(kind, near, far, (1.5, -100))
        cases[f"{kind} twice"] = same_twice(kind)
        for shape in ((1, 5, 4, 3), (3,), (1, 5, 1, 1), ()):
            cases[f"{kind} constant {shape}"] = with_constant(kind, shape)
    cases["inverted"] = inverted_residual()
    cases["skips"] = long_skips()
    assert_equal(cases, tmp_path, rng, plan=PlanOptions(keep_input=keep_input))
