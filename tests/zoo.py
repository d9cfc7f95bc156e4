"""One valid model with an operator of almost every kind, for tests of the whole pipeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flatbuffers import flexbuffers

from tests.tflite_builder import Level, ModelBuilder, OptionValue, Sparsity, SubgraphBuilder

_SAME = {"padding": "SAME", "stride_h": 1, "stride_w": 1}


class _Chain:
    """Adds operators one behind the other; results are int8 with their own quantisation."""

    def __init__(self) -> None:
        self.builder = ModelBuilder("zoo")
        self.rng = np.random.default_rng(7)

    def constant(self, values: object, dtype: str = "int32") -> int:
        array = np.asarray(values)
        return self.builder.tensor(array.shape, dtype, data=array)

    def weights(self, shape: Sequence[int], channels: int, axis: int = 0) -> tuple[int, int]:
        """Per-channel weights and their biases."""
        scales = self.rng.uniform(0.005, 0.02, channels)
        data = self.rng.integers(-127, 128, shape)
        bias = self.rng.integers(-400, 400, channels)
        w = self.builder.tensor(shape, "int8", scales, data=data, axis=axis)
        return w, self.builder.tensor((channels,), "int32", scales * 0.05, data=bias)

    def result(
        self, shape: Sequence[int], scale: float = 0.05, zero_point: int = -3, dtype: str = "int8"
    ) -> int:
        return self.builder.tensor(shape, dtype, scale, zero_point)

    def op(self, kind: str, inputs: Sequence[int], output: int, /, **options: OptionValue) -> int:
        self.builder.op(kind, inputs, [output], **options)
        return output


def _floats(chain: _Chain, x: int) -> int:
    """float32[1,8,8,4] -> the same shape, through the operators whose weights are float too."""
    shape = (1, 8, 8, 4)

    def result() -> int:
        return chain.builder.tensor(shape, "float32")

    def weights(shape: Sequence[int]) -> int:
        return chain.constant(chain.rng.normal(0, 0.2, shape), "float32")

    bias = weights((4,))
    y = chain.op("CONV_2D", [x, weights((4, 3, 3, 4)), bias], result(), **_SAME)
    filters = weights((1, 3, 3, 4))
    y = chain.op("DEPTHWISE_CONV_2D", [y, filters, bias], result(), **_SAME, depth_multiplier=1)
    size, spread = chain.constant(shape), weights((4, 3, 3, 4))
    y = chain.op("TRANSPOSE_CONV", [size, spread, y, bias], result(), **_SAME)
    window = {**_SAME, "filter_height": 2, "filter_width": 2}
    y = chain.op("L2_POOL_2D", [y], result(), **window)
    y = chain.op("LOG_SOFTMAX", [y], result())
    y = chain.op("L2_NORMALIZATION", [y], result())
    matrix = weights((4, 4))
    return chain.op("FULLY_CONNECTED", [y, matrix, bias], result(), keep_num_dims=True)


def _wide(chain: _Chain, x: int) -> int:
    """float32[1,8,8,4] -> int8 of the same shape, through int16 operators of their own formats."""
    shape = (1, 8, 8, 4)

    def result(scale: float = 1e-3) -> int:
        return chain.result(shape, scale, 0, "int16")

    def weights(shape: Sequence[int], axis: int = 0) -> tuple[int, int]:
        w, _ = chain.weights(shape, 4, axis)
        bias = chain.rng.integers(-400, 400, 4)
        return w, chain.builder.tensor((4,), "int64", 1e-5, data=bias)

    y = chain.op("QUANTIZE", [x], result())
    y = chain.op("CONV_2D", [y, *weights((4, 3, 3, 4))], result(), **_SAME)
    size = chain.constant(shape)
    w, b = weights((4, 3, 3, 4))
    y = chain.op("TRANSPOSE_CONV", [size, w, y, b], result(), **_SAME)
    filters = weights((1, 3, 3, 4), 3)
    y = chain.op("DEPTHWISE_CONV_2D", [y, *filters], result(), **_SAME, depth_multiplier=1)
    y = chain.op("FULLY_CONNECTED", [y, *weights((4, 4))], result(), keep_num_dims=True)
    for kind in ("LOGISTIC", "TANH"):
        y = chain.op(kind, [y], result(2.0**-15))
    y = chain.op("SOFTMAX", [y], result(2.0**-15), beta=1.0)
    lengths = chain.constant([4, 1, 3, 2, 4, 4, 1, 2])
    turned = {"seq_dim": 1, "batch_dim": 2}
    y = chain.op("REVERSE_SEQUENCE", [y, lengths], result(2.0**-15), **turned)
    return chain.op("QUANTIZE", [y], chain.result(shape))


def _bytes(chain: _Chain, x: int) -> int:
    """int8[1,8,8,4] -> the same, through convolutions of uint8, which have one scale."""
    shape = (1, 8, 8, 4)

    def result() -> int:
        return chain.result(shape, 0.05, 120, "uint8")

    def weights(shape: Sequence[int]) -> tuple[int, int]:
        data = chain.rng.integers(0, 256, shape)
        bias = chain.rng.integers(-400, 400, 4)
        w = chain.builder.tensor(shape, "uint8", 0.01, 130, data=data)
        return w, chain.builder.tensor((4,), "int32", 0.0005, data=bias)

    y = chain.op("QUANTIZE", [x], result())
    y = chain.op("CONV_2D", [y, *weights((4, 3, 3, 4))], result(), **_SAME)
    (w, b), size = weights((4, 3, 3, 4)), chain.constant(shape)
    y = chain.op("TRANSPOSE_CONV", [size, w, y, b], result(), **_SAME)
    y = chain.op(
        "DEPTHWISE_CONV_2D", [y, *weights((1, 3, 3, 4))], result(), **_SAME, depth_multiplier=1
    )
    return chain.op("QUANTIZE", [y], chain.result(shape))


def _convolutions(chain: _Chain, x: int) -> int:
    """int8[1,8,8,4] -> int8[1,4,4,6]."""
    above, right = ([[0, 0], [1, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 1], [0, 0]])
    y = chain.op("PAD", [x, chain.constant(above)], chain.result((1, 9, 8, 4)))
    fill = chain.builder.tensor((1,), "int8", 0.05, -3, data=[-7])
    y = chain.op("PADV2", [y, chain.constant(right), fill], chain.result((1, 9, 9, 4)))
    w, b = chain.weights((6, 3, 3, 4), 6)
    y = chain.op(
        "CONV_2D",
        [y, w, b],
        chain.result((1, 4, 4, 6)),
        **{**_SAME, "padding": "VALID", "stride_h": 2, "stride_w": 2},
        fused_activation_function="RELU",
    )
    w, b = chain.weights((6, 3, 3, 6), 6)
    size = chain.constant((1, 4, 4, 6))
    y = chain.op("TRANSPOSE_CONV", [size, w, y, b], chain.result((1, 4, 4, 6)), **_SAME)
    w, b = chain.weights((1, 3, 3, 6), 6, axis=3)
    return chain.op(
        "DEPTHWISE_CONV_2D", [y, w, b], chain.result((1, 4, 4, 6)), **_SAME, depth_multiplier=1
    )


def _pools(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> int8[1,4,4,6]."""
    window = {**_SAME, "filter_height": 2, "filter_width": 2}
    y = chain.op("MAX_POOL_2D", [x], chain.result((1, 4, 4, 6)), **window)
    return chain.op("AVERAGE_POOL_2D", [y], chain.result((1, 4, 4, 6)), **window)


