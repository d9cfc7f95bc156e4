"""The oracle: the TFLite interpreter with its reference kernels (LiteRT, BUILTIN_REF)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.errors import ToolError
from codegen.verify.repair import repaired

Array = NDArray[Any]


class Reference:
    """One interpreter that keeps every tensor of a run."""

    def __init__(self, model: bytes, input_shapes: Sequence[tuple[int, ...]]) -> None:
        """Load a model and give its inputs the shapes of the graph (a pinned batch).

        Raises:
            ToolError: if the interpreter is not installed or refuses the model.
        """
        try:
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError:
            raise ToolError(
                "the TFLite interpreter is not installed; pip install ai-edge-litert"
            ) from None
        try:
            self._interpreter = Interpreter(
                model_content=repaired(model),
                experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
                experimental_preserve_all_tensors=True,
                num_threads=1,
            )
            self._details = self._interpreter.get_input_details()
            for detail, shape in zip(self._details, input_shapes, strict=True):
                if tuple(detail["shape"]) != shape:
                    self._interpreter.resize_tensor_input(detail["index"], list(shape))
            self._interpreter.allocate_tensors()
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
