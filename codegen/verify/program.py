"""Generated C as a child process of this machine."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from codegen.errors import NoAnswer, ToolError
from codegen.verify.compile import Recipe, compile_program
from codegen.verify.protocol import encode_request, read_calibration, read_result
from codegen.verify.sources import GeneratedSources, Request, RunResult
from codegen.verify.toolchain import (
    EXACT_FLAGS,
    OPTIMISE_FLAGS,
    SANITIZE_FLAGS,
    STRICT_FLAGS,
    host_compiler,
)


def build_host_program(
    models: Sequence[GeneratedSources],
    workdir: Path,
    *,
    flags: Sequence[str] = (),
    sanitize: bool = False,
    taps: bool = False,
    timeout: float = 60.0,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> "HostProgram":
    """Compile `models` into one program of this machine, with every warning an error.

    `flags` come last and so override the others. `sanitize` adds the address and undefined
    behaviour sanitizers, `taps` lets runs report inner tensors. `timeout` is in seconds per run.
    `environment` is added to the program's own.
    Raises ToolError with the compiler's first complaint.
    """
    recipe = Recipe(
        host_compiler(),
        (*STRICT_FLAGS, *EXACT_FLAGS, *(SANITIZE_FLAGS if sanitize else OPTIMISE_FLAGS), *flags),
        ("-lm",),
        "host",
        ("host/port.c",),
        simulated=True,
    )
    path = compile_program(models, recipe, workdir, taps=taps)
    return HostProgram(path, tuple(models), timeout, environment)


class HostProgram:
    """A compiled program with its models; its process starts with the first run.

    A context manager: leaving it ends the process. After a failed run the next one starts anew.
    """

    def __init__(
        self,
        path: Path,
        models: tuple[GeneratedSources, ...],
        timeout: float,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._environment = dict(environment)
        self.path = path
        self.models = models
        self._timeout = timeout
        self._child: _Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if one runs."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def run(self, model: int, inputs: Sequence[bytes], *, reset: bool = True) -> RunResult:
        """Run model number `model` once on `inputs`.

        Raises ToolError if the process crashes, a sanitizer reports or the time is up.
        """
        return self.answer(Request(model, tuple(inputs), reset))

    def answer(self, request: Request) -> RunResult:
        """Run one request.

        Raises ToolError if the process crashes or a sanitizer reports, NoAnswer if the time is up.
        """
        sources = self.models[request.model]
        encoded = encode_request(request, sources)
        deadline = time.monotonic() + self._timeout
        try:
            if self._child is None:
                self._child = _Child(self.path, self._environment)
                self._child.expect(deadline)
                read_calibration(self._child.read)
            self._child.expect(deadline)
            self._child.write(encoded)
            return read_result(self._child.read, sources, emulated=False)
        except _Ended:
            raise ToolError(f"{sources.name}: {self._post_mortem()}") from None
        except TimeoutError:
            self.close()
            raise NoAnswer(f"{sources.name}: no answer within {self._timeout:g} s") from None
        except ToolError:
            self.close()
            raise

    def _post_mortem(self) -> str:
        child, self._child = self._child, None
        return child.post_mortem() if child is not None else "the program did not start"


class _Ended(Exception):
    """The child has closed its end of a pipe."""


class _Child:
    """The process and its pipes; reading and writing stop at a deadline (monotonic seconds)."""

    def __init__(self, path: Path, own: Mapping[str, str]) -> None:
        self._errors = path.with_suffix(".stderr")
        # The generated code has no heap, and looking for leaks fails where ptrace is forbidden.
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **own}
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [str(path.resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._buffer = bytearray()
        self._deadline = 0.0

    def expect(self, deadline: float) -> None:
        """Everything up to the next call must be done by `deadline`."""
        self._deadline = deadline

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._wait(self._to, selectors.EVENT_WRITE)
            try:
                view = view[os.write(self._to, view) :]
            except BrokenPipeError:
                raise _Ended from None

    def read(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._wait(self._from, selectors.EVENT_READ)
            part = os.read(self._from, 1 << 20)
            if not part:
                raise _Ended
            self._buffer += part
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def post_mortem(self) -> str:
        """Why the process ended, in one line."""
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = 0
        line = useful_line(self._errors.read_text(errors="replace"))
        self.close()
        if line:
            return line
        if code < 0:
            return f"crashed with {signal.Signals(-code).name}"
        return f"the program ended with status {code} before it had answered"

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _wait(self, descriptor: int, event: int) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            if not selector.select(max(0.0, self._deadline - time.monotonic())):
                raise TimeoutError


def useful_line(errors: str) -> str:
    """The line of a program's error stream that names the fault; the last one if none does."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    for mark in ("runtime error:", "ERROR: AddressSanitizer", "harness:", "sim:", "qemu: fatal:"):
        for line in lines:
            if mark in line:
                return line
    return lines[-1] if lines else ""
