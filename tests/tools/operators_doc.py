"""Make docs/operators.md from what the operators say about themselves.

python -m tests.tools.operators_doc
"""

from __future__ import annotations

from pathlib import Path

from codegen.graph import DType
from codegen.ops import registry
from codegen.ops.base import OpSpec

DOCUMENT = Path(__file__).parents[2] / "docs" / "operators.md"

_HEAD = """# Operators

Made by `python -m tests.tools.operators_doc` from `codegen/ops/`; change it there.

The type is that of the data. Weights are of the same, int8 under int16, int4 under int8, int16 (not
in DEPTHWISE_CONV_2D) and, in CONV_2D and FULLY_CONNECTED, float32. Biases are int32 where nothing
else is said. The version is the highest that the file may state. Every operator takes any batch
size; tensors may have up to 64 MiB. What is not in the table, or beyond its limits, is refused by
name when the model is built; `codegen inspect` shows it for all operators at once.

| operator | version | types | what is supported |
|---|---|---|---|
"""


def document() -> str:
    """The whole page."""
    return _HEAD + "".join(_row(spec) for _, spec in sorted(registry().items()))


def _row(spec: OpSpec) -> str:
    return f"| {spec.name} | {spec.max_version} | {_types(spec.types)} | {spec.notes} |\n"


def _types(types: tuple[DType, ...]) -> str:
    every = {dtype for dtype in DType if dtype.in_c}
    return "all of whole bytes" if set(types) == every else ", ".join(t.value for t in types)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
