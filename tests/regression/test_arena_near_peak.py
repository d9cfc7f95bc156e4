"""The arena stays close to the most bytes that are live at once.

Long skips and concatenations fragment greedy arenas; elsewhere they took several times the peak.
"""

from __future__ import annotations

import numpy as np
import pytest

from codegen.pipeline import BuildOptions
from codegen.plan import PlanOptions
from codegen.planner.order import STRATEGIES
from tests.emit.programs import make_build
from tests.regression.nets import PLAIN, Net, inverted_residual, long_skips


def temporal() -> bytes:
    """A temporal network as converters write it: EXPAND_DIMS, CONV_2D, SQUEEZE, repeat."""
    net = Net()
    x = net.input((1, 40, 6))
    for dilation in (1, 2, 4):
        wide = net.result("EXPAND_DIMS", [x, net.integers(1)], (1, 1, 40, 6), PLAIN, 1)
        wide = net.conv(wide, 6, (1, 3), dilation=(1, dilation), quant=PLAIN)
        flat = net.result("SQUEEZE", [wide], (1, 40, 6), PLAIN, 1, squeeze_dims=(1,))
        x = net.binary("ADD", flat, x)
    return net.build(x)


def dense_block() -> bytes:
    """Each layer's result is concatenated to all the ones before it."""
    net = Net()
    x = net.conv(net.input((1, 10, 10, 3)), 6, quant=PLAIN)
    for _ in range(4):
        x = net.concat([x, net.conv(net.conv(x, 8, (1, 1)), 4, quant=PLAIN)], 3)
    return net.build(net.pool(x, (2, 2), (2, 2)))


NETS = {
    "skips": long_skips,
    "residual": inverted_residual,
    "temporal": temporal,
    "dense": dense_block,
}


@pytest.mark.parametrize("order", ["auto", *STRATEGIES])
@pytest.mark.parametrize("name", NETS)
def test_close_to_peak(name: str, order: str) -> None:
    plan = make_build(
        NETS[name](), options=BuildOptions(name="net", plan=PlanOptions(order=order))
    ).plan
    arena = [b for b in plan.buffers if b.home.value == "arena"]
    moments = range(-1, len(plan.layers) + 1)
    peak = max(sum(b.size for b in arena if b.first <= t <= b.last) for t in moments)
    assert plan.lower_bound <= plan.total_arena <= 1.1 * peak
    assert plan.total_arena <= np.sum([b.size for b in arena])
