"""What goes into a test program and what comes out of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class EngineSources:
    """What a program with NPU and DMA needs besides the model's own files."""

    board_header: str
    """`cg_sim_board.h`: the profile's figures for the `sim` port."""
    hooks: str
    """`<name>_sim_hooks.h`: tells the `sim` port which layer runs."""
    port: str
    """The port that the board itself has."""


@dataclass(frozen=True)
class GeneratedSources:
    """The generated C of one model."""

    name: str
    """Prefix of the model's symbols; distinct among the models of one program."""
    files: Mapping[str, str | bytes]
    """Relative path -> contents; `<name>.c` and `<name>_weights.c` are compiled."""
    input_bytes: tuple[int, ...]
    output_bytes: tuple[int, ...]
    caller_io: bool = False
    """Its caller gives the buffers (`<name>_set_input`, `<name>_set_output`)."""
    engine: EngineSources | None = None
    """What it needs to run on an NPU, simulated or not."""

    @property
    def port_files(self) -> tuple[str, ...]:
        """Those of `files` that drive NPU and DMA; a firmware compiles them too."""
        return tuple(sorted(name for name in self.files if name.startswith("cg/cg_port_")))


@dataclass(frozen=True)
class RunResult:
    """One run of a model."""

    status: int
    """What init() or run() returned; 0 is success."""
    outputs: tuple[bytes, ...]
    """Empty unless `status` is 0."""
    taps: Mapping[int, bytes] = field(default_factory=dict)
    """Tensor index -> its bytes (NHWC), in programs built with taps."""
    tiles: Mapping[int, bytes] = field(default_factory=dict)
    """Command of a simulated NPU -> the bytes of its tile, in programs built with taps."""
    stack_bytes: int | None = None
    """Stack that run() and all it calls used; None where it was not measured."""
    ticks: int = 0
    """What run() took: instructions on an emulator, to within one tick of the machine's clock (at
    most 50); nanoseconds on this machine."""
    layer_ticks: tuple[int, ...] = ()
    """The same for every layer, where a request asked for it; `ticks` is 0 then."""


@dataclass(frozen=True)
class Request:
    """One run asked of a program: which model, and the bytes of each of its inputs."""

    model: int
    inputs: tuple[bytes, ...]
    reset: bool = True
    """Call the model's reset() first, so that runs do not depend on each other."""
    layers: bool = False
    """Run layer by layer and report what each one took."""
    warm_ups: int = 0
    """Runs before the one that is reported; they may overwrite the inputs."""
