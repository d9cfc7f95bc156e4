"""What a second run sees: the header states whether inputs survive, and run() keeps to it.

Callers that filled only a part of the input between runs got other numbers than the interpreter,
because later layers had reused the memory of the rest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.pipeline import Build, BuildOptions
from codegen.plan import PlanOptions
from tests import oracle
from tests.emit.programs import make_build, run_c, write
from tests.regression.nets import Net

MAIN = """
#include <stdio.h>
#include <string.h>
#include "net.h"

static int32_t show(void)
{
    const int8_t *y = (const int8_t *)net_output(0);
    for (int32_t i = 0; i < NET_OUTPUT_0_ELEMENTS; i++) {
        printf("%d ", y[i]);
    }
    printf("\\n");
    return 0;
}

int main(void)
{
    if (net_init() != NET_OK) {
        return 1;
    }
    int8_t *x = (int8_t *)net_input(0);
    for (int32_t i = 0; i < NET_INPUT_0_ELEMENTS; i++) {
        x[i] = (int8_t)(i % 200 - 100);
    }
    if (net_run() != NET_OK || show() || net_run() != NET_OK || show()) {
        return 2;
    }
    x[7] = 99;
    return net_run() != NET_OK || show();
}
"""


def three_layers() -> bytes:
    net = Net()
    x = net.conv(net.input((1, 8, 8, 4)), 4)
    return net.build(net.pool(net.conv(x, 8, depthwise=True), (2, 2), (2, 2)))


def built(*, keep_input: bool, order: str = "auto") -> Build:
    plan = PlanOptions(keep_input=keep_input, order=order)
    return make_build(three_layers(), options=BuildOptions(name="net", plan=plan))


def test_kept_inputs(tmp_path: Path) -> None:
    write(built(keep_input=True).files, tmp_path)
    (tmp_path / "main.c").write_text(MAIN)
    printed = run_c(tmp_path, [tmp_path / f for f in ("main.c", "net.c", "net_weights.c")])
    got = [[int(v) for v in line.split()] for line in printed.splitlines()]
    first = (np.arange(256) % 200 - 100).astype(np.int8).reshape(1, 8, 8, 4)
    changed = first.copy()
    changed.reshape(-1)[7] = 99
    wanted = oracle.run_reference(three_layers(), [[first], [first], [changed]])
    assert got == [outputs[0].reshape(-1).tolist() for outputs in wanted]


@pytest.mark.parametrize("order", ["auto", "model"])
def test_keeping_costs_memory_and_the_header_says_which_it_is(order: str) -> None:
    kept, reused = (built(keep_input=keep, order=order) for keep in (True, False))
    assert kept.plan.total_arena > reused.plan.total_arena
    assert "Inputs stay as they are" in kept.files["net.h"]
    assert "run() consumes the inputs" in reused.files["net.h"]
