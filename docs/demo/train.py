"""Train the demo network on scikit-learn's digits and write it as an int8 TFLite model.

    python docs/demo/train.py [--seed N] [--epochs N] [--out DIR]

needs numpy, scikit-learn (which carries the 1,797 images) and what the tests need; no
TensorFlow. It writes ``digits.tflite`` and ``digits_samples.npz`` and prints the figures that
README.md quotes. The same seed and the same numpy give the same files.

The network, with the shapes of one image (height x width x channels)::

    input      8x8x1
    stem       8x8x16   CONV_2D 3x3, ReLU
    down       4x4x16   DEPTHWISE_CONV_2D 3x3 stride 2, ReLU
    mix        4x4x16   CONV_2D 1x1, ReLU  ------+
    residual   4x4x16   CONV_2D 3x3              |
    sum        4x4x16   ADD, ReLU  <-------------+
    pooled     2x2x16   AVERAGE_POOL_2D 2x2
    flat       64       RESHAPE
    logits     10       FULLY_CONNECTED
    output     10       SOFTMAX
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from layers import (
    Conv,
    Dense,
    Depthwise,
    Floats,
    Layer,
    average_pool,
    average_pool_backward,
    he_normal,
    softmax,
)
from numpy.typing import NDArray
from quantised import SHAPES, calibrate, model_bytes, multiply_accumulates, run_model
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

Labels = NDArray[np.int64]
SHIPPED_SAMPLES = 100
HELD_OUT = 400


@dataclass(frozen=True)
class Split:
    """Images [n, 8, 8, 1] in 0..1 with their digits [n], for training and held out."""

    train_images: Floats
    train_labels: Labels
    test_images: Floats
    test_labels: Labels


def load_split(rng: np.random.Generator) -> Split:
    """Shuffle the digits and keep ``HELD_OUT`` of them away from training."""
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images = digits.images[order, :, :, None] / 16.0
    labels = digits.target[order].astype(np.int64)
    return Split(images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT])


class Network:
    """The float network; ``layers`` holds its trainable layers by the names above."""

    def __init__(self, rng: np.random.Generator) -> None:
        c = SHAPES["stem"][-1]
        self.stem = Conv(he_normal(rng, (c, 3, 3, 1), 9), np.zeros(c))
        self.down = Depthwise(he_normal(rng, (1, 3, 3, c), 9), np.zeros(c), stride=2)
        self.mix = Conv(he_normal(rng, (c, 1, 1, c), c), np.zeros(c))
        self.residual = Conv(he_normal(rng, (c, 3, 3, c), 9 * c), np.zeros(c), relu=False)
        self.dense = Dense(he_normal(rng, (10, 4 * c), 4 * c), np.zeros(10), relu=False)
        self.layers: dict[str, Layer] = {
            "stem": self.stem,
            "down": self.down,
            "mix": self.mix,
            "residual": self.residual,
            "logits": self.dense,
        }

    def forward(self, images: Floats) -> dict[str, Floats]:
        """Run images [n, 8, 8, 1]; return every activation by name (shapes: see above)."""
        maps = {"input": images, "stem": self.stem.forward(images)}
        maps["down"] = self.down.forward(maps["stem"])
        maps["mix"] = self.mix.forward(maps["down"])
        maps["residual"] = self.residual.forward(maps["mix"])
        maps["sum"] = np.maximum(maps["mix"] + maps["residual"], 0.0)
        maps["pooled"] = average_pool(maps["sum"], 2)
        maps["flat"] = maps["pooled"].reshape(len(images), -1)
        maps["logits"] = self.dense.forward(maps["flat"])
        maps["output"] = softmax(maps["logits"])
        return maps

    def backward(self, maps: dict[str, Floats], labels: Labels) -> None:
        """Store in each layer the gradients of the mean cross-entropy against ``labels``."""
        one_hot = np.eye(10)[labels]
        flat_grad = self.dense.backward((maps["output"] - one_hot) / len(labels))
        sum_grad = average_pool_backward(flat_grad.reshape(maps["pooled"].shape), 2)
        sum_grad = sum_grad * (maps["sum"] > 0)
        mix_grad = sum_grad + self.residual.backward(sum_grad)
        self.stem.backward(self.down.backward(self.mix.backward(mix_grad)))


class Adam:
    """Adam (Kingma and Ba, 2015) over the weights and biases of ``layers``."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        self.layers = list(layers)
        self.steps = 0
        self.moments = [
            (np.zeros_like(value), np.zeros_like(value)) for value, _ in self._parameters()
        ]

    def _parameters(self) -> list[tuple[Floats, Floats]]:
        """Return each parameter with the gradient of the last backward pass."""
        return [pair for layer in self.layers for pair in layer.parameters()]

    def step(self, rate: float) -> None:
        """Move every parameter in place by about ``rate`` against its gradient."""
        self.steps += 1
        rate *= np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for (value, grad), (mean, square) in zip(self._parameters(), self.moments, strict=True):
            mean += 0.1 * (grad - mean)
            square += 0.001 * (grad**2 - square)
            value -= rate * mean / (np.sqrt(square) + 1e-8)


