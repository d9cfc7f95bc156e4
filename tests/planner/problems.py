"""Order problems and graphs for tests, and slow, plain ways to price and solve them."""

from __future__ import annotations

import functools
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


def is_legal(problem: OrderProblem, order: Sequence[int]) -> bool:
    """Whether `order` holds every work once and each one behind those that it needs."""
    if sorted(order) != list(range(len(problem.works))):
        return False
    position = {work: p for p, work in enumerate(order)}
    return all(position[a] < position[i] for i in order for a in problem.works[i].after)


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
    users = _users(problem)
    return max(
        (_bytes_during(problem, users, frozenset(order[:p]), work) for p, work in enumerate(order)),
        default=0,
    )


def least_peak_over_sets(problem: OrderProblem) -> int:
    """The least peak of all orders, by the plain recursion over sets of works that have run."""
    users = _users(problem)
    everything = frozenset(range(len(problem.works)))

    @functools.cache
    def least(done: frozenset[int]) -> int:
        ready = [i for i in everything - done if done.issuperset(problem.works[i].after)]
        ways = (max(_bytes_during(problem, users, done, i), least(done | {i})) for i in ready)
        return min(ways, default=0)

    return least(frozenset())


def _users(problem: OrderProblem) -> list[set[int]]:
    """For each store the works that touch it."""
    return [
        {i for i, work in enumerate(problem.works) if store in work.stores}
        for store in range(len(problem.sizes))
    ]


def _bytes_during(
    problem: OrderProblem, users: Sequence[set[int]], done: frozenset[int], index: int
) -> int:
    """Bytes needed while work `index` runs, when the works in `done` have run."""
    work = problem.works[index]
    born = [bool(u & done) or s in problem.inputs for s, u in enumerate(users)]
    needed = [bool(u - done - {index}) or s in problem.kept for s, u in enumerate(users)]
    live = sum(
        size
        for s, size in enumerate(problem.sizes)
        if (born[s] or index in users[s]) and (needed[s] or index in users[s])
    )
    savings = [o.saved for o in work.overlaps if not needed[o.source] and not born[o.result]]
    return live + work.scratch - max(savings, default=0)