def _elements(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> the same shape, through operators with one and two operands."""
    shape = (1, 4, 4, 6)
    matrix = chain.builder.tensor((6, 6), "int8", 0.05, 0, data=np.arange(36))
    y = chain.op("BATCH_MATMUL", [x, matrix], chain.result(shape, 0.5))
    y = chain.op("L2_NORMALIZATION", [y], chain.result(shape, 1 / 128, 0))
    y = chain.op("LOG_SOFTMAX", [y], chain.result(shape, 1 / 16, 127))
    for kind in ("RELU", "RELU6", "HARD_SWISH"):
        y = chain.op(kind, [y], chain.result(shape))
    y = chain.op("LEAKY_RELU", [y], chain.result(shape), alpha=0.1)
    for kind in ("LOGISTIC", "TANH"):
        zero = -128 if kind == "LOGISTIC" else 0
        y = chain.op(kind, [y], chain.result(shape, 1 / (256 if zero else 128), zero))
    for kind in ("ADD", "SUB", "MUL"):
        y = chain.op(kind, [y, x], chain.result(shape), fused_activation_function="NONE")
    row = chain.builder.tensor((1, 1, 1, 6), "int8", 0.05, -3, data=np.arange(6))
    for kind in ("MAXIMUM", "MINIMUM"):
        y = chain.op(kind, [y, row], chain.result(shape))
    return y


def _choices(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> the same shape, through comparisons, operators on bools and selection."""
    shape = (1, 4, 4, 6)
    one = chain.builder.tensor((1, 1), "int8", 0.05, -3, data=[[17]])

    def relation(kind: str, *operands: int) -> int:
        return chain.op(kind, operands, chain.builder.tensor(shape, "bool"))

    between = relation("LOGICAL_AND", relation("GREATER", x, one), relation("LESS_EQUAL", x, one))
    outside = relation("LOGICAL_OR", relation("LESS", x, one), relation("GREATER_EQUAL", x, one))
    other = relation("LOGICAL_NOT", relation("LOGICAL_AND", relation("EQUAL", x, one), between))
    y = chain.op("SELECT", [relation("NOT_EQUAL", x, one), x, x], chain.result(shape))
    y = chain.op("SELECT_V2", [outside, y, one], chain.result(shape))
    return chain.op("SELECT_V2", [other, y, one], chain.result(shape))


def _curves(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> the same shape, through functions of one variable."""
    shape = (1, 4, 4, 6)

    def real(kind: str, source: int) -> int:
        return chain.op(kind, [source], chain.builder.tensor(shape, "float32"))

    whole = real("FLOOR", real("DEQUANTIZE", x))
    wave = real("COS", real("SQUARE", real("SIN", whole)))
    angle = chain.op("ATAN2", [wave, whole], chain.builder.tensor(shape, "float32"))
    y = chain.op("QUANTIZE", [real("NEG", angle)], chain.result(shape, 0.02, 0))
    for kind in ("ABS", "SQRT", "RSQRT", "EXP", "LOG", "GELU", "RELU_N1_TO_1", "RELU_0_TO_1"):
        y = chain.op(kind, [y], chain.result(shape, 0.03, 0))
    sign = chain.op("QUANTIZE", [real("SIGN", whole)], chain.result(shape))
    return chain.op("MUL", [y, sign], chain.result(shape))


def _axes(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> the same shape, through operators along axes."""
    builder, shape = chain.builder, (1, 4, 4, 6)

    def reduced(kind: str, source: int, axis: int, dtype: str, *sizes: int) -> int:
        quant = (0.05, -3) if dtype == "int8" else ()
        result = builder.tensor(sizes, dtype, *quant)
        return chain.op(kind, [source, chain.constant([axis])], result, keep_dims=True)

    low = reduced(
        "REDUCE_MIN", reduced("REDUCE_MAX", x, 3, "int8", 1, 4, 4, 1), 1, "int8", 1, 1, 4, 1
    )
    most, least = (
        chain.op(
            kind, [x, chain.constant(3)], builder.tensor((1, 4, 4), "int64"), output_type="INT64"
        )
        for kind in ("ARG_MAX", "ARG_MIN")
    )
    before = chain.op("LESS", [most, least], builder.tensor((1, 4, 4), "bool"))
    everywhere = reduced("REDUCE_ALL", before, 1, "bool", 1, 1, 4)
    anywhere = reduced("REDUCE_ANY", before, -1, "bool", 1, 4, 1)
    chosen = chain.op("LOGICAL_OR", [everywhere, anywhere], builder.tensor((1, 4, 4), "bool"))
    mask = chain.op(
        "RESHAPE", [chosen, chain.constant([1, 4, 4, 1])], builder.tensor((1, 4, 4, 1), "bool")
    )
    y = chain.op("SELECT_V2", [mask, x, low], chain.result(shape))
    real = chain.op("DEQUANTIZE", [y], builder.tensor(shape, "float32"))
    sums = chain.op(
        "CUMSUM", [real, chain.constant(2)], builder.tensor(shape, "float32"), reverse=True
    )
    total = reduced("SUM", sums, 3, "float32", 1, 4, 4, 1)
    product = reduced("REDUCE_PROD", total, 2, "float32", 1, 4, 1, 1)
    return chain.op(
        "ADD",
        [y, chain.op("QUANTIZE", [product], chain.result((1, 4, 1, 1), 1e4, 0))],
        chain.result(shape),
    )


def _arithmetic(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> the same shape, through arithmetic of two and more operands."""
    builder, shape = chain.builder, (1, 4, 4, 6)

    def code(value: int) -> int:
        return builder.tensor((), "int8", 0.05, -3, data=value)

    wide = chain.op("QUANTIZE", [x], chain.result(shape, 2e-4, 0, "int16"))
    wide = chain.op("PRELU", [wide, code(9)], chain.result(shape, 3e-4, 0, "int16"))
    y = chain.op("PRELU", [x, code(-20)], chain.result(shape))
    y = chain.op("ADD", [y, chain.op("QUANTIZE", [wide], chain.result(shape))], chain.result(shape))
    y = chain.op("SQUARED_DIFFERENCE", [y, code(40)], chain.result(shape, 0.2, -100))
    y = chain.op("DIV", [y, code(80)], chain.result(shape, 0.01, -30))
    for kind, value in (
        ("FLOOR_DIV", 3),
        ("FLOOR_MOD", 40),
        ("RIGHT_SHIFT", 1),
        ("BITWISE_XOR", 5),
    ):
        y = chain.op(kind, [y, code(value)], chain.result(shape))
    number = chain.op("CAST", [y], builder.tensor(shape, "int32"))
    power = chain.op("POW", [number, chain.constant(2)], builder.tensor(shape, "int32"))
    total = chain.op("ADD_N", [power, number, number], builder.tensor(shape, "int32"))
    return chain.op("ADD", [y, chain.op("CAST", [total], chain.result(shape))], chain.result(shape))


def _moves(chain: _Chain, x: int) -> int:
    """int8[1,4,4,6] -> int8[1,4,8,6]."""
    halves = [chain.result((1, 4, 4, 3)) for _ in range(2)]
    chain.builder.op("SPLIT", [chain.constant(3), x], halves, num_splits=2)
    y = chain.op("CONCATENATION", halves[::-1], chain.result((1, 4, 4, 6)), axis=3)
    y = chain.op("TRANSPOSE", [y, chain.constant([0, 2, 1, 3])], chain.result((1, 4, 4, 6)))
    begin, size = chain.constant([0, 1, 0, 0]), chain.constant([1, 2, 4, -1])
    y = chain.op("SLICE", [y, begin, size], chain.result((1, 2, 4, 6)))
    corners = [chain.constant(v) for v in ([0, 0, 0, 0], [1, 2, 4, 6], [1, 1, 2, 1])]
    y = chain.op(
        "STRIDED_SLICE", [y, *corners], chain.result((1, 2, 2, 6)), begin_mask=1, end_mask=1
    )
    y = chain.op("RESIZE_NEAREST_NEIGHBOR", [y, chain.constant([4, 4])], chain.result((1, 4, 4, 6)))
    return chain.op(
        "RESIZE_BILINEAR",
        [y, chain.constant([4, 8])],
        chain.result((1, 4, 8, 6)),
        half_pixel_centers=True,
    )


def _pixels(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape, by moving whole pixels."""
    shape, deep, many = (1, 4, 8, 6), (1, 2, 4, 24), (4, 2, 4, 6)
    y = chain.op("SPACE_TO_DEPTH", [x], chain.result(deep), block_size=2)
    y = chain.op("DEPTH_TO_SPACE", [y], chain.result(shape), block_size=2)
    block, none = chain.constant([2, 2]), chain.constant([[0, 0], [0, 0]])
    y = chain.op("SPACE_TO_BATCH_ND", [y, block, none], chain.result(many))
    y = chain.op("BATCH_TO_SPACE_ND", [y, block, none], chain.result(shape))
    y = chain.op("REVERSE_V2", [y, chain.constant([2])], chain.result(shape))
    pads = chain.constant([[0, 0], [1, 1], [0, 0], [0, 0]])
    y = chain.op("MIRROR_PAD", [y, pads], chain.result((1, 6, 8, 6)), mode="REFLECT")
    parts = [chain.result((1, 2, 8, 6)), chain.result((1, 4, 8, 6))]
    sizes, axis = chain.constant([2, 4]), chain.constant(1)
    chain.builder.op("SPLIT_V", [y, sizes, axis], parts, num_splits=2)
    y = chain.op("TILE", [parts[0], chain.constant([1, 2, 1, 1])], chain.result(shape))
    y = chain.op("MAXIMUM", [y, parts[1]], chain.result(shape))
    rows = [chain.result((1, 8, 6)) for _ in range(4)]
    chain.builder.op("UNPACK", [y], rows, axis=1, num=4)
    return chain.op("PACK", rows[::-1], chain.result(shape), axis=1, values_count=4)


def _indices(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape, through operators with indices."""
    builder, shape = chain.builder, (1, 4, 8, 6)
    sizes, first = chain.constant(shape), chain.constant([[0]])
    numbers = builder.tensor((4,), "int32")
    chain.op("RANGE", [chain.constant(v) for v in (0, 4, 1)], numbers)
    y = chain.op("GATHER", [x, numbers], chain.result(shape), axis=1)
    y = chain.op("GATHER_ND", [y, first], chain.result(shape))
    y = chain.op("SCATTER_ND", [first, y, sizes], chain.result(shape))
    row = chain.result((1, 1, 8, 6))
    value = builder.tensor((), "int8", 0.05, -3, data=9)
    chain.op("FILL", [chain.constant((1, 1, 8, 6)), value], row)
    start = chain.constant([0, 2, 0, 0])
    y = chain.op("DYNAMIC_UPDATE_SLICE", [y, row, start], chain.result(shape))
    table = chain.op("RESHAPE", [y, chain.constant([4, 48])], chain.result((4, 48)))
    word = chain.op("EMBEDDING_LOOKUP", [chain.constant([2]), table], chain.result((1, 48)))
    word = chain.op("RESHAPE", [word, chain.constant([8, 6])], chain.result((8, 6)))
    stretched = builder.tensor((4,), "int32")
    chain.op("BROADCAST_ARGS", [chain.constant([8, 6]), sizes], stretched)
    wide = chain.result(shape)
    builder.op("BROADCAST_TO", [word, stretched], [wide], version=3)
    y = chain.op("MAXIMUM", [y, wide], chain.result(shape))
    channels = builder.tensor(shape, "int32")
    values = chain.result(shape)
    depth, on, off = (chain.constant(v, t) for v, t in ((6, "int32"), (20, "int8"), (-20, "int8")))
    builder.op("TOPK_V2", [y, depth], [values, channels], version=2)
    chain.op("ZEROS_LIKE", [channels], builder.tensor(shape, "int32"))
    chain.op("RANK", [values], builder.tensor((), "int32"))
    marks = chain.result((*shape, 6))
    chain.op("ONE_HOT", [channels, depth, on, off], marks, axis=-1)
    mark = chain.op("GATHER", [marks, chain.constant(2)], chain.result(shape), axis=4)
    values = chain.op("MINIMUM", [values, mark], chain.result(shape))
    own = chain.op("SHAPE", [values], builder.tensor((4,), "int32"), out_type="INT32")
    return chain.op("RESHAPE", [values, own], chain.result(shape))


def _sparse(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape; a row of a constant is stored without its zeros."""
    builder = chain.builder
    levels = (Level(8), Level(segments=(0, 1, 1, 3, 3, 3, 3, 4, 4), indices=(2, 0, 5, 3)))
    stored = builder.tensor(
        (8, 6), "int8", 0.05, -3, data=(9, -9, 20, 7), sparsity=Sparsity((0, 1), (), levels)
    )
    whole = chain.op("DENSIFY", [stored], chain.result((8, 6)))
    return chain.op("MAXIMUM", [x, whole], chain.result((1, 4, 8, 6)))


def _detections(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape; 32 boxes of six values, which are their scores as well."""
    builder, boxes, places = chain.builder, (1, 32, 6), 8
    flat = chain.op("RESHAPE", [x, chain.constant(boxes)], chain.result(boxes))
    real = chain.op("DEQUANTIZE", [flat], builder.tensor(boxes, "float32"))
    codes = chain.op("QUANTIZE", [flat], builder.tensor(boxes, "uint8", 0.05, 125))
    sizes = np.arange(1, 129).reshape(32, 4)
    anchors = {
        real: chain.constant(sizes / 128, "float32"),
        codes: builder.tensor((32, 4), "uint8", 1 / 128, data=sizes),
    }
    y = x
    for regular, encoded in enumerate(anchors):
        found = [
            builder.tensor(shape, "float32")
            for shape in ((1, places, 4), (1, places), (1, places), (1,))
        ]
        options = _detection_options(max_detections=places, use_regular_nms=regular)
        builder.op(
            "CUSTOM",
            [encoded, real, anchors[encoded]],
            found,
            custom_name="TFLite_Detection_PostProcess",
            custom_options=options,
        )
        scores = chain.op("QUANTIZE", [found[2]], chain.result((1, places)))
        column = chain.op(
            "RESHAPE", [scores, chain.constant((1, places, 1))], chain.result((1, places, 1))
        )
        y = chain.op("MAXIMUM", [y, column], chain.result((1, 4, 8, 6)))
    return y


def _detection_options(**counts: int) -> bytes:
    """Options for five classes, a background and boxes encoded by a tenth of their size."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, count in {"num_classes": 5, "max_classes_per_detection": 1, **counts}.items():
            builder.Int(name, count)
        for name in ("y_scale", "x_scale", "h_scale", "w_scale"):
            builder.Float(name, 10.0)
        builder.Float("nms_score_threshold", 0.1)
        builder.Float("nms_iou_threshold", 0.5)
    return bytes(builder.Finish())


def _memory(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape; two variables hold what the last two runs have seen."""
    builder, shape = chain.builder, (1, 4, 8, 6)
    once = builder.subgraph("initialiser")
    handles = []
    for name in ("last", "before"):
        value = once.tensor(shape, "int8", 0.05, -3, data=np.full(shape, -3))
        inner, handle = once.tensor((), "resource"), builder.tensor((), "resource")
        once.op("VAR_HANDLE", [], [inner], shared_name=name)
        once.op("ASSIGN_VARIABLE", [inner, value], [])
        builder.op("VAR_HANDLE", [], [handle], shared_name=name)
        handles.append(handle)
    builder.op("CALL_ONCE", [], [], init_subgraph_index=1)
    last, before = (chain.op("READ_VARIABLE", [h], chain.result(shape)) for h in handles)
    builder.op("ASSIGN_VARIABLE", [handles[1], last], [])
    builder.op("ASSIGN_VARIABLE", [handles[0], x], [])
    y = chain.op("MAXIMUM", [last, before], chain.result(shape))
    return chain.op("MINIMUM", [y, x], chain.result(shape))


def _recurrent(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape; what float operators give lives on in their state alone."""
    shape, flat = (1, 4, 8, 6), (1, 32, 6)
    sequence = chain.op("RESHAPE", [x, chain.constant(flat)], chain.result(flat))
    y = _lstm(chain, "UNIDIRECTIONAL_SEQUENCE_LSTM", sequence, flat, "int8")
    rows = chain.op("RESHAPE", [x, chain.constant([32, 6])], chain.result((32, 6)))
    _lstm(chain, "LSTM", rows, (32, 6), "int8")
    for kind, source, dims in (
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", sequence, flat),
        ("LSTM", rows, (32, 6)),
    ):
        real = chain.op("DEQUANTIZE", [source], chain.builder.tensor(dims, "float32"))
        _lstm(chain, kind, real, dims, "float32")
    for kind, source, dims in (
        ("UNIDIRECTIONAL_SEQUENCE_RNN", sequence, flat),
        ("RNN", rows, (32, 6)),
    ):
        real = chain.op("DEQUANTIZE", [source], chain.builder.tensor(dims, "float32"))
        _rnn(chain, kind, real, dims)
    filtered = _svdf(chain, rows, "int8")
    _svdf(chain, real, "float32")
    y = chain.op("RESHAPE", [y, chain.constant(shape)], chain.result(shape))
    filtered = chain.op("RESHAPE", [filtered, chain.constant(shape)], chain.result(shape))
    y = chain.op("MAXIMUM", [y, filtered], chain.result(shape))
    return chain.op("MAXIMUM", [x, y], chain.result(shape))


def _lstm(chain: _Chain, kind: str, x: int, shape: Sequence[int], dtype: str) -> int:
    """Six units without projection; the output has the quantisation of the input."""
    builder, rng, real = chain.builder, chain.rng, dtype == "float32"

    def constant(shape: Sequence[int], dtype: str, scale: float, low: int, high: int) -> int:
        data = rng.integers(low, high, shape)
        return builder.tensor(shape, dtype, None if real else scale, data=data * scale**real)

    batch = shape[0]
    bias = "float32" if real else "int32"
    matrices = [constant((6, 6), dtype, 0.01, -127, 128) for _ in range(8)]
    biases = [constant((6,), bias, 5e-4, -400, 400) for _ in range(4)]
    state = builder.tensor((batch, 6), dtype, 0.05, -3, is_variable=True)
    cell = builder.tensor((batch, 6), "float32" if real else "int16", 2.0**-11, is_variable=True)
    hidden = [builder.tensor((0,), "float32") for _ in range(4)]
    hidden.append(builder.tensor((0,), "int8", 0.05, -3))
    y = builder.tensor(shape, dtype, 0.05, -3)
    inputs = [x, *matrices, -1, -1, -1, *biases, -1, -1, state, cell, -1, -1, -1, -1]
    options: dict[str, OptionValue] = {"fused_activation_function": "TANH", "cell_clip": 10.0}
    builder.op(kind, inputs, [y], intermediates=() if real else hidden, **options)
    return y


def _rnn(chain: _Chain, kind: str, x: int, shape: Sequence[int]) -> int:
    """Six units, float data with int8 matrices."""
    builder, rng = chain.builder, chain.rng
    matrices = [
        builder.tensor((6, 6), "int8", 0.002, 0, data=rng.integers(-127, 128, (6, 6)))
        for _ in range(2)
    ]
    bias = builder.tensor((6,), "float32", data=rng.normal(0, 0.1, 6))
    state = builder.tensor((shape[0], 6), "float32", is_variable=True)
    y = builder.tensor(shape, "float32")
    return chain.op(kind, [x, *matrices, bias, state], y, fused_activation_function="TANH")


def _svdf(chain: _Chain, x: int, dtype: str) -> int:
    """[32,6] -> [32,6] by two filters per unit with a memory of three, int8 weights."""
    builder, rng, real = chain.builder, chain.rng, dtype == "float32"
    features = builder.tensor((12, 6), "int8", 0.01, 0, data=rng.integers(-127, 128, (12, 6)))
    weights = rng.integers(-127, 128, (12, 3))
    time = builder.tensor((12, 3), *(("int8", 0.01) if real else ("int16", 5e-3)), data=weights)
    state = builder.tensor((32, 36), *(("float32",) if real else ("int16", 2e-3)), is_variable=True)
    y = builder.tensor((32, 6), *(("float32",) if real else ("int8", 0.05, -3)))
    options: dict[str, OptionValue] = {"rank": 2, "fused_activation_function": "RELU"}
    return chain.op("SVDF", [x, features, time, -1, state], y, **options)


def _control(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> the same shape: turned round in a loop, or not, as the data says."""
    builder, shape = chain.builder, (1, 4, 8, 6)

    def data(graph: SubgraphBuilder) -> int:
        return graph.tensor(shape, "int8", 0.05, -3)

    def subgraph(name: str, inputs: int) -> tuple[SubgraphBuilder, list[int], int]:
        """With so many inputs of the data's kind, and a counter."""
        graph = builder.subgraph(name)
        return graph, [data(graph) for _ in range(inputs)], graph.tensor((), "int32")

    def turned(graph: SubgraphBuilder, source: int) -> int:
        result = data(graph)
        graph.op("REVERSE_V2", [source, graph.tensor((1,), "int32", data=[2])], [result])
        return result

    condition, (y,), count = subgraph("less than 3", 1)
    less = condition.tensor((), "bool")
    condition.op("LESS", [count, condition.tensor((), "int32", data=3)], [less])
    condition.interface([y, count], [less])
    body, (y,), count = subgraph("turn round", 1)
    more = body.tensor((), "int32")
    body.op("ADD", [count, body.tensor((), "int32", data=1)], [more])
    body.interface([y, count], [turned(body, y), more])
    results = [data(builder), builder.tensor((), "int32")]
    indices = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    builder.op("WHILE", [x, chain.constant(0)], results, **indices)

    then, (y, z), _ = subgraph("turn back", 2)
    then.interface([y, z], [turned(then, y)])
    otherwise, (y, z), _ = subgraph("as it was", 2)
    otherwise.interface([y, z], [z])
    limit = builder.tensor((), "int8", 0.05, -3, data=30)
    above = chain.op("GREATER", [x, limit], builder.tensor(shape, "bool"))
    some = builder.tensor((), "bool")
    chain.op("REDUCE_ANY", [above, chain.constant([0, 1, 2, 3])], some)
    indices = {"then_subgraph_index": then.index, "else_subgraph_index": otherwise.index}
    return chain.op("IF", [some, results[0], x], data(builder), **indices)


def _head(chain: _Chain, x: int) -> int:
    """int8[1,4,8,6] -> int8[1,5], a classifier."""
    y = chain.op("MEAN", [x, chain.constant([1, 2])], chain.result((1, 1, 1, 6)), keep_dims=True)
    y = chain.op("SQUEEZE", [y], chain.result((1, 6)), squeeze_dims=(1, 2))
    y = chain.op("EXPAND_DIMS", [y, chain.constant(1)], chain.result((1, 1, 6)))
    y = chain.op("RESHAPE", [y, chain.constant([1, 6])], chain.result((1, 6)), new_shape=(1, 6))
    bias = chain.builder.tensor((5,), "int32", 5e-4, 0, data=np.arange(5))
    weights = chain.rng.integers(-127, 128, (5, 6))
    w = chain.builder.tensor((5, 6), "int8", 0.01, 0, data=weights)
    y = chain.op("FULLY_CONNECTED", [y, w, bias], chain.result((1, 5)))
    return chain.op("SOFTMAX", [y], chain.result((1, 5), 1 / 256, -128), beta=1.0)


_PARTS = (
    _wide,
    _bytes,
    _convolutions,
    _pools,
    _elements,
    _curves,
    _choices,
    _axes,
    _arithmetic,
    _moves,
    _pixels,
    _indices,
    _sparse,
    _detections,
    _memory,
    _recurrent,
    _control,
    _head,
)


def zoo() -> bytes:
    """float32[1,8,8,4] -> float32[1,5]: float and int16 operators, then int8 ones of all kinds."""
    chain = _Chain()
    x = chain.builder.tensor((1, 8, 8, 4), "float32", name="image", signature=(-1, 8, 8, 4))
    y = _floats(chain, x)
    for part in _PARTS:
        y = part(chain, y)
    scores = chain.builder.tensor((1, 5), "float32", name="scores", signature=(-1, 5))
    chain.op("DEQUANTIZE", [y], scores)
    return chain.builder.build([x], [scores])


def without_reference() -> bytes:
    """float32[1,8] -> the same shape, through operators that no reference kernel computes."""
    builder = ModelBuilder("zoo")
    x, *results = (builder.tensor((1, 8), "float32") for _ in range(4))
    y = x
    for kind, result in zip(("CEIL", "ELU", "ROUND"), results, strict=True):
        builder.op(kind, [y], [result])
        y = result
    return builder.build([x], [y])
