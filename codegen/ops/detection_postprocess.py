"""TFLite_Detection_PostProcess, the custom operator that ends SSD models: boxes without overlaps.

Maths (docs/numerics_floats.md): LiteRT's kernel. Boxes are decoded against anchors in double and
kept as floats; a box is dropped where it overlaps a better one by more than a threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType, Node, Tensor
from codegen.importer.flexbuffer import MalformedOptions, Scalar, read_scalars
from codegen.ops.base import (
    Access,
    Call,
    Lowered,
    OpContext,
    OpSpec,
    Param,
    nhwc,
    table,
    weights,
)

TYPES = (DType.FLOAT32, DType.UINT8)
NAME = "TFLite_Detection_PostProcess"
_CORNER_BYTES, _CANDIDATE_BYTES, _SCORE_BYTES = 16, 8, 4  # of the kernel's structs
_DEFAULT_PER_CLASS = 100


@dataclass(frozen=True)
class Options:
    """The operator's options, under their names in the file.

    Attributes:
        scales: by which the encodings of y, x, h and w are divided.
    """

    max_detections: int
    max_classes_per_detection: int
    detections_per_class: int
    num_classes: int
    use_regular_nms: bool
    nms_score_threshold: float
    nms_iou_threshold: float
    scales: tuple[float, float, float, float]

    @property
    def places(self) -> int:
        """Boxes that the outputs have room for."""
        return self.max_detections * self.max_classes_per_detection


def read_options(node: Node) -> Options:
    """The node's options.

    Raises:
        MalformedOptions: if its custom options are no map, or lack a number or hold a wrong one.
    """
    raw = node.options.get("custom_options")
    entries = read_scalars(raw if isinstance(raw, bytes) else b"")
    options = Options(
        max_detections=_count(entries, "max_detections"),
        max_classes_per_detection=_count(entries, "max_classes_per_detection"),
        detections_per_class=_count(entries, "detections_per_class", _DEFAULT_PER_CLASS),
        num_classes=_count(entries, "num_classes"),
        use_regular_nms=bool(entries.get("use_regular_nms", False)),
        nms_score_threshold=_real(entries, "nms_score_threshold"),
        nms_iou_threshold=_real(entries, "nms_iou_threshold"),
        scales=(
            _real(entries, "y_scale"),
            _real(entries, "x_scale"),
            _real(entries, "h_scale"),
            _real(entries, "w_scale"),
        ),
    )
    if not 0 < options.nms_iou_threshold <= 1:
        raise MalformedOptions(f"option nms_iou_threshold is {options.nms_iou_threshold:g}")
    if not all(options.scales):
        raise MalformedOptions(f"the scales of the boxes are {list(options.scales)}")
    return options


def _count(entries: dict[str, Scalar], name: str, default: int = 0) -> int:
    value = int(_real(entries, name, default))
    if not 0 < value < 2**15:
        raise MalformedOptions(f"option {name} is {value}")
    return value


def _real(entries: dict[str, Scalar], name: str, default: float = 0.0) -> float:
    """A float32; options that are absent are 0 to the reference."""
    value = entries.get(name, default)
    if not abs(value) <= np.finfo(np.float32).max:
        raise MalformedOptions(f"option {name} is {value}")
    return float(np.float32(value))


def output_shapes(node: Node) -> list[tuple[int, ...]]:
    """Of the boxes, their classes, their scores, and their number; none if options are damaged."""
    try:
        places = read_options(node).places
    except MalformedOptions:
        return []
    return [(1, places, 4), (1, places), (1, places), (1,)]


def lower(context: OpContext) -> Lowered:
    """Inputs: encodings[1, n, 4 or more], scores[1, n, classes or one more], anchors[n, 4].

    Outputs, all float32, with m places: boxes[1, m, 4], classes[1, m], scores[1, m], number[1].
    """
    try:
        options = read_options(context.node)
    except MalformedOptions as error:
        raise context.invalid(str(error)) from None
    boxes, columns = _check_inputs(context, options)
    outputs = [context.output(i) for i in range(4)]
    for y, shape in zip(outputs, output_shapes(context.node), strict=True):
        context.require_type(y, DType.FLOAT32)
        context.require_shape(y, shape)
    regular, most = options.use_regular_nms, options.max_detections
    candidates = most if regular else options.num_classes
    call = Call(
        kernel=f"cg_detection_{'regular' if regular else 'fast'}",
        header="cg_detection.h",
        args="cg_detection_args",
        params=(
            ("boxes", boxes),
            ("coordinates", context.input(0).shape[-1]),
            ("classes", options.num_classes),
            ("columns", columns),
            ("max_detections", most),
            ("per_box", options.max_classes_per_detection),
            ("per_class", options.detections_per_class),
            ("candidates", candidates),
            ("score_threshold", options.nms_score_threshold),
            ("overlap_threshold", options.nms_iou_threshold),
            *_encoding_params(context, options),
            *_score_params(context),
        ),
        inputs=tuple(_all(context.input(i)) for i in range(2)),
        outputs=(_all(outputs[0]), *(replace(_all(y), whole=True) for y in outputs[1:])),
        scratch=boxes * (_CORNER_BYTES + _SCORE_BYTES + 1) + candidates * _CANDIDATE_BYTES,
    )
    words = f"{'regular' if regular else 'fast'}, {most} of {boxes} boxes"
    return Lowered(calls=(call,), summary=f"{words}, {options.num_classes} classes")


def _all(tensor: Tensor) -> Access:
    return Access(tensor.index, nhwc(tensor.shape), dense=True)


def _check_inputs(context: OpContext, options: Options) -> tuple[int, int]:
    """How many boxes there are, and how many scores each has."""
    encodings, scores, anchors = (context.input(i) for i in range(3))
    context.require_type(encodings, *TYPES)
    context.require_type(scores, *TYPES)
    context.require_type(anchors, encodings.dtype)
    shapes = [t.shape for t in (encodings, scores, anchors)]
    if [len(shape) for shape in shapes] != [3, 3, 2]:
        raise context.invalid(f"boxes, scores and anchors have the shapes {shapes}")
    boxes, columns = scores.shape[1:]
    fits = encodings.shape[:2] == scores.shape[:2] == (1, boxes) and encodings.shape[2] >= 4
    if not fits or anchors.shape != (boxes, 4) or columns - options.num_classes not in (0, 1):
        raise context.invalid(
            f"{encodings.describe()}, {scores.describe()} and {anchors.describe()} do not fit "
            f"{options.num_classes} classes"
        )
    if np.any(_real_anchors(context)[:, 2:] < 0):
        raise context.invalid(f"{anchors.label} holds a box of negative size")
    return boxes, columns


def _real_anchors(context: OpContext) -> NDArray[np.float64]:
    """The anchors' values, as far as their signs matter."""
    anchors = context.input(2)
    values = context.require_constant(anchors).astype(np.float64)
    if anchors.dtype is DType.FLOAT32:
        return values
    return values - context.require_quant(anchors).zero_point


