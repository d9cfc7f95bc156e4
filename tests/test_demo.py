"""The shipped demo model is what docs/demo/README.md says it is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.oracle import make_interpreter, run_reference

DEMO = Path(__file__).parents[1] / "docs" / "demo"
README = (DEMO / "README.md").read_text()


def _stated(pattern: str) -> str:
    """Return the only number that `pattern`'s group finds in the README."""
    (number,) = re.findall(pattern, README)
    return str(number)


def test_shipped_samples_reach_the_stated_accuracy() -> None:
    with np.load(DEMO / "digits_samples.npz") as samples:
        images, labels = samples["input"], samples["labels"]
    assert images.shape == (100, 8, 8, 1)
    assert images.dtype == np.int8
    outputs = run_reference((DEMO / "digits.tflite").read_bytes(), [[i[None]] for i in images])
    digits = np.array([scores.argmax() for (scores,) in outputs])
    accuracy = 100 * float((digits == labels).mean())
    assert accuracy == float(_stated(r"the 100 shipped images \| ([\d.]+) %"))
    assert accuracy >= 96


def test_every_digit_is_among_the_samples() -> None:
    with np.load(DEMO / "digits_samples.npz") as samples:
        assert set(samples["labels"].tolist()) == set(range(10))


@pytest.mark.parametrize("name", ["digits.tflite", "digits_samples.npz"])
def test_file_sizes_are_as_stated(name: str) -> None:
    stated = _stated(rf"\| `{re.escape(name)}` \| ([\d,]+) \|")
    assert (DEMO / name).stat().st_size == int(stated.replace(",", ""))


def test_pixels_are_quantised_as_stated() -> None:
    model = (DEMO / "digits.tflite").read_bytes()
    scale, zero_point = make_interpreter(model).get_input_details()[0]["quantization"]
    assert scale == pytest.approx(1 / 255)
    assert zero_point == -128
