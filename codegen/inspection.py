"""What is in a model and what it costs, for `codegen inspect`: figures first, then their text.

Works on every valid file, whatever its operators and types, since it needs only shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

from codegen.errors import CodegenError
from codegen.graph import Graph, Model, Node, Tensor
from codegen.macs import macs
from codegen.passes import link
from codegen.sizes import format_size

_NAME_WIDTH = 40  # characters of a tensor's name in the text


@dataclass(frozen=True)
class TensorInfo:
    """An input, output or variable. Scale and zero point are the first of several channels'."""

    index: int
    name: str
    type: str
    shape: tuple[int, ...]
    bytes: int
    scale: float | None
    zero_point: int | None
    channels: int  # pairs of scale and zero point; 0: not quantised
    free_dims: tuple[int, ...]


@dataclass(frozen=True)
class OperatorInfo:
    """One operator, in the order in which they run.

    `weights_bytes` are the constants that it is the first to read, `live_bytes` the tensors that
    hold something while it runs: its operands, its results and what waits for later operators.
    """

    subgraph: int
    index: int
    kind: str
    version: int
    outputs: tuple[str, ...]
    macs: int
    weights_bytes: int
    live_bytes: int
    unsupported: str | None


@dataclass(frozen=True)
class JoinInfo:
    """A concatenation of the main subgraph, and what a plan with default options makes of it."""

    index: int
    way: str


@dataclass(frozen=True)
class Inspection:
    """The whole report; all sizes in bytes.

    `live_peak_bytes` is the largest `live_bytes` of the main subgraph, at the operator with the
    file's index `live_peak_operator` (None: no operators). State is that of variable tensors.
    """

    name: str
    size: int
    sha256: str
    description: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    variables: tuple[TensorInfo, ...]
    operators: tuple[OperatorInfo, ...]
    joins: tuple[JoinInfo, ...]
    subgraphs: int
    macs: int
    weights_bytes: int
    state_bytes: int
    live_peak_bytes: int
    live_peak_operator: int | None


def inspect_model(
    model: Model,
    name: str,
    unsupported: Mapping[int, str] = MappingProxyType({}),
    joins: Mapping[int, str] = MappingProxyType({}),
) -> Inspection:
    """Gather the report.

    Args:
        model: as imported.
        name: what the report calls it.
        unsupported: why code cannot be written for an operator of the main subgraph, by its index
            in the file.
        joins: what becomes of concatenations, by index.
    """
    counted: set[int] = set()  # buffers whose bytes an operator has been charged with
    operators = [
        operator
        for position, graph in enumerate(model.graphs)
        for operator in _operators(position, graph, counted, unsupported if not position else {})
    ]
    peak = max((o for o in operators if o.subgraph == 0), key=lambda o: o.live_bytes, default=None)
    variables = [t for graph in model.graphs for t in graph.tensors if t.is_variable]
    return Inspection(
        name=name,
        size=model.size,
        sha256=model.sha256,
        description=model.description,
        inputs=_infos(model.main.tensors[i] for i in model.main.inputs),
        outputs=_infos(model.main.tensors[i] for i in model.main.outputs),
        variables=_infos(variables),
        operators=tuple(operators),
        joins=tuple(JoinInfo(index, way) for index, way in sorted(joins.items())),
        subgraphs=len(model.graphs),
        macs=sum(o.macs for o in operators),
        weights_bytes=sum(_constants(t for graph in model.graphs for t in graph.tensors).values()),
        state_bytes=_state_bytes(model, variables),
        live_peak_bytes=peak.live_bytes if peak else 0,
        live_peak_operator=peak.index if peak else None,
    )


def _state_bytes(model: Model, variables: Sequence[Tensor]) -> int:
    """Bytes that live on between runs; of variable tensors alone where handles do not resolve."""
    own = sum(t.nbytes for t in variables)
    try:
        graph = link(model)
    except CodegenError:
        return own
    file_tensors = len(model.main.tensors)
    return own + sum(len(s.initial) for s in graph.states if s.start >= file_tensors)


def live_bytes(graph: Graph) -> tuple[int, ...]:
    """Bytes of the tensors that are live at each node of `graph.nodes`, in that order.

    An input is live from the start to its last reader, a result from its operator to its last
    reader, or to the end if it is an output; scratch memory that nothing writes counts from its
    first reader. Constants and variables do not count.
    """
    if not graph.nodes:
        return ()
    end = len(graph.nodes) - 1
    first = dict.fromkeys(graph.inputs, 0)
    last = dict.fromkeys(graph.inputs, 0)
    for position, node in enumerate(graph.nodes):
        for index in node.outputs:
            first[index] = last[index] = position
        for index in node.inputs:
            first.setdefault(index, position)
            last[index] = position
    last.update(dict.fromkeys(graph.outputs, end))
    changes = [0] * (len(graph.nodes) + 1)
    first.pop(-1, None)  # absent operands
    for index, start in first.items():
        tensor = graph.tensors[index]
        if not tensor.is_constant and not tensor.is_variable:
            changes[start] += tensor.nbytes
            changes[last[index] + 1] -= tensor.nbytes
    live: list[int] = []
    for change in changes[: len(graph.nodes)]:
        live.append((live[-1] if live else 0) + change)
    return tuple(live)


