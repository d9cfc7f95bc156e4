"""RELU6: min(max(x, 0), 6) as an operator of its own; the arithmetic is RELU's."""

from __future__ import annotations

from codegen.fixed_point import activation_range, quantize_multiplier
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.codes import CODES
from codegen.ops.lookup import lookup, typed_pair
from codegen.ops.relu import TYPES, clamped
from codegen.ops.rescale import Rescaling, rescaled
from codegen.target import Reference


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    if context.target.reference is Reference.TFLM and context.input(0).dtype is not DType.FLOAT32:
        return _clamped_codes(context)
    return clamped(context, "RELU6")


def _clamped_codes(context: OpContext) -> Lowered:
    """As TFLite Micro does it: codes stay as they are, whatever the output's scale."""
    x, y = typed_pair(context, *CODES)
    quant = context.require_quant(x)
    low, high = activation_range("RELU6", quant, x.dtype)
    if x.dtype is DType.INT16:
        one = quantize_multiplier(1.0)
        return rescaled(context, x, y, Rescaling(one, one, (low, high)))
    return lookup(x, y, lambda code: min(max(code, low), high))


SPEC = OpSpec(
    name="RELU6",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
