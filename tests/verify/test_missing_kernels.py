"""Operators that LiteRT's reference kernels lack are compared with its other kernels."""

from __future__ import annotations

import numpy as np

from codegen.verify.reference import Reference
from tests.zoo import without_reference


def test_ceil_elu_round() -> None:
    x = np.array([[-2.5, -1.5, -0.4, 0.4, 0.5, 1.5, 2.5, -3.0]], np.float32)
    reference = Reference(without_reference(), [x.shape])
    values = reference.run([x], range(4))
    up, elu, rounded = (values[t] for t in (1, 2, 3))
    np.testing.assert_array_equal(up, np.ceil(x))
    np.testing.assert_allclose(elu, np.where(up < 0, np.expm1(up), up), rtol=1e-6)
    np.testing.assert_array_equal(rounded, np.rint(elu))
