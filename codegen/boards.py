"""Board profiles: load them by name or path, list them, check them, describe them.

A profile is a TOML file; `codegen.board_schema` says what it may contain. Whatever is wrong with
one comes out as lines "file: field: what is wrong; what to do".
"""

import difflib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from codegen.board_schema import (
    Board,
    Cache,
    Compiler,
    Cpu,
    Dma,
    DmaPath,
    Emulator,
    Isa,
    Memory,
    Npu,
    NpuOperator,
    Placement,
    Scratchpad,
)
from codegen.errors import InvalidBoard
from codegen.resources import data_dir
from codegen.sizes import format_size

__all__ = ["Board", "Isa", "Memory", "check_board", "describe", "list_boards", "load_board"]

_TABLES: dict[str, type[BaseModel]] = {
    "memory": Memory,
    "cpu": Cpu,
    "compiler": Compiler,
    "placement": Placement,
    "emulator": Emulator,
    "dma": Dma,
    "path": DmaPath,
    "npu": Npu,
    "operator": NpuOperator,
    "scratchpad": Scratchpad,
    "cache": Cache,
}


def load_board(name_or_path: str) -> Board:
    """The shipped profile of that name, or the user's at that path (with a slash or ".toml").

    Raises InvalidBoard, one line, if there is no such profile or something is wrong with it.
    """
    path = _find(name_or_path)
    board, problems = _read(path)
    if board is None:
        more = len(problems) - 1
        hint = f" (and {more} more: codegen boards check {path})" if more else ""
        raise InvalidBoard(problems[0] + hint)
    return board


def list_boards() -> list[Board]:
    """Every shipped profile, sorted by name. Raises InvalidBoard if one is broken."""
    return [load_board(str(path)) for path in _shipped().values()]


def check_board(path: str | Path) -> list[str]:
    """Everything that is wrong with the profile at `path`, a line each; empty if it is good."""
    _, problems = _read(Path(path))
    return problems


def describe(board: Board) -> str:
    """The profile as text of several lines for a terminal."""
    features = [name for name in ("dsp", "mve", "fpu") if getattr(board.cpu.isa, name)]
    flags = " ".join((board.compiler.command, *board.compiler.flags))
    lines = [
        f"{board.name}: {board.description}",
        f"  cpu        {board.cpu.core}, {board.cpu.clock_hz / 1e6:g} MHz"
        + (f", {' '.join(features)}" if features else ""),
        f"  compiler   {flags}",
        *(_memory_line(memory) for memory in board.memories),
        f"  arena      {' > '.join(board.placement.arena)}",
        f"  weights    {' > '.join(board.placement.weights)}",
        f"  tables     {' > '.join(board.placement.tables)}",
        *_engine_lines(board),
        *(f"  source     {source}" for source in board.sources),
    ]
    return "\n".join(lines)


def _memory_line(memory: Memory) -> str:
    notes = [f"{memory.cycles_per_word:g} cycles/word", f"aligned to {memory.alignment}"]
    if memory.reserved:
        notes.insert(0, f"{format_size(memory.reserved)} reserved")
    if memory.section:
        notes.append(f"section {memory.section}")
    if memory.cacheable:
        notes.append("cacheable")
    place = "" if memory.address is None else f" at {memory.address:#010x}"
    size = format_size(memory.size)
    return f"  memory     {memory.name}: {memory.kind} {size}{place}, {', '.join(notes)}"


def _engine_lines(board: Board) -> Iterator[str]:
    if board.cache:
        policy = "write-back" if board.cache.write_back else "write-through"
        yield f"  cache      lines of {board.cache.line} bytes, {policy}"
    if board.scratchpad:
        pad = board.scratchpad
        yield f"  scratchpad {format_size(pad.size)}, banks: {pad.banks}"
    if board.dma:
        dma = board.dma
        paths = ", ".join(f"{p.source}->{p.destination} {p.bytes_per_cycle:g}" for p in dma.paths)
        yield (
            f"  dma        channels: {dma.channels}, ranks: {dma.ranks}, "
            f"{dma.setup_cycles} cycles set-up, bytes/cycle: {paths}"
        )
    if board.npu:
        names = ", ".join(operator.name for operator in board.npu.operators)
        yield f"  npu        {board.npu.macs_per_cycle} MAC/cycle: {names}"
    if board.emulator:
        yield f"  emulator   {board.emulator.command} -M {board.emulator.machine}"


def _shipped() -> dict[str, Path]:
    paths = {path.stem: path for path in data_dir("boards").glob("*.toml")}
    return dict(sorted(paths.items()))


