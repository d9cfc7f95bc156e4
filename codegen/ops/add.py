"""ADD with broadcasting and a fused activation.

Maths, codes: TFLite's reference `Add`: operands with 20 more bits (int16: 15) at twice the larger
scale, two roundings at each of the three changes of scale. int16 scales that are all powers of two
have an arithmetic of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.fixed_point import requantize_twice
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, OpSpec, table
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.codes import CODES, SUFFIXES
from codegen.ops.float32 import float_binary
from codegen.ops.forms import Params
from codegen.ops.int16 import require_symmetric
from codegen.ops.integers import INTEGERS, integer_binary
from codegen.ops.requantize import (
    clamp_bounds,
    clamp_params,
    common_scale,
    common_scale_params,
    fused_activation,
)
from codegen.ops.sigmoid16 import near_power_of_two
from codegen.target import Kernels

Operands = tuple[Tensor, Tensor, Tensor]

TYPES = (*CODES, *INTEGERS, DType.FLOAT32)

_EXTRA_BITS = {DType.INT8: 20, DType.UINT8: 20, DType.INT16: 15}
_EXACT_HALF = (2**30, 0)  # the factor 1/2, of the operand with the larger scale
_LARGEST_TABLED_SHIFT = 21  # twice a code stays below 2**30
_LARGEST_SHIFT = 15  # of the 16 bits that the reference shifts in


def sum_of(context: OpContext, sign: int) -> Lowered:
    """a + sign * b.

    Shapes: a and b of any shapes that broadcast -> y of the common one.
    """
    operands = a, b, y = operands_of(context, *TYPES)
    name = "add" if sign > 0 else "sub"
    if a.dtype is DType.FLOAT32:
        return float_binary(context, f"cg_{name}_f32", operands)
    if a.dtype in INTEGERS:
        return integer_binary(context, name, operands)
    exponents = None
    if a.dtype is DType.INT16:
        require_symmetric(context, *operands)
        exponents = _powers_of_two(context, operands)
    if exponents:
        kernel = Kernel("cg_add_powers_s16", "cg_add.h", "cg_add_powers_args")
        params = _shifts(context, exponents)
        params = (("sign", sign), *params)
    else:
        kernel = Kernel(f"cg_add_{SUFFIXES[a.dtype]}", "cg_add.h", "cg_add_args")
        factors = _factors(context, operands)
        params = (("sign", sign), *factors)
        tabled = _tabled(context, dict(factors), sign) if _wants_table(context, a) else None
        if tabled is not None:
            kernel = Kernel("cg_add_table_s8", "cg_add_table.h", "cg_add_table_args")
            params = tabled
    params = (*params, *clamp_params(context, y))
    words = (operand_summary(a, b, y), fused_activation(context))
    return Lowered(
        calls=broadcast_calls(kernel, operands, params), summary=" ".join(filter(None, words))
    )


def _wants_table(context: OpContext, a: Tensor) -> bool:
    return a.dtype is DType.INT8 and context.target.kernels is Kernels.DSP


def _tabled(context: OpContext, factors: Mapping[str, int], sign: int) -> Params | None:
    """The constants of cg_add_table.h for those of `_factors`; None if they have no room there."""
    table_of_a = (factors["a_multiplier"], factors["a_shift"]) != _EXACT_HALF
    other, exact = ("a", "b") if table_of_a else ("b", "a")
    right = -factors["shift"]
    if not 1 <= right <= _LARGEST_TABLED_SHIFT:
        return None
    signs = {"a": 1, "b": sign}
    extra = _EXTRA_BITS[DType.INT8]
    relu = clamp_bounds(context, context.output())[0] >= factors["output_offset"]
    times = 4 if relu else 2
    unit = (signs[exact] << extra) * times // 2
    multiplier, shift = factors[f"{other}_multiplier"], factors[f"{other}_shift"]
    scaled = [
        requantize_twice((code + factors[f"{other}_offset"]) << extra, multiplier, shift)
        for code in range(-128, 128)
    ]
    sums = [times * signs[other] * value + unit * factors[f"{exact}_offset"] for value in scaled]
    return (
        ("table_of_a", int(table_of_a)),
        ("unit", unit),
        ("table", table(np.array(sums, np.int32))),
        ("multiplier", factors["multiplier"]),
        ("shift", right),
        ("output_offset", factors["output_offset"]),
    )


def _factors(context: OpContext, operands: Operands) -> tuple[tuple[str, int], ...]:
    """Offsets, and factors from the operands to the common scale and from there to the output."""
    a, b, y = (context.require_quant(t) for t in operands)
    extra = 2 ** _EXTRA_BITS[operands[0].dtype]
    return common_scale_params(context, a, b, y, common_scale(a, b) / (extra * y.scale))


def _powers_of_two(context: OpContext, operands: Operands) -> tuple[int, ...] | None:
    """The exponents of the scales where the reference takes them for powers of two."""
    scales = [context.require_quant(t).scale for t in operands]
    exponents = tuple(e for e in map(near_power_of_two, scales) if e is not None)
    wanted = bool(context.option("pot_scale_int16", True))
    return exponents if wanted and len(exponents) == len(scales) else None


def _shifts(context: OpContext, exponents: tuple[int, ...]) -> Params:
    """How far each operand is shifted to the right, which is 0 for one of them at least.

    Raises:
        Unsupported: for other scales, which the reference refuses.
    """
    a, b, y = exponents
    shifts = (y - a, y - b)
    if min(shifts) != 0 or max(shifts) > _LARGEST_SHIFT:
        raise context.unsupported(
            f"its scales are 2^{a}, 2^{b} and 2^{y}, powers of two that do not fit together",
            "quantise the model again",
        )
    return (("a_shift", shifts[0]), ("b_shift", shifts[1]))


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    return sum_of(context, 1)


SPEC = OpSpec(
    name="ADD",
    max_version=5,
    lower=lower,
    types=TYPES,
    notes="broadcasting, fused activation",
)
