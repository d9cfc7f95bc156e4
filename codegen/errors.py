"""Errors a user can cause. Each carries one line: what is wrong, where, and what to do."""


class CodegenError(Exception):
    """Anything wrong with the input, the options or the machine; printed as ``error: ...``."""

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        # Names from files stand in messages: they must not steer a terminal.
        super().__init__("".join(c if c.isprintable() else "?" for c in line))


class InvalidModel(CodegenError):
    """The .tflite file is malformed or contradicts itself."""


class Unsupported(CodegenError):
    """The model is valid but uses something that no C can be written for."""


class InvalidBoard(CodegenError):
    """A board profile is missing, malformed or contradicts itself."""


class OverBudget(CodegenError):
    """The plan needs more memory than the board profile grants.

    `ram_bytes` is what one memory would have to hold, `flash_bytes` what all flash together would;
    0 for the one that is not what lacks.
    """

    def __init__(self, message: str, *, ram_bytes: int = 0, flash_bytes: int = 0) -> None:
        super().__init__(message)
        self.ram_bytes = ram_bytes
        self.flash_bytes = flash_bytes


class ToolError(CodegenError):
    """A compiler, emulator or Python package is missing or failed."""


class NoAnswer(ToolError):
    """A program of ours has not answered in time."""
