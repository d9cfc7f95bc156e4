"""The operators of a model as the schedule sees them: works of the NPU, stops of the CPU, maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codegen.board_schema import Board
from codegen.graph import Graph, Node
from codegen.npu.tiling import engine, rates
from codegen.npu.weights import whole_bytes
from codegen.ops.base import Lowered
from codegen.targets.cpu import cpu_cycles
from codegen.targets.npu import Work, partition, whole_cycles


@dataclass(frozen=True, eq=False)
class Step:
    """One operator: its work on the NPU, or None and the cycles that it takes on the CPU.

    `reads` and `writes` are roots of maps; constants are not among them.
    """

    node: Node
    work: Work | None
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    cpu_cycles: int = 0


@dataclass(frozen=True, eq=False)
class Network:
    """Steps in execution order, and the maps between them.

    Attributes:
        roots: tensor -> the tensor whose bytes it repeats.
        last: root -> position of the last step that reads it, or -1.
        made: root -> position of the step that writes it; model inputs are not among them.
        bytes: root -> size of the map.
        viewed: root -> the step before which an operator first sees it under another shape.
        inputs: roots that are in memory before the run: what the caller writes, and state.
        outputs: roots that the caller reads.
    """

    graph: Graph
    board: Board
    steps: tuple[Step, ...]
    roots: Mapping[int, int]
    last: Mapping[int, int]
    made: Mapping[int, int]
    bytes: Mapping[int, int]
    viewed: Mapping[int, int]
    inputs: frozenset[int]
    outputs: frozenset[int]


@dataclass(frozen=True)
class Limits:
    """Compute cycles without starts, compulsory bytes, and the cycles that these take at least."""

    compute: int
    compulsory: int
    transfer: float

    @property
    def cycles(self) -> float:
        return max(self.compute, self.transfer)


def network(
    graph: Graph, board: Board, nodes: tuple[Node, ...], lowered: Mapping[int, Lowered]
) -> Network:
    """The nodes, in this order of execution, divided between NPU and CPU."""
    npu, _ = engine(board)
    ordered = replace(graph, nodes=nodes)
    roots: dict[int, int] = {}
    steps: list[Step] = []
    viewed: dict[int, int] = {}
    for a in partition(ordered, npu, lowered):
        reads = [t for t in a.node.inputs if t >= 0 and not graph.tensors[t].is_constant]
        known = tuple(dict.fromkeys(roots.get(t, t) for t in reads))
        if a.engine == "view":
            roots[a.node.outputs[0]] = known[0]
            viewed.setdefault(known[0], len(steps))
            continue
        cycles = 0 if a.work else cpu_cycles(graph, lowered[a.node.index])
        steps.append(Step(a.node, a.work, known, tuple(a.node.outputs), cycles))
    given = (*graph.inputs, *(state.start for state in graph.states))
    maps = dict.fromkeys([*given, *(t for s in steps for t in (*s.reads, *s.writes))])
    return Network(
        graph=graph,
        board=board,
        steps=tuple(steps),
        roots=roots,
        last={t: max((i for i, s in enumerate(steps) if t in s.reads), default=-1) for t in maps},
        made={t: i for i, s in enumerate(steps) for t in s.writes},
        bytes={t: graph.tensors[t].nbytes for t in maps},
        viewed=viewed,
        inputs=frozenset(given),
        outputs=frozenset(roots.get(t, t) for t in graph.outputs),
    )


def limits(net: Network) -> Limits:
    """Sums over the NPU's operators: weights, parameters, and what they read of the model's inputs
    and state and write of its outputs are compulsory."""
    npu, _ = engine(net.board)
    works = [s.work for s in net.steps if s.work]
    load, store, weight_rate = rates(net.board)
    weights = sum(whole_bytes(w) for w in works)
    read = {t for s in net.steps if s.work for t in s.reads}
    written = {t for s in net.steps if s.work for t in s.writes}
    fed = sum(net.bytes[t] for t in net.inputs & read)
    given = sum(net.bytes[t] for t in net.outputs & written)
    return Limits(
        compute=sum(whole_cycles(npu, w) for w in works),
        compulsory=weights + fed + given,
        transfer=weights / weight_rate + fed / load + given / store,
    )
