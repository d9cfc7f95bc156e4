"""Float layers of the demo network: forward and backward passes in plain numpy.

Activations are NHWC. Each layer keeps what its backward pass needs from the last
``forward`` call, so a training step is ``forward`` in order, then ``backward`` in reverse.
The gradients are the textbook ones: a convolution is a matrix product over patches, so its
weight gradient is patches^T . dy and its input gradient is dy . weight^T scattered back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Return the zeros (before, after) an axis of ``size`` under TensorFlow's SAME rule."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def patches(x: Floats, kernel: int, stride: int) -> Floats:
    """Cut ``x`` [n, h, w, c] into SAME-padded windows [n, oh, ow, kernel, kernel, c]."""
    rows = same_padding(x.shape[1], kernel, stride)
    columns = same_padding(x.shape[2], kernel, stride)
    padded = np.pad(x, ((0, 0), rows, columns, (0, 0)))
    windows = sliding_window_view(padded, (kernel, kernel), axis=(1, 2))
    return windows[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def scatter(grad: Floats, shape: tuple[int, ...], stride: int) -> Floats:
    """Add window gradients [n, oh, ow, k, k, c] up to the gradient of an input of ``shape``."""
    _, outputs_y, outputs_x, kernel, _, _ = grad.shape
    top, bottom = same_padding(shape[1], kernel, stride)
    left, right = same_padding(shape[2], kernel, stride)
    padded = np.zeros((shape[0], shape[1] + top + bottom, shape[2] + left + right, shape[3]))
    for ky in range(kernel):
        for kx in range(kernel):
            y_end = ky + stride * (outputs_y - 1) + 1
            x_end = kx + stride * (outputs_x - 1) + 1
            padded[:, ky:y_end:stride, kx:x_end:stride] += grad[:, :, :, ky, kx]
    return padded[:, top : top + shape[1], left : left + shape[2]]


@dataclass
class Layer:
    """A layer with weights, a bias per output channel, and an optional ReLU behind it."""

    weight: Floats
    bias: Floats
    stride: int = 1
    relu: bool = True
    weight_grad: Floats = field(init=False)
    bias_grad: Floats = field(init=False)
    _input_shape: tuple[int, ...] = field(init=False)
    _patches: Floats = field(init=False)
    _active: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.weight_grad = np.zeros_like(self.weight)
        self.bias_grad = np.zeros_like(self.bias)

    def parameters(self) -> list[tuple[Floats, Floats]]:
        """Return weight and bias, each with the gradient of the last backward pass."""
        return [(self.weight, self.weight_grad), (self.bias, self.bias_grad)]

    def _activate(self, y: Floats) -> Floats:
        """Apply the fused ReLU and remember which outputs passed it."""
        self._active = (y > 0) if self.relu else np.ones(y.shape, dtype=np.bool_)
        return y * self._active


class Conv(Layer):
    """SAME convolution; ``weight`` is [out, k, k, in], the layout of CONV_2D."""

    def forward(self, x: Floats) -> Floats:
        """[n, h, w, in] -> [n, ceil(h / stride), ceil(w / stride), out]."""
        self._input_shape = x.shape
        self._patches = patches(x, self.weight.shape[1], self.stride)
        return self._activate(
            np.tensordot(self._patches, self.weight, axes=((3, 4, 5), (1, 2, 3))) + self.bias
        )

    def backward(self, dy: Floats) -> Floats:
        """Store the gradients of weight and bias; return that of the input."""
        dy = dy * self._active
        self.bias_grad = dy.sum(axis=(0, 1, 2))
        self.weight_grad = np.tensordot(dy, self._patches, axes=((0, 1, 2), (0, 1, 2)))
        window_grad = np.tensordot(dy, self.weight, axes=((3,), (0,)))
        return scatter(window_grad, self._input_shape, self.stride)


class Depthwise(Layer):
    """SAME depthwise convolution; ``weight`` is [1, k, k, c], as in DEPTHWISE_CONV_2D."""

    def forward(self, x: Floats) -> Floats:
        """[n, h, w, c] -> [n, ceil(h / stride), ceil(w / stride), c]."""
        self._input_shape = x.shape
        self._patches = patches(x, self.weight.shape[1], self.stride)
        return self._activate((self._patches * self.weight[0]).sum(axis=(3, 4)) + self.bias)

    def backward(self, dy: Floats) -> Floats:
        """Store the gradients of weight and bias; return that of the input."""
        dy = dy * self._active
        self.bias_grad = dy.sum(axis=(0, 1, 2))
        spread = dy[:, :, :, None, None, :]
        self.weight_grad = (self._patches * spread).sum(axis=(0, 1, 2))[None]
        return scatter(spread * self.weight[0], self._input_shape, self.stride)


class Dense(Layer):
    """Fully connected layer; ``weight`` is [out, in], the layout of FULLY_CONNECTED."""

    def forward(self, x: Floats) -> Floats:
        """[n, in] -> [n, out]."""
        self._patches = x
        return self._activate(x @ self.weight.T + self.bias)

    def backward(self, dy: Floats) -> Floats:
        """Store the gradients of weight and bias; return that of the input."""
        dy = dy * self._active
        self.bias_grad = dy.sum(axis=0)
        self.weight_grad = dy.T @ self._patches
        return np.asarray(dy @ self.weight)


def he_normal(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int) -> Floats:
    """Draw weights whose outputs have about the variance of the inputs after a ReLU."""
    return rng.normal(0.0, np.sqrt(2.0 / fan_in), shape)


def average_pool(x: Floats, size: int) -> Floats:
    """[n, h, w, c] -> [n, h / size, w / size, c], the mean of each size x size block."""
    n, h, w, c = x.shape
    return np.asarray(x.reshape(n, h // size, size, w // size, size, c).mean(axis=(2, 4)))


def average_pool_backward(dy: Floats, size: int) -> Floats:
    """Spread the gradient of each block's mean evenly over the block."""
    return dy.repeat(size, axis=1).repeat(size, axis=2) / size**2


def softmax(logits: Floats) -> Floats:
    """[n, classes] -> probabilities of the same shape."""
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))
