"""Files that LiteRT refuses for a harmless flaw can be compared all the same."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.verify.reference import Reference
from tests.oracle import make_reference_interpreter
from tests.tflite_builder import ModelBuilder


def late_tile() -> tuple[bytes, int]:
    """int8[1,2] repeated to int8[2,6] by a version that the reference kernels do not list."""
    builder = ModelBuilder()
    x = builder.tensor((1, 2), "int8", 0.1)
    times = builder.tensor((2,), "int32", data=[2, 3])
    y = builder.tensor((2, 6), "int8", 0.1)
    builder.op("TILE", [x, times], [y], version=3)
    return builder.build([x], [y]), y


def stray_axis() -> tuple[bytes, int]:
    """A bias whose quantised axis is that of the weights."""
    builder = ModelBuilder()
    x = builder.tensor((1, 1, 1, 2), "int8", 0.1)
    w = builder.tensor((1, 1, 1, 2), "int8", [0.1, 0.2], data=[1, 2], axis=3)
    bias = builder.tensor((2,), "int32", [0.01, 0.02], data=[5, 6], axis=3)
    y = builder.tensor((1, 1, 1, 2), "int8", 0.1)
    options = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "depth_multiplier": 1}
    builder.op("DEPTHWISE_CONV_2D", [x, w, bias], [y], version=3, **options)
    return builder.build([x], [y]), y


def test_a_version_of_tile_that_is_not_listed() -> None:
    data, y = late_tile()
    with pytest.raises(ValueError, match="version '3'"):
        make_reference_interpreter(data)
    codes = np.array([[3, -4]], np.int8)
    found = Reference(data, [(1, 2)]).run([codes], [y])[y]
    np.testing.assert_array_equal(found, np.tile(codes, (2, 3)))


def test_an_axis_outside_of_the_tensor() -> None:
    data, y = stray_axis()
    with pytest.raises(ValueError, match="quantized_dimension must be in range"):
        make_reference_interpreter(data)
    codes = np.array([[[[30, 40]]]], np.int8)
    found = Reference(data, [(1, 1, 1, 2)]).run([codes], [y])[y]
    np.testing.assert_array_equal(found, [[[[4, 17]]]])
