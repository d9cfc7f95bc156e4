"""Randomly wired networks: a Watts-Strogatz graph whose nodes are sum and separable convolution.

Edges point from the lower to the higher node. A node with several inputs first adds them up; then
come a depthwise and a pointwise convolution. One operator feeds the sources, one joins the sinks.
All maps have the same size. (Xie et al., "Exploring Randomly Wired Neural Networks for Image
Recognition", 2019.)
"""

from __future__ import annotations

import random

from codegen.graph import Graph
from tests.planner.problems import graph_of


def watts_strogatz(nodes: int, neighbours: int, rewire: float, seed: int) -> list[tuple[int, int]]:
    """Edges of a connected small-world graph: a ring lattice with randomly moved edge ends."""
    rng = random.Random(seed)
    while True:
        edges = {
            frozenset((u, (u + distance) % nodes))
            for distance in range(1, neighbours // 2 + 1)
            for u in range(nodes)
        }
        for distance in range(1, neighbours // 2 + 1):
            for u in range(nodes):
                old, new = (
                    frozenset((u, (u + distance) % nodes)),
                    frozenset((u, rng.randrange(nodes))),
                )
                if rng.random() < rewire and len(new) == 2 and new not in edges:
                    edges = edges - {old} | {new}
        if _connected(nodes, edges):
            return sorted((min(e), max(e)) for e in edges)


def _connected(nodes: int, edges: set[frozenset[int]]) -> bool:
    reached, fresh = {0}, {0}
    while fresh:
        fresh = {v for e in edges if e & fresh for v in e} - reached
        reached |= fresh
    return len(reached) == nodes


def randwire_graph(nodes: int, neighbours: int, rewire: float, seed: int, size: int = 64) -> Graph:
    """One stage of such a network, 2 to 3 operators per node."""
    edges = watts_strogatz(nodes, neighbours, rewire, seed)
    operators: list[tuple[list[int], list[int]]] = []
    kinds: list[str] = []

    def add(kind: str, reads: list[int]) -> int:
        result = len(operators) + 1
        operators.append((reads, [result]))
        kinds.append(kind)
        return result

    entry = add("CONV_2D", [0])
    results: list[int] = []
    for node in range(nodes):
        reads = [results[a] for a, b in edges if b == node] or [entry]
        total = reads[0] if len(reads) == 1 else add("ADD_N", reads)
        results.append(add("CONV_2D", [add("DEPTHWISE_CONV_2D", [total])]))
    sources = {a for a, _ in edges}
    last = add("ADD_N", [results[n] for n in range(nodes) if n not in sources])
    return graph_of(operators, [size] * (last + 1), [0], [last], kinds)
