"""Models with IF and WHILE, from functions that add the operators of a subgraph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tests.tflite_builder import ModelBuilder, SubgraphBuilder


@dataclass(frozen=True)
class Kind:
    """Shape, type and quantisation of a tensor; -1 in the signature leaves a size open."""

    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: float | None = None
    zero_point: int | None = None
    signature: tuple[int, ...] | None = None


INT = Kind((), "int32")
BOOL = Kind((), "bool")

Make = Callable[["Scope", list[int]], Sequence[int]]
"""Adds operators to a scope that reads the given tensors; returns what it yields."""


class Scope:
    """A subgraph under construction, in which control operators can be nested."""

    def __init__(self, model: ModelBuilder, graph: SubgraphBuilder) -> None:
        self.model, self.graph = model, graph

    def new(self, kind: Kind) -> int:
        return self.graph.tensor(
            kind.shape, kind.dtype, kind.scale, kind.zero_point, signature=kind.signature
        )

    def constant(self, values: ArrayLike, kind: Kind = INT) -> int:
        data = np.broadcast_to(np.asarray(values), kind.shape)
        return self.graph.tensor(kind.shape, kind.dtype, kind.scale, kind.zero_point, data)

    def op(self, name: str, inputs: Sequence[int], kind: Kind, /, **options: int | str) -> int:
        result = self.new(kind)
        self.graph.op(name, inputs, [result], **options)
        return result

    def add(self, a: int, b: int, kind: Kind = INT) -> int:
        return self.op("ADD", [a, b], kind, fused_activation_function="NONE")

    def less(self, a: int, b: int) -> int:
        return self.op("LESS", [a, b], BOOL)

    def inner(self, name: str, kinds: Sequence[Kind], make: Make) -> int:
        """A subgraph with inputs of these kinds; its index."""
        scope = Scope(self.model, self.model.subgraph(name))
        inputs = [scope.new(kind) for kind in kinds]
        scope.graph.interface(inputs, make(scope, inputs))
        return scope.graph.index

    def loop(
        self, inputs: Sequence[int], kinds: Sequence[Kind], condition: Make, body: Make
    ) -> list[int]:
        """A WHILE over variables of these kinds."""
        outputs = [self.new(kind) for kind in kinds]
        self.graph.op(
            "WHILE",
            inputs,
            outputs,
            cond_subgraph_index=self.inner("cond", kinds, condition),
            body_subgraph_index=self.inner("body", kinds, body),
        )
        return outputs

    def either(
        self,
        condition: int,
        inputs: Sequence[int],
        kinds: Sequence[Kind],
        results: Sequence[Kind],
        then: Make,
        otherwise: Make,
    ) -> list[int]:
        """An IF over operands of `kinds` that yields `results`."""
        outputs = [self.new(kind) for kind in results]
        self.graph.op(
            "IF",
            [condition, *inputs],
            outputs,
            then_subgraph_index=self.inner("then", kinds, then),
            else_subgraph_index=self.inner("else", kinds, otherwise),
        )
        return outputs


def model(kinds: Sequence[Kind], make: Make) -> bytes:
    """A whole file whose main graph has inputs of these kinds."""
    builder = ModelBuilder()
    scope = Scope(builder, builder)
    inputs = [scope.new(kind) for kind in kinds]
    return builder.build(inputs, make(scope, inputs))
