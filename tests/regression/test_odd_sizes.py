"""Sizes that are no multiple of a vector register, ranks and batches that nobody thinks of.

Vector kernels that are called unconditionally, kernels that always read four dimensions, and a
batch taken for 1 gave wrong numbers elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codegen.plan import PlanOptions
from tests.ops.equality import assert_equal
from tests.regression.nets import Net


def dense(shape: tuple[int, ...], units: int, *, keep: bool = False, channels: bool) -> bytes:
    net = Net(units)
    x = net.input(shape)
    return net.build(net.dense(x, units, keep_num_dims=keep, per_channel=channels))


def test_dense_layers(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {
        f"{depth} to {units} {channels}": dense((1, depth), units, channels=channels)
        for depth, units in ((1280, 2), (10, 1), (7, 3), (33, 17), (1, 1), (255, 9))
        for channels in (False, True)
    }
    cases["kept dimensions"] = dense((1, 9, 9, 16), 3, keep=True, channels=True)
    cases["one dimension"] = dense((13,), 4, channels=False)
    plan = PlanOptions(caller_io=True)
    assert_equal(cases, tmp_path, rng, samples=2, sanitize=True, plan=plan)


def batch_chain(batch: int) -> bytes:
    """Convolution, depthwise, pool and dense layer, all of several images."""
    net = Net(batch)
    x = net.conv(net.input((batch, 8, 9, 3)), 4, stride=(2, 2))
    x = net.conv(x, 8, depthwise=True)
    x = net.pool(x, (2, 2), (2, 2), kind="AVERAGE_POOL_2D", padding="VALID")
    return net.build(net.dense(net.reshape(x, (batch, 2 * 2 * 8)), 5, per_channel=True))


def test_batches(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(batch): batch_chain(batch) for batch in (1, 2, 3, 7)}
    assert_equal(cases, tmp_path, rng, samples=2, sanitize=True)


def long_rows() -> bytes:
    """Rows of more than 64 KiB, which overflow 16-bit lengths and positions."""
    net = Net()
    x = net.input((1, 2, 35001, 2))
    y = net.conv(x, 2, (2, 3), quant=net.quant(x))
    both = net.concat([net.binary("ADD", x, y), y], 3)
    parts = net.split(both, 3, 2)
    return net.build(net.pool(parts[2], (2, 5), (1, 4)), net.split(parts[1], 2, 3)[1])


def test_long_rows(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_equal({"long": long_rows()}, tmp_path, rng, samples=1, sanitize=True)
