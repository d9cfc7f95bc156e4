"""What is left of a model after the passes."""

from __future__ import annotations

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import Plan


def plan_of(data: bytes, io: str = "model") -> Plan:
    """The plan of a model for the board `host`."""
    return build(parse_model(data), "case", load_board("host"), BuildOptions(io=io)).plan


def planned_ops(data: bytes, io: str = "model") -> list[str]:
    """The operators that the plan still runs, views included."""
    return [layer.node.op for layer in plan_of(data, io).layers]
