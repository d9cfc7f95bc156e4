"""The arena's picture: well-formed, to scale, and safe against any tensor name."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from codegen.picture import arena_picture
from codegen.plan import Home, Plan
from tests.emit.programs import make_build, two_convolutions

HOSTILE = '</svg><script>alert("1")</script> & "quotes"'


def plan(name: str | None = None) -> Plan:
    return make_build(two_convolutions(name=name)).plan


def test_bars_are_to_scale() -> None:
    made = plan()
    picture = arena_picture(made, "ram")
    buffers = [b for b in made.buffers if b.home is Home.ARENA]
    unit = (picture.bottom - picture.top) / made.arena_bytes["ram"]
    assert len(picture.bars) == len(buffers)
    for bar, buffer in zip(picture.bars, buffers, strict=True):
        assert bar.height == pytest.approx(buffer.size * unit)
        assert picture.bottom - bar.y - bar.height == pytest.approx(buffer.offset * unit)
        assert picture.left <= bar.x and bar.x + bar.width <= picture.right + 1e-6
    assert picture.addresses[0].text == "0" and 4 <= len(picture.addresses) <= 12


def test_labels_keep_the_end_of_a_name_and_lie_on_top() -> None:
    """Names of one model begin alike; a later box would hide the label of an earlier one."""
    built = make_build(two_convolutions(name="functional/" * 9 + "relu_7;functional/conv"))
    labels = {bar.label for bar in arena_picture(built.plan, "ram").bars} - {""}
    assert labels and all(label.startswith("…") and label.endswith("relu_7") for label in labels)
    report = built.files["report.html"]
    assert report.rindex("<rect") < report.index(f">{min(labels)}</text>")


def test_the_report_is_well_formed_whatever_the_names() -> None:
    text = make_build(two_convolutions(name=HOSTILE), title=HOSTILE).files["report.html"]
    assert "<script" not in text
    start, end = text.index("<svg"), text.index("</svg>") + len("</svg>")
    root = ElementTree.fromstring(text[start:end])
    titles = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any(HOSTILE in title for title in titles)
