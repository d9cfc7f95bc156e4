"""The family of kernels follows the core unless the user names one."""

from __future__ import annotations

import pytest

from codegen.board_schema import Cpu
from codegen.target import Kernels, Optimize, Target, target_of


@pytest.mark.parametrize(
    ("core", "family"),
    [
        ("cortex-m0plus", Kernels.PORTABLE),
        ("cortex-m4", Kernels.DSP),
        ("cortex-m55", Kernels.MVE),
        ("host", Kernels.PORTABLE),
    ],
)
def test_target_follows_core(core: str, family: Kernels) -> None:
    cpu = Cpu.model_validate({"core": core, "clock_hz": 1_000_000})
    assert target_of(cpu).kernels is family


def test_goal_is_the_users() -> None:
    cpu = Cpu.model_validate({"core": "cortex-m4", "clock_hz": 1_000_000})
    assert target_of(cpu).optimize is Optimize.SPEED
    assert target_of(cpu, optimize="size") == Target(Kernels.DSP, optimize=Optimize.SIZE)


def test_named_family_wins_over_the_core() -> None:
    cpu = Cpu.model_validate({"core": "cortex-m55", "clock_hz": 1_000_000})
    assert target_of(cpu, "portable").kernels is Kernels.PORTABLE
