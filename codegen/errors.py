"""Errors a user can cause. Each carries one line: what is wrong, where, and what to do."""


class CodegenError(Exception):
    """Anything wrong with the input, the options or the machine; printed as ``error: ...``."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class InvalidModel(CodegenError):
    """The .tflite file is malformed or contradicts itself."""


class Unsupported(CodegenError):
    """The model is valid but uses something that no C can be written for."""


class InvalidBoard(CodegenError):
    """A board profile is missing, malformed or contradicts itself."""


class OverBudget(CodegenError):
    """The plan needs more memory than the board profile grants.

    `ram_bytes` is what one memory would have to hold; 0 when the flash is what lacks.
    """

    def __init__(self, message: str, ram_bytes: int = 0) -> None:
        super().__init__(message)
        self.ram_bytes = ram_bytes


class ToolError(CodegenError):
    """A compiler, emulator or Python package is missing or failed."""