def _encoding_params(context: OpContext, options: Options) -> tuple[tuple[str, Param], ...]:
    encodings, anchors = context.input(0), context.input(2)
    names = ("y_centre", "x_centre", "half_h", "half_w")
    constant = weights(context.require_constant(anchors))
    if encodings.dtype is DType.FLOAT32:
        return (
            *((name, None) for name in names),
            *zip(("y_scale", "x_scale", "h_scale", "w_scale"), options.scales, strict=True),
            ("anchor_codes", None),
            ("anchors", constant),
            ("anchor_scale", 1.0),
            ("anchor_zero", 0),
        )
    quant, anchor = context.require_quant(encodings), context.require_quant(anchors)
    steps = (np.arange(256) - quant.zero_point).astype(np.float32)
    values = (steps * np.float32(quant.scale)).astype(np.float64)
    tables = [table(values / scale) for scale in options.scales[:2]]
    tables += [table(_half_exponential(values / scale)) for scale in options.scales[2:]]
    return (
        *zip(names, tables, strict=True),
        *((name, 1.0) for name in ("y_scale", "x_scale", "h_scale", "w_scale")),
        ("anchor_codes", constant),
        ("anchors", None),
        ("anchor_scale", anchor.scale),
        ("anchor_zero", anchor.zero_point),
    )


def _half_exponential(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(value) / 2 by the C library's `exp`; infinite where that overflows."""
    with np.errstate(over="ignore"):
        return np.array([0.5 * _exp(float(v)) for v in values])


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _score_params(context: OpContext) -> tuple[tuple[str, Param], ...]:
    scores = context.input(1)
    if scores.dtype is DType.FLOAT32:
        return (("codes", 0), ("score_scale", 1.0), ("score_zero", 0))
    quant = context.require_quant(scores)
    return (("codes", 1), ("score_scale", quant.scale), ("score_zero", quant.zero_point))


SPEC = OpSpec(
    name=NAME,
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="custom operator; fast and regular suppression; constant anchors of the boxes' type; "
    "scores of either type; places without a box are 0",
    custom=True,
)
