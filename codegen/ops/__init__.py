"""One file per operator. Importing this package registers them all by the schema's name."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from codegen.ops.base import Lowered, OpContext, OpSpec


@cache
def registry() -> dict[str, OpSpec]:
    """Operator name -> its declaration, from every module of this package that has a `SPEC`."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    specs: list[OpSpec] = [module.SPEC for module in modules if hasattr(module, "SPEC")]
    return {spec.name: spec for spec in specs}


def lower(context: OpContext) -> Lowered:
    """Check one node and lower it to kernel calls.

    Raises:
        Unsupported: for an operator, version or attribute that no C can be written for.
        InvalidModel: for a node that contradicts itself.
    """
    node = context.node
    spec = registry().get(node.op)
    if spec is None:
        raise context.unsupported(
            "this operator is not supported",
            f"replace it in the model ({len(registry())} operators are: see docs/operators.md)",
        )
    if node.version > spec.max_version:
        raise context.unsupported(
            f"version {node.version} of this operator is not supported",
            f"convert the model with a converter that writes version {spec.max_version} or lower",
        )
    return spec.lower(context)
