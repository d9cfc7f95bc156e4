"""Models of one operator that moves data, for the tests of such operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.pipeline import build
from tests.tflite_builder import ModelBuilder, OptionValue

# Types that only differ in their size to these operators; quantised ones carry a scale.
TYPES = ("int8", "uint8", "int16", "int32", "int64", "float32", "bool")
SCALES = {"int8": (0.1, -5), "uint8": (0.1, 130), "int16": (0.1, 0)}


def quant(dtype: str) -> dict[str, Any]:
    """Keyword arguments of `ModelBuilder.tensor` that give a tensor its usual quantisation."""
    scale = SCALES.get(dtype)
    return {} if scale is None else {"scale": scale[0], "zero_point": scale[1]}


def moving_model(
    op: str,
    x_shape: Sequence[int],
    y_shapes: Sequence[Sequence[int]],
    constants: Sequence[Any] = (),
    *,
    dtype: str = "int8",
    constants_first: bool = False,
    constant_type: str = "int32",
    **options: OptionValue,
) -> bytes:
    """One operator with the input `x`, constant integer operands, and one tensor per output."""
    builder = ModelBuilder()
    x = builder.tensor(x_shape, dtype, **quant(dtype))
    operands = [
        builder.tensor(np.shape(values), constant_type, data=np.asarray(values))
        for values in constants
    ]
    outputs = [builder.tensor(shape, dtype, **quant(dtype)) for shape in y_shapes]
    inputs = [*operands, x] if constants_first else [x, *operands]
    builder.op(op, inputs, outputs, **options)
    return builder.build([x], outputs)


def assert_refused(data: bytes, message: str) -> None:
    """Building ends in one line that matches `message` and names the operator."""
    with pytest.raises(CodegenError, match=message) as caught:
        build(parse_model(data), "case", load_board("host"))
    assert str(caught.value).startswith("operator 0 ")
    assert "\n" not in str(caught.value)


def layer_notes(data: bytes) -> list[str]:
    """Note of every layer in the plan ("view: ...", "in place" or nothing)."""
    plan = build(parse_model(data), "case", load_board("host")).plan
    return [layer.note for layer in plan.layers]