def _operators(
    subgraph: int, graph: Graph, counted: set[int], unsupported: Mapping[int, str]
) -> Iterator[OperatorInfo]:
    for node, live in zip(graph.nodes, live_bytes(graph), strict=True):
        read = _constants(graph.tensors[i] for i in node.inputs if i >= 0)
        weights = sum(size for buffer, size in read.items() if buffer not in counted)
        counted.update(read)
        yield OperatorInfo(
            subgraph=subgraph,
            index=node.index,
            kind=_kind(node),
            version=node.version,
            outputs=tuple(graph.tensors[i].describe() for i in node.outputs),
            macs=macs(graph, node),
            weights_bytes=weights,
            live_bytes=live,
            unsupported=unsupported.get(node.index),
        )


def _kind(node: Node) -> str:
    return f"{node.op} {node.custom_name}" if node.custom_name else node.op


def _constants(tensors: Iterable[Tensor]) -> dict[int, int]:
    """Buffer -> bytes of the constants among `tensors`; several may share one buffer."""
    return {t.buffer: len(t.raw) for t in tensors if t.raw is not None}


def _infos(tensors: Iterable[Tensor]) -> tuple[TensorInfo, ...]:
    return tuple(
        TensorInfo(
            index=t.index,
            name=t.name,
            type=t.dtype.value,
            shape=t.shape,
            bytes=t.nbytes,
            scale=t.quant.scale if t.quant else None,
            zero_point=t.quant.zero_point if t.quant else None,
            channels=len(t.quant.scales) if t.quant else 0,
            free_dims=t.free_dims,
        )
        for t in tensors
    )


def inspection_dict(report: Inspection) -> dict[str, object]:
    """The report as plain dicts, lists and numbers, for `--json`."""
    return asdict(report)


def inspection_text(report: Inspection) -> str:
    """The report as lines for a terminal, ending in a newline."""
    lines = [
        f"{report.name}: {report.size:,} bytes, sha256 {report.sha256}",
        *([f"  {report.description}"] if report.description else []),
        *_tensor_lines("inputs", report.inputs),
        *_tensor_lines("outputs", report.outputs),
        *_tensor_lines("variables", report.variables),
        "",
        *_table(_HEADER, [_row(o, report.subgraphs > 1) for o in report.operators], "<<<<>>>"),
        *_remarks(report.operators),
        *_join_lines(report.joins),
        "",
        *_totals(report),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _join_lines(joins: Sequence[JoinInfo]) -> Iterator[str]:
    if joins:
        yield ""
        yield "concatenations, as a plan for the host makes them:"
        yield from (f"  op {join.index}: {join.way}" for join in joins)


_HEADER = ("", "op", "kind", "output", "MACs", "weights B", "live B")


def _row(operator: OperatorInfo, with_subgraph: bool) -> tuple[str, ...]:
    place = f"{operator.subgraph}:{operator.index}" if with_subgraph else str(operator.index)
    return (
        "!" if operator.unsupported else "",
        place,
        f"{operator.kind} v{operator.version}",
        " ".join(operator.outputs),
        f"{operator.macs:,}",
        f"{operator.weights_bytes:,}",
        f"{operator.live_bytes:,}",
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], alignment: str) -> Iterator[str]:
    """Columns as wide as their widest cell; `alignment` is "<" or ">" for each."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = zip(row, alignment, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells)


def _tensor_lines(title: str, tensors: Sequence[TensorInfo]) -> Iterator[str]:
    if tensors:
        yield f"{title}:"
        rows = [(f"  {t.index}", _short(t.name), _type(t), _quantization(t)) for t in tensors]
        yield from list(_table(("", "", "", ""), rows, ">" + "<" * 3))[1:]


def _short(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 3] + "..."


def _type(tensor: TensorInfo) -> str:
    sizes = ",".join(
        f"{d}?" if i in tensor.free_dims else str(d) for i, d in enumerate(tensor.shape)
    )
    return f"{tensor.type}[{sizes}]"


def _quantization(tensor: TensorInfo) -> str:
    if not tensor.channels:
        return ""
    if tensor.channels > 1:
        return f"{tensor.channels} scales, the first {tensor.scale:.9g}"
    return f"scale {tensor.scale:.9g}, zero point {tensor.zero_point}"


def _remarks(operators: Sequence[OperatorInfo]) -> Iterator[str]:
    for operator in operators:
        if operator.unsupported:
            yield f"! {operator.unsupported}"


def _totals(report: Inspection) -> Iterator[str]:
    main = sum(o.subgraph == 0 for o in report.operators)
    yield f"operators   {main:,}" + (
        f" in the main subgraph, {len(report.operators):,} in all {report.subgraphs}"
        if report.subgraphs > 1
        else ""
    )
    if refused := sum(o.unsupported is not None for o in report.operators):
        yield f"refused     {refused:,}, marked with !: no C can be written for this model as it is"
    once = ", each subgraph once" if report.subgraphs > 1 else ""
    yield f"MACs        {report.macs:,}{once}"
    yield f"weights     {_bytes(report.weights_bytes)}"
    if report.variables:
        yield f"state       {_bytes(report.state_bytes)} in {len(report.variables)} variables"
    if report.live_peak_operator is not None:
        at = next(o for o in report.operators if o.index == report.live_peak_operator)
        yield f"most live   {_bytes(report.live_peak_bytes)} at operator {at.index} {at.kind}"


def _bytes(size: int) -> str:
    exact = f"{size:,} B"
    return exact if size < 1024 else f"{exact} ({format_size(size)})"
