"""Small int8 networks for regression tests, written operator by operator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.ops.windows import size_out
from tests.tflite_builder import ModelBuilder, OptionValue

Quant = tuple[float, int]
PLAIN: Quant = (0.05, -3)


class Net:
    """A model under construction. Every method adds one operator and returns its output tensor."""

    def __init__(self, seed: int = 0) -> None:
        self.builder = ModelBuilder()
        self.rng = np.random.default_rng(seed)
        self.inputs: list[int] = []

    def shape(self, t: int) -> tuple[int, ...]:
        return self.builder.tensors[t].shape

    def quant(self, t: int) -> Quant:
        tensor = self.builder.tensors[t]
        return tensor.scales[0], tensor.zero_points[0]

    def input(self, shape: Sequence[int], quant: Quant = PLAIN, name: str | None = None) -> int:
        self.inputs.append(self.builder.tensor(shape, "int8", *quant, name=name))
        return self.inputs[-1]

    def constant(self, shape: Sequence[int], quant: Quant = PLAIN) -> int:
        return self.builder.tensor(shape, "int8", *quant, data=self.rng.integers(-128, 128, shape))

    def integers(self, values: object) -> int:
        array = np.asarray(values)
        return self.builder.tensor(array.shape, "int32", data=array)

    def result(
        self,
        kind: str,
        inputs: Sequence[int],
        shape: Sequence[int],
        quant: Quant,
        version: int = 2,
        **options: OptionValue,
    ) -> int:
        """Any operator with one int8 output."""
        y = self.builder.tensor(shape, "int8", *quant)
        self.builder.op(kind, inputs, [y], version, **options)
        return y

    def conv(
        self,
        x: int,
        channels: int,
        kernel: tuple[int, int] = (3, 3),
        stride: tuple[int, int] = (1, 1),
        *,
        dilation: tuple[int, int] = (1, 1),
        padding: str = "SAME",
        quant: Quant = (0.2, 5),
        depthwise: bool = False,
    ) -> int:
        """CONV_2D or DEPTHWISE_CONV_2D with a scale per channel and a bias."""
        n, h, w, depth = self.shape(x)
        shape = (1, *kernel, channels) if depthwise else (channels, *kernel, depth)
        scales = self.rng.uniform(0.002, 0.02, channels)
        weights = self.rng.integers(-127, 128, shape)
        axis = 3 if depthwise else 0
        filters = self.builder.tensor(shape, "int8", scales, data=weights, axis=axis)
        bias = self.builder.tensor(
            (channels,),
            "int32",
            scales * self.quant(x)[0],
            data=self.rng.integers(-400, 400, channels),
        )
        rows, columns = (
            size_out(size, kernel[i], stride[i], dilation[i], padding)
            for i, size in enumerate((h, w))
        )
        y = self.builder.tensor((n, rows, columns, channels), "int8", *quant)
        self.builder.op(
            "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D",
            [x, filters, bias],
            [y],
            version=3,
            padding=padding,
            stride_h=stride[0],
            stride_w=stride[1],
            dilation_h_factor=dilation[0],
            dilation_w_factor=dilation[1],
            **({"depth_multiplier": channels // depth} if depthwise else {}),
        )
        return y

    def pool(
        self,
        x: int,
        kernel: tuple[int, int],
        stride: tuple[int, int],
        *,
        kind: str = "MAX_POOL_2D",
        padding: str = "SAME",
    ) -> int:
        n, h, w, channels = self.shape(x)
        rows = size_out(h, kernel[0], stride[0], 1, padding)
        columns = size_out(w, kernel[1], stride[1], 1, padding)
        y = self.builder.tensor((n, rows, columns, channels), "int8", *self.quant(x))
        self.builder.op(
            kind,
            [x],
            [y],
            padding=padding,
            stride_h=stride[0],
            stride_w=stride[1],
            filter_height=kernel[0],
            filter_width=kernel[1],
        )
        return y

    def dense(
        self, x: int, units: int, *, keep_num_dims: bool = False, per_channel: bool = False
    ) -> int:
        """FULLY_CONNECTED over the last dimension."""
        depth = self.shape(x)[-1]
        scales = self.rng.uniform(0.002, 0.02, units if per_channel else 1)
        weights = self.rng.integers(-127, 128, (units, depth))
        filters = self.builder.tensor((units, depth), "int8", scales, data=weights)
        bias = self.builder.tensor((units,), "int32", 1e-3, data=self.rng.integers(-99, 99, units))
        outer = self.shape(x)[:-1]
        shape = (*outer, units) if keep_num_dims else (int(np.prod(outer)), units)
        y = self.builder.tensor(shape, "int8", 0.3, 4)
        self.builder.op(
            "FULLY_CONNECTED", [x, filters, bias], [y], version=4, keep_num_dims=keep_num_dims
        )
        return y

    def binary(self, kind: str, a: int, b: int, quant: Quant = PLAIN) -> int:
        shape = np.broadcast_shapes(self.shape(a), self.shape(b))
        return self.result(kind, [a, b], shape, quant)

    def concat(self, parts: Sequence[int], axis: int) -> int:
        shape = list(self.shape(parts[0]))
        shape[axis] = sum(self.shape(t)[axis] for t in parts)
        y = self.builder.tensor(shape, "int8", *self.quant(parts[0]))
        self.builder.op("CONCATENATION", parts, [y], axis=axis)
        return y

    def split(self, x: int, count: int, axis: int) -> list[int]:
        shape = list(self.shape(x))
        shape[axis] //= count
        parts = [self.builder.tensor(shape, "int8", *self.quant(x)) for _ in range(count)]
        self.builder.op("SPLIT", [self.integers(axis), x], parts, num_splits=count)
        return parts

    def reshape(self, x: int, shape: Sequence[int]) -> int:
        y = self.builder.tensor(shape, "int8", *self.quant(x))
        self.builder.op("RESHAPE", [x, self.integers(list(shape))], [y], new_shape=tuple(shape))
        return y

    def build(self, *outputs: int) -> bytes:
        return self.builder.build(self.inputs, outputs)


def inverted_residual(seed: int = 0) -> bytes:
    """int8[1,9,7,4]: widen, depthwise, narrow, add to the input; a softmax over the channels."""
    net = Net(seed)
    x = net.conv(net.input((1, 9, 7, 4)), 4)
    wide = net.conv(x, 12, (1, 1))
    deep = net.conv(wide, 12, depthwise=True)
    narrow = net.conv(deep, 4, (1, 1))
    y = net.binary("ADD", x, narrow)
    return net.build(net.result("SOFTMAX", [y], net.shape(y), (1 / 256, -128), beta=1.0))


def long_skips(seed: int = 0) -> bytes:
    """Three maps that stay live over a chain of convolutions and meet in a concatenation."""
    net = Net(seed)
    x = net.input((1, 8, 8, 4))
    skips = []
    for _ in range(3):
        x = net.conv(x, 4, quant=PLAIN)
        skips.append(net.conv(x, 4, (1, 1), quant=PLAIN))
        x = net.conv(x, 8, depthwise=True, quant=PLAIN)
    return net.build(net.concat([*skips, net.conv(x, 4, quant=PLAIN)], 3))
