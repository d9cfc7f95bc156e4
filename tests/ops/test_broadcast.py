"""How operands of unequal shapes become calls, views and loops."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.ops.base import Alias
from codegen.plan import KernelStep, Loop, Plan
from codegen.planner.build import build_plan
from tests.ops.binary import Binary, Shape, binary_model, lowered
from tests.tflite_builder import ModelBuilder


def plan_of(a: Shape, b: Shape, rng: np.random.Generator) -> Plan:
    model = parse_model(binary_model([Binary("ADD", a=a, b=b)], rng))
    return build_plan(model.main, load_board("host"))


@pytest.mark.parametrize("b", [(3, 4, 5, 6), (), (1, 1)])
def test_equal_shapes_and_scalars_run_as_one_row(b: Shape, rng: np.random.Generator) -> None:
    (step,) = plan_of((3, 4, 5, 6), b, rng).layers[0].steps
    assert isinstance(step, KernelStep)
    assert (step.range.y1, step.range.x1, step.range.c1) == (1, 1, 3 * 4 * 5 * 6)


def test_an_operand_of_one_image_stays_where_it_is(rng: np.random.Generator) -> None:
    """Only the other operand and the output move with the loop over the batch."""
    (loop,) = plan_of((3, 4, 5, 6), (4, 5, 6), rng).layers[0].steps
    assert isinstance(loop, Loop) and loop.count == 3
    (step,) = loop.body
    assert isinstance(step, KernelStep)
    moves = [view.offset.terms for view in (*step.inputs, *step.outputs)]
    assert moves == [(("n", 120),), (), (("n", 120),)]


def test_only_operands_as_large_as_the_output_may_be_overwritten(rng: np.random.Generator) -> None:
    (call,) = lowered(Binary("ADD", a=(1, 4, 5, 6), b=(4, 1, 6)), rng).calls
    assert [access.alias for access in call.inputs] == [Alias.ELEMENT, Alias.NONE]
    assert [access.rows.rows(2, 4) for access in call.inputs] == [(2, 3), (2, 3)]
    (call,) = lowered(Binary("ADD", a=(1, 4, 5, 6), b=(1, 5, 6)), rng).calls
    assert [access.rows.rows(2, 4) for access in call.inputs] == [(2, 3), (0, 1)]


def test_what_does_not_merge_into_four_dimensions_becomes_several_calls(
    rng: np.random.Generator,
) -> None:
    merged = lowered(Binary("ADD", a=(2, 3, 4, 5, 6), b=(1, 1, 4, 5, 6)), rng)
    assert len(merged.calls) == 1
    apart = lowered(Binary("ADD", a=(2, 3, 4, 5, 6), b=(1, 3, 1, 5, 1)), rng)
    boxes = [call.outputs[0].box for call in apart.calls]
    assert [box.start[0] for box in boxes if box] == [0, 3]


def test_shapes_that_do_not_broadcast_are_refused(rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    a = builder.tensor((2, 3), "int8", 0.1, 0)
    b = builder.tensor((2, 4), "int8", 0.1, 0)
    y = builder.tensor((2, 4), "int8", 0.1, 0)
    builder.op("MAXIMUM", [a, b], [y])
    model = parse_model(builder.build([a, b], [y]))
    with pytest.raises(CodegenError, match=r"operator 0 MAXIMUM: .*do not broadcast"):
        build_plan(model.main, load_board("host"))


def test_an_output_of_another_shape_is_refused() -> None:
    builder = ModelBuilder()
    a = builder.tensor((2, 3), "int8", 0.1, 0)
    y = builder.tensor((2, 4), "int8", 0.1, 0)
    builder.op("MUL", [a, a], [y])
    model = parse_model(builder.build([a], [y]))
    with pytest.raises(CodegenError, match=r"operator 0 MUL: .*where the operator makes \[2, 3\]"):
        build_plan(model.main, load_board("host"))
