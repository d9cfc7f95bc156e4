"""What the generated C is for: facts that decide which form of a kernel an operator becomes."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from codegen.board_schema import Cpu


class Kernels(enum.Enum):
    """Families of kernels, by the instructions that they are written for.

    Every family is C that any compiler takes and gives the same bytes; what differs is the order
    of the packed weights and which core runs it fast.
    """

    PORTABLE = "portable"
    DSP = "dsp"
    MVE = "mve"


@dataclass(frozen=True)
class Target:
    """What operators are lowered for."""

    kernels: Kernels = Kernels.PORTABLE


PORTABLE = Target()
"""Any core; what is asked of an operator where nothing is generated."""


def target_of(cpu: Cpu, kernels: str = "auto") -> Target:
    """The target of a core; `kernels` names a family or is "auto" for the core's best."""
    if kernels != "auto":
        return Target(Kernels(kernels))
    isa = cpu.isa
    return Target(Kernels.MVE if isa.mve else Kernels.DSP if isa.dsp else Kernels.PORTABLE)