def _find(name_or_path: str) -> Path:
    if "/" in name_or_path or "\\" in name_or_path or name_or_path.endswith(".toml"):
        return Path(name_or_path)
    shipped = _shipped()
    if name_or_path in shipped:
        return shipped[name_or_path]
    close = difflib.get_close_matches(name_or_path.lower(), shipped, n=3, cutoff=0.5)
    guess = f"did you mean {' or '.join(close)}? " if close else ""
    raise InvalidBoard(
        f"no board is called {name_or_path!r}; {guess}"
        "see 'codegen boards list', or give the path of a .toml file"
    )


def _read(path: Path) -> tuple[Board | None, list[str]]:
    """The board and no problems, or None and at least one line."""
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        return None, [f"{path}: cannot be read ({error.strerror}); give the path of a .toml file"]
    except UnicodeDecodeError:
        return None, [f"{path}: is not UTF-8 text; give the path of a .toml file"]
    except (ValueError, RecursionError) as error:
        return None, [f"{path}: is not valid TOML: {error}; correct the syntax there"]
    try:
        board = Board.model_validate(data)
    except ValidationError as error:
        return None, [f"{path}: {_printable(line)}" for line in _translate(error)]
    missing = _missing_port(board)
    return (None, [f"{path}: {missing}"]) if missing else (board, [])


def _missing_port(board: Board) -> str | None:
    ports = sorted(path.parent.name for path in data_dir("runtime_c").glob("ports/*/link.ld"))
    if board.emulator is None or board.emulator.port in ports:
        return None
    known = ", ".join(ports)
    return f"emulator.port: no port is called {board.emulator.port!r}; choose one of {known}"


def _printable(line: str) -> str:
    """Keys of the file stand in the line as they are: they must not end it or steer a terminal."""
    return "".join(char if char.isprintable() else "?" for char in line)


def _translate(invalid: ValidationError) -> Iterator[str]:
    for error in invalid.errors(include_url=False):
        if error["type"] == "conflicts":
            yield from (f"{field}: {what}" for field, what in error["ctx"]["conflicts"])
        elif not _follows_from_another(error):
            yield f"{_field(error['loc'])}: {_sentence(error)}"


def _follows_from_another(error: ErrorDetails) -> bool:
    """A list counts as too short when its entries are wrong, each of which is reported itself."""
    return error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]


def _field(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "profile"


def _sentence(error: ErrorDetails) -> str:
    """What is wrong and what to do, for one error of pydantic."""
    kind, ctx, value = error["type"], error.get("ctx", {}), _shorten(error["input"])
    if kind == "extra_forbidden":
        return _unknown_field(error["loc"])
    texts = {
        "model_type": f"must be a table, not {value}; correct it",
        "tuple_type": f"must be a list, not {value}; correct it",
        "missing": "is missing; add it",
        "literal_error": f"must be {ctx.get('expected')}, not {value}; choose one",
        "string_type": f"must be text in quotes, not {value}; correct it",
        "int_type": f"must be an integer, not {value}; correct it",
        "bool_type": f"must be true or false, not {value}; correct it",
        "float_type": f"must be a number, not {value}; correct it",
        "float_parsing": f"must be a number, not {value}; correct it",
        "finite_number": f"must be a finite number, not {value}; correct it",
        "greater_than": f"must be above {ctx.get('gt')}, but is {value}; correct it",
        "greater_than_equal": f"must be at least {ctx.get('ge')}, but is {value}; correct it",
        "less_than": f"must be below {ctx.get('lt')}, but is {value}; correct it",
        "less_than_equal": f"must be at most {ctx.get('le')}, but is {value}; correct it",
        "too_short": f"needs at least {ctx.get('min_length')} entries; add one",
        "too_long": f"takes at most {ctx.get('max_length')} entries; remove some",
        "board": f"{error['msg']}; correct it",
    }
    return texts.get(kind, f"{error['msg']}; correct it")


def _shorten(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _unknown_field(loc: tuple[int | str, ...]) -> str:
    """For a field that the schema does not have, with the nearest that it has."""
    names = [part for part in loc if isinstance(part, str)]
    table = _TABLES.get(names[-2], Board) if len(names) > 1 else Board
    known = [field.alias or name for name, field in table.model_fields.items()]
    close = difflib.get_close_matches(names[-1], known, n=1)
    return (
        f"is not a field; did you mean {close[0]}?"
        if close
        else (f"is not a field; remove it (known: {', '.join(known)})")
    )
