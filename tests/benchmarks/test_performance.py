"""docs/performance.md says what `codegen bench` measures."""

from __future__ import annotations

import shutil

import pytest

from tests.benchmarks.performance import DOCUMENT, MODES, figure_row, replaced, sections
from tests.paths import requires_models


def test_every_table_has_its_place() -> None:
    """The marks are those that the command looks for, and no table is missing."""
    text = DOCUMENT.read_text(encoding="utf-8")
    names = [*sections({}), "mps2-an386 peers", "mps3-an547 peers"]
    for name in names:
        assert replaced(text, name, iter(["| none |"])) != text, name
    assert text.count("<!-- end -->") == len(names)


def test_places_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="section 'layers' stands 0 times"):
        replaced("no marks", "layers", iter(()))


@requires_models
@pytest.mark.emulator
@pytest.mark.parametrize("optimize", MODES)
def test_figures_are_those_of_the_code(optimize: str) -> None:
    if not all(map(shutil.which, ("arm-none-eabi-gcc", "qemu-system-arm"))):
        pytest.skip("the Arm compiler or QEMU is not installed")
    row = figure_row("ad", "mps2-an386", optimize)
    again = "run python -m tests.benchmarks.performance mps2-an386"
    assert row in DOCUMENT.read_text(encoding="utf-8").splitlines(), f"{row}\n{again}"