def shifted(images: Floats, rng: np.random.Generator) -> Floats:
    """Move each image [n, 8, 8, 1] by -1, 0 or 1 pixels per axis; zeros come in."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    offsets = rng.integers(0, 3, (len(images), 2))
    return np.stack(
        [image[y : y + 8, x : x + 8] for image, (y, x) in zip(padded, offsets, strict=True)]
    )


def train(network: Network, split: Split, epochs: int, rng: np.random.Generator) -> None:
    """Fit ``network`` in place: batches of 32, cosine learning rate from 0.004 to 0."""
    optimiser = Adam(network.layers.values())
    for epoch in range(epochs):
        rate = 0.002 * (1 + np.cos(np.pi * epoch / epochs))
        order = rng.permutation(len(split.train_labels))
        for start in range(0, len(order), 32):
            batch = order[start : start + 32]
            maps = network.forward(shifted(split.train_images[batch], rng))
            network.backward(maps, split.train_labels[batch])
            optimiser.step(rate)


def accuracy(scores: NDArray[np.generic], labels: Labels) -> float:
    """Return the share of rows of ``scores`` [n, 10] whose largest entry is the label."""
    return float((scores.argmax(axis=1) == labels).mean())


def write_samples(path: Path, images: NDArray[np.int8], labels: Labels) -> None:
    """Write the first held-out images, quantised, with their labels."""
    kept = slice(0, SHIPPED_SAMPLES)
    np.savez_compressed(path, input=images[kept], labels=labels[kept])


def main() -> None:
    """Train, quantise, write both files, and print the figures that README.md quotes."""
    parser = argparse.ArgumentParser(description="Train and quantise the digits demo model.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()

    rng = np.random.default_rng(options.seed)
    split = load_split(rng)
    network = Network(rng)
    train(network, split, options.epochs, rng)

    ranges = calibrate(network.forward(split.train_images))
    model = model_bytes(network.layers, ranges)
    images = ranges["input"].quantise(split.test_images)
    (options.out / "digits.tflite").write_bytes(model)
    write_samples(options.out / "digits_samples.npz", images, split.test_labels)

    scores = network.forward(split.test_images)["output"]
    int8_scores = run_model(model, images)
    kept = slice(0, SHIPPED_SAMPLES)
    print(f"model            {len(model):,} bytes")
    print(f"products         {multiply_accumulates(network.layers):,} an inference")
    print(f"float, held out  {accuracy(scores, split.test_labels):.2%} of {HELD_OUT}")
    print(f"int8, held out   {accuracy(int8_scores, split.test_labels):.2%} of {HELD_OUT}")
    print(f"int8, shipped    {accuracy(int8_scores[kept], split.test_labels[kept]):.2%}")


if __name__ == "__main__":
    main()
