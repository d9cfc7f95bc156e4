"""An operator's portable kernel beside those that are written for the target's instructions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, Lowered, OpContext
from codegen.ops.spatial import Window
from codegen.target import Kernels

PORTABLE_INSTRUCTIONS = 9
"""Per multiply-accumulate of a portable kernel."""


FormsOf = Callable[[OpContext, Tensor, Tensor, Tensor, Window], tuple[Call, ...]]
"""The forms of a convolution of x with a filter to y in one family of kernels; maybe none."""


def convolution_forms(
    context: OpContext,
    families: Mapping[Kernels, FormsOf],
    tensors: tuple[Tensor, Tensor, Tensor],
    view: Window,
) -> tuple[Call, ...]:
    """The forms in the target's family; the portable family's where that one has none."""
    for kernels in dict.fromkeys((context.target.kernels, Kernels.PORTABLE)):
        if forms := families[kernels](context, *tensors, view):
            return forms
    return ()


def with_fast_forms(
    lowered: Lowered, fast: Sequence[Call], portable_instructions: int = PORTABLE_INSTRUCTIONS
) -> Lowered:
    """The portable form with faster ones as alternatives, each a single call with its cost.

    `portable_instructions` is what the portable form takes per multiply-accumulate. Where a fast
    form asks for no more memory than the portable one, that one is left out.
    """
    if not fast:
        return lowered
    (portable,) = lowered.calls
    cost = max(1, lowered.macs) * portable_instructions
    forms = list(fast)
    if not any(_spare(call) <= _spare(portable) for call in fast):
        forms.append(replace(portable, cost=cost))
    leanest, *others = sorted(forms, key=_spare)
    return replace(lowered, calls=(leanest,), alternatives=tuple((call,) for call in others))


def _spare(call: Call) -> int:
    """Elements that a call takes beyond the larger one of its input and output, if they overlap."""
    apart = min(math.prod(access.extent) for access in (*call.inputs, *call.outputs))
    promises = {access.alias for access in call.inputs}
    if Alias.NONE in promises:
        return call.scratch + apart
    _, _, width, channels = call.outputs[0].extent
    rows = call.rows_per_step * width * channels if Alias.ROW in promises else 0
    return call.scratch + min(rows, apart)
