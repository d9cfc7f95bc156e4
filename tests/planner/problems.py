"""Order problems and graphs for tests, and slow, plain ways to price and solve them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

from codegen.graph import DType, Graph, Node, Tensor
from codegen.planner.order_cost import OrderProblem, Overlap, Work


def graph_of(
    operators: Sequence[tuple[Sequence[int], Sequence[int]]],
    sizes: Sequence[int],
    inputs: Sequence[int],
    outputs: Sequence[int],
    kinds: Sequence[str] = (),
) -> Graph:
    """A graph of int8 tensors of the given sizes; `operators` are (reads, writes)."""
    tensors = [Tensor(i, f"t{i}", (size,), DType.INT8) for i, size in enumerate(sizes)]
    names = kinds or ["CONV_2D"] * len(operators)
    nodes = [
        Node(i, name, 1, tuple(reads), tuple(writes))
        for i, (name, (reads, writes)) in enumerate(zip(names, operators, strict=True))
    ]
    return Graph("main", tuple(tensors), tuple(nodes), tuple(inputs), tuple(outputs))


def random_problem(rng: random.Random, count: int) -> OrderProblem:
    """Any structure that the model allows: stores of several works, scratch, overlaps."""
    density = rng.choice((0.1, 0.3, 0.6))
    stores = rng.randint(1, 2 * count)
    sizes = tuple(rng.randint(1, rng.choice((3, 100))) for _ in range(stores))
    works = []
    for i in range(count):
        touched = tuple(rng.sample(range(stores), rng.randint(0, min(4, stores))))
        after = tuple(a for a in range(i) if rng.random() < density)
        overlaps = tuple(
            Overlap(a, b, rng.randint(0, min(sizes[a], sizes[b])))
            for a, b in itertools.permutations(touched, 2)
            if rng.random() < 0.3
        )
        works.append(Work(touched, after, overlaps, rng.choice((0, 0, rng.randint(0, 50)))))
    inputs = frozenset(s for s in range(stores) if rng.random() < 0.2)
    kept = frozenset(s for s in range(stores) if rng.random() < 0.2)
    return OrderProblem(tuple(works), sizes, inputs, kept)


def random_tensor_problem(rng: random.Random, count: int) -> OrderProblem:
    """As graphs have it: every work writes one store of its own and reads earlier ones."""
    sizes = tuple(rng.randint(1, 100) for _ in range(count + 1))
    works = []
    for i in range(count):
        reads = rng.sample(range(i + 1), min(i + 1, rng.choice((1, 1, 1, 2, 3))))
        overlaps = tuple(Overlap(r, i + 1, sizes[r]) for r in reads if sizes[r] == sizes[i + 1])
        works.append(Work((*reads, i + 1), tuple(r - 1 for r in reads if r), overlaps))
    read = {s for i, work in enumerate(works) for s in work.stores if s != i + 1}
    kept = frozenset(range(count + 1)) - read
    return OrderProblem(tuple(works), sizes, frozenset({0}), kept)


def legal_orders(problem: OrderProblem) -> Iterator[tuple[int, ...]]:
    """All of them."""

    def extend(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(order) == len(problem.works):
            yield order
        for i, work in enumerate(problem.works):
            if i not in order and all(a in order for a in work.after):
                yield from extend((*order, i))

    return extend(())


def simulated_peak(problem: OrderProblem, order: Sequence[int]) -> int:
    """Step through an order, asking of each store at each step whether it is needed."""
    worst = 0
    for position, index in enumerate(order):
        earlier, later = set(order[:position]), set(order[position + 1 :])
        users = [
            {i for i, work in enumerate(problem.works) if store in work.stores}
            for store in range(len(problem.sizes))
        ]
        born = [bool(u & earlier) or s in problem.inputs for s, u in enumerate(users)]
        needed = [bool(u & later) or s in problem.kept for s, u in enumerate(users)]
        live = sum(
            size
            for s, size in enumerate(problem.sizes)
            if (born[s] or index in users[s]) and (needed[s] or index in users[s])
        )
        work = problem.works[index]
        savings = [o.saved for o in work.overlaps if not needed[o.source] and not born[o.result]]
        worst = max(worst, live + work.scratch - max(savings, default=0))
    return worst
