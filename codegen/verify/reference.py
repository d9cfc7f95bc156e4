"""The oracles: LiteRT with its reference kernels (BUILTIN_REF), and TFLite Micro."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.errors import ToolError
from codegen.graph import Graph
from codegen.verify.repair import repaired

Array = NDArray[Any]

_UNKNOWN = "Didn't find op for builtin opcode"
"""The reference kernels lack CEIL, ELU and ROUND; models with these run with LiteRT's others."""


class Reference:
    """One interpreter that keeps every tensor of a run."""

    def __init__(
        self,
        model: bytes,
        input_shapes: Sequence[tuple[int, ...]],
        cleared: Sequence[int] = (),
    ) -> None:
        """Load a model and give its inputs the shapes of the graph (a pinned batch).

        Args:
            model: the file.
            input_shapes: of every input.
            cleared: tensors that are set to 0 before every run, since what writes them may leave
                a part of them as it is.

        Raises:
            ToolError: if the interpreter is not installed or refuses the model.
        """
        try:
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError:
            raise ToolError(
                "the TFLite interpreter is not installed; pip install ai-edge-litert"
            ) from None

        def made(kernels: OpResolverType) -> Interpreter:
            return Interpreter(
                model_content=repaired(model),
                experimental_op_resolver_type=kernels,
                experimental_preserve_all_tensors=True,
                num_threads=1,
            )

        try:
            try:
                self._interpreter = made(OpResolverType.BUILTIN_REF)
            except ValueError as error:
                if _UNKNOWN not in str(error):
                    raise
                self._interpreter = made(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
            self._details = self._interpreter.get_input_details()
            for detail, shape in zip(self._details, input_shapes, strict=True):
                if tuple(detail["shape"]) != shape:
                    self._interpreter.resize_tensor_input(detail["index"], list(shape))
            self._interpreter.allocate_tensors()
            self._cleared = cleared
        except (ValueError, RuntimeError) as error:
            raise ToolError(
                f"the TFLite interpreter refuses this model, so nothing can be compared: {error}"
            ) from None

    def run(self, values: Sequence[Array], tensors: Iterable[int]) -> dict[int, Array]:
        """One inference; the wanted tensors by index, those without data left out.

        Raises:
            ToolError: if the interpreter fails on these inputs.
        """
        try:
            for detail, value in zip(self._details, values, strict=True):
                self._interpreter.set_tensor(detail["index"], value)
            for index in self._cleared:
                self._interpreter.tensor(index)()[...] = 0
            self._interpreter.invoke()
        except (ValueError, RuntimeError) as error:
            raise ToolError(f"the TFLite interpreter failed: {error}") from None
        found = {}
        for index in tensors:
            try:
                found[index] = np.array(self._interpreter.get_tensor(index))
            except ValueError:
                continue
        return found


_SMALLEST_ARENA = 1 << 20
_ARENA_PER_BYTE = 4  # of all tensors: alignment, the interpreter's own data, scratch


class MicroReference:
    """TFLite Micro's interpreter, which shows the model's outputs alone."""

    def __init__(self, model: bytes, graph: Graph) -> None:
        """Load a model whose main graph, as it is in the file, is `graph`.

        Raises:
            ToolError: if the interpreter is not installed or refuses the model.
        """
        try:
            from tflite_micro import runtime
        except ImportError:
            raise ToolError(
                "TFLite Micro's interpreter is not installed; pip install tflite-micro"
            ) from None
        arena = _SMALLEST_ARENA + _ARENA_PER_BYTE * sum(t.nbytes for t in graph.tensors)
        try:
            self._interpreter = runtime.Interpreter.from_bytes(model, arena_size=arena)
        except (ValueError, RuntimeError) as error:
            raise ToolError(
                f"TFLite Micro refuses this model, so nothing can be compared: {error}"
            ) from None
        self._outputs = graph.outputs

    def run(self, values: Sequence[Array], tensors: Iterable[int]) -> dict[int, Array]:
        """One inference; those of the wanted tensors that are outputs, by index.

        Raises:
            ToolError: if the interpreter fails on these inputs.
        """
        try:
            for i, value in enumerate(values):
                self._interpreter.set_input(value, i)
            self._interpreter.invoke()
            results = [self._interpreter.get_output(i) for i in range(len(self._outputs))]
        except (ValueError, RuntimeError) as error:
            raise ToolError(f"TFLite Micro failed: {error}") from None
        wanted = set(tensors)
        found = zip(self._outputs, results, strict=True)
        return {index: np.array(value) for index, value in found if index in wanted}
