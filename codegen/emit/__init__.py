"""Plan -> files. Prints what the plan says and decides nothing."""

from codegen.emit.files import ModelInfo, emit

__all__ = ["ModelInfo", "emit"]
