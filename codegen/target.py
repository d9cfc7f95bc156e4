"""What the generated C is for: facts that decide which form of a kernel an operator becomes."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from codegen.board_schema import Cpu


class Kernels(enum.Enum):
    """Families of kernels, by the instructions that they are written for.

    Every family is C that any compiler takes and gives the same bytes; what differs is the order
    of the packed weights and which core runs it fast.
    """

    PORTABLE = "portable"
    DSP = "dsp"
    MVE = "mve"


class Reference(enum.Enum):
    """The runtime whose bytes the C code gives; docs/numerics_formats.md says where they differ."""

    LITERT = "litert"
    TFLM = "tflm"


class Optimize(enum.Enum):
    """What the C code is to be good at; its results are the same."""

    SPEED = "speed"
    SIZE = "size"


WEIGHTS_GROWTH = 1.1
"""What weights grow at most by default: packed, they have a filled-up group here and there."""


@dataclass(frozen=True)
class Target:
    """What operators are lowered for.

    `weights_growth` is how many times its bytes in the model a filter may take, so as to be faster.
    """

    kernels: Kernels = Kernels.PORTABLE
    reference: Reference = Reference.LITERT
    optimize: Optimize = Optimize.SPEED
    weights_growth: float = WEIGHTS_GROWTH

    @property
    def portable(self) -> Target:
        """The same for any core."""
        return replace(self, kernels=Kernels.PORTABLE)


PORTABLE = Target()
"""Any core; what is asked of an operator where nothing is generated."""


def target_of(
    cpu: Cpu,
    kernels: str = "auto",
    reference: str = "litert",
    optimize: str = "speed",
    weights_growth: float = WEIGHTS_GROWTH,
) -> Target:
    """The target of a core; `kernels` names a family or is "auto" for the core's best."""
    isa = cpu.isa
    best = Kernels.MVE if isa.mve else Kernels.DSP if isa.dsp else Kernels.PORTABLE
    family = best if kernels == "auto" else Kernels(kernels)
    return Target(family, Reference(reference), Optimize(optimize), weights_growth)
