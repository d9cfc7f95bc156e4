"""An operator's portable kernel beside those that are written for the target's instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.ops.base import Call, Lowered

PORTABLE_INSTRUCTIONS = 9
"""Per multiply-accumulate of a portable kernel."""


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
    forms = [(call,) for call in fast]
    if not any(_as_lean(call, portable) for call in fast):
        forms.insert(0, (replace(portable, cost=cost),))
    return replace(lowered, calls=forms[0], alternatives=tuple(forms[1:]))


def _as_lean(call: Call, portable: Call) -> bool:
    promises = [access.alias for access in call.inputs] == [a.alias for a in portable.inputs]
    return promises and call.scratch <= portable.scratch and call.rows_per_step == 1
