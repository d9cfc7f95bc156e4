"""TFLite_Detection_PostProcess against the reference: types, both suppressions, ties, options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

from codegen.importer.flexbuffer import MalformedOptions, read_scalars
from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused
from tests.tflite_builder import ModelBuilder

OPTIONS: dict[str, Any] = {
    "max_detections": 10,
    "max_classes_per_detection": 1,
    "num_classes": 5,
    "nms_score_threshold": 0.1,
    "nms_iou_threshold": 0.4,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}


def options_bytes(**entries: Any) -> bytes:
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in entries.items():
            builder.Add(name, value)
    return bytes(builder.Finish())


def detection_model(
    boxes: int,
    rng: np.random.Generator,
    *,
    types: tuple[str, str] = ("uint8", "uint8"),
    background: int = 1,
    coordinates: int = 4,
    zero_point: int = 20,
    custom_options: bytes | None = None,
    anchors: Any = None,
    **changed: Any,
) -> bytes:
    """`types` are those of boxes and scores."""
    options = OPTIONS | changed
    codes = types[0] == "uint8"
    if anchors is None:
        low, high = (zero_point, 256) if codes else (0, 1)
        anchors = rng.uniform(low, high, (boxes, 4)) * (1 if codes else [1, 1, 0.4, 0.4])
    builder = ModelBuilder()
    scale = (0.02, 130) if codes else ()
    x = builder.tensor((1, boxes, coordinates), types[0], *scale)
    scale = (1 / 256, 3) if types[1] == "uint8" else ()
    scores = builder.tensor((1, boxes, options["num_classes"] + background), types[1], *scale)
    scale = (1 / 300, zero_point) if codes else ()
    a = builder.tensor((boxes, 4), types[0], *scale, data=anchors)
    places = options["max_detections"] * options["max_classes_per_detection"]
    shapes = ((1, places, 4), (1, places), (1, places), (1,))
    outputs = [builder.tensor(shape, "float32") for shape in shapes]
    builder.op(
        "CUSTOM",
        [x, scores, a],
        outputs,
        custom_name="TFLite_Detection_PostProcess",
        custom_options=options_bytes(**options) if custom_options is None else custom_options,
    )
    return builder.build([x, scores], outputs)


def input_values(types: tuple[str, str], shapes: Any, rng: np.random.Generator) -> list[Any]:
    """Encoded boxes around their anchors, and scores of which many are equal."""
    boxes = rng.normal(0, 2, shapes[0]).astype(np.float32)
    scores = (rng.integers(0, 12, shapes[1]) / 12).astype(np.float32)
    values = []
    for dtype, array, code in zip(types, (boxes, scores), (boxes * 50, scores * 200), strict=True):
        values.append(array if dtype == "float32" else np.clip(code + 128, 0, 255).astype(dtype))
    return values


KINDS: dict[str, dict[str, Any]] = {
    "fast": {},
    "fast, three classes": {"max_classes_per_detection": 3},
    "fast, more places than classes": {"max_classes_per_detection": 9},
    "fast, many classes": {"num_classes": 40, "max_classes_per_detection": 17},
    "one class": {"num_classes": 1},
    "no background": {"background": 0},
    "six coordinates": {"coordinates": 6},
    "nothing is good enough": {"nms_score_threshold": 1.5},
    "everything is": {"nms_score_threshold": -1.0, "nms_iou_threshold": 1.0},
    "hardly any overlap": {"nms_iou_threshold": 0.01, "max_detections": 30},
    "other scales": {"y_scale": 3.0, "x_scale": 7.5, "h_scale": 1.5, "w_scale": 40.0},
    "regular": {"use_regular_nms": True},
    "regular, one place": {"use_regular_nms": True, "max_detections": 1},
    "regular, few of each class": {"use_regular_nms": True, "detections_per_class": 2},
    "regular, one of each class": {"use_regular_nms": True, "detections_per_class": 1},
    "regular, no background": {"use_regular_nms": True, "background": 0, "max_detections": 40},
    "regular, places of classes": {"use_regular_nms": True, "max_classes_per_detection": 2},
    "regular, many": {"use_regular_nms": True, "num_classes": 30, "max_detections": 25},
}


def test_detections(tmp_path: Path, rng: np.random.Generator) -> None:
    """Both suppressions; the combinations of types take turns."""
    pairs = [(b, s) for b in ("uint8", "float32") for s in ("uint8", "float32")]
    cases, inputs = {}, {}
    for number, (label, changed) in enumerate(KINDS.items()):
        types, boxes = pairs[number % 4], int(rng.integers(20, 60))
        cases[label] = detection_model(boxes, rng, types=types, **changed)
        columns = changed.get("num_classes", 5) + changed.get("background", 1)
        shapes = ((1, boxes, changed.get("coordinates", 4)), (1, boxes, columns))
        inputs[label] = [input_values(types, shapes, rng) for _ in range(4)]
    assert_equal(cases, tmp_path, rng, inputs=inputs, sanitize=True)


def test_edges(tmp_path: Path, rng: np.random.Generator) -> None:
    """One box; codes at both ends; anchors without an area; every box the same."""
    cases = {
        "one box": detection_model(1, rng),
        "codes": detection_model(9, rng, h_scale=0.05, w_scale=0.05),
        "no area": detection_model(9, rng, anchors=np.full((9, 4), 20)),
        "equal": detection_model(9, rng, anchors=np.full((9, 4), 90), use_regular_nms=True),
    }
    assert_equal(cases, tmp_path, rng, samples=3)


def test_numbers_that_are_none(tmp_path: Path, rng: np.random.Generator) -> None:
    """Infinite boxes, and boxes that are no numbers, leave the others as they are."""
    cases = {
        kind: detection_model(30, rng, types=("float32", "uint8"), use_regular_nms=kind == "r")
        for kind in ("f", "r")
    }
    sets = []
    for special in (np.inf, -np.inf, np.nan, 1e30, -1e30):
        boxes, scores = input_values(("float32", "uint8"), ((1, 30, 4), (1, 30, 6)), rng)
        boxes[0, rng.integers(0, 30, 8), rng.integers(0, 4, 8)] = special
        sets.append([boxes, scores])
    assert_equal(cases, tmp_path, rng, inputs=dict.fromkeys(cases, sets), sanitize=True)


def test_refusals(rng: np.random.Generator) -> None:
    def model(**changed: Any) -> bytes:
        return detection_model(6, rng, **changed)

    assert_refused(model(nms_iou_threshold=0.0), "option nms_iou_threshold is 0")
    assert_refused(model(detections_per_class=0), "option detections_per_class is 0")
    assert_refused(model(h_scale=0.0), r"scales of the boxes are \[10.0, 10.0, 0.0, 5.0\]")
    assert_refused(model(num_classes=5, background=3), "do not fit 5 classes")
    assert_refused(model(types=("int8", "uint8")), "is int8; only float32 or uint8 is supported")
    assert_refused(model(anchors=np.full((6, 4), 3)), "holds a box of negative size")
    assert_refused(model(custom_options=b""), "the options are cut off")
    assert_refused(model(custom_options=b"\x05\x04\x01"), "the options are no map")


def test_only_a_custom_operator_has_that_name() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), "int8", 0.1) for _ in range(2))
    builder.op("CUSTOM", [x], [y], custom_name="ABS")
    assert_refused(builder.build([x], [y]), "CUSTOM 'ABS' .* is not supported")


def test_scalars() -> None:
    entries = {"a": 3, "b": -70000, "c": 2**40, "d": 0.25, "e": True, "f": -1.5}
    raw = options_bytes(**entries, text="words")
    assert read_scalars(raw) == entries


@pytest.mark.parametrize("seed", range(4))
def test_damaged_options_end_in_one_line(seed: int) -> None:
    """Every cut, and many single and double faults."""
    draw, raw = np.random.default_rng(seed), options_bytes(**OPTIONS, use_regular_nms=True)
    damaged = [raw[:n] for n in range(len(raw))] if seed == 0 else []
    for _ in range(3000):
        copy = bytearray(raw)
        for place in draw.integers(0, len(raw), draw.integers(1, 3)):
            copy[place] = draw.integers(0, 256)
        damaged.append(bytes(copy))
    for data in damaged:
        try:
            entries = read_scalars(data)
        except MalformedOptions as error:
            assert "\n" not in str(error)
        else:
            assert len(entries) <= len(OPTIONS) + 1
