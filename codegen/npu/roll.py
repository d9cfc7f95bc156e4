"""Lists of steps made into loops: what repeats with addresses that move evenly, or in turn.

A node is a step with its numbers taken out: nodes with equal keys differ in their numbers alone. A
run of n equal groups of nodes becomes a loop if every number of the group moves evenly from one
to the next, or goes round a few values in turn, as buffers do that are used alternately. Loops are
nodes again, so that nests come out of it. By construction the loops do what the list did.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from codegen.plan import Affine, Loop, Step

VARIABLES = ("i", "j", "k", "l")
_LONGEST_BODY = 64
_LARGEST_TURN = 8
_LEAST_SAVING = 4

Make = Callable[[tuple[Affine, ...], int], Step]


@dataclass(frozen=True, eq=False)
class Node:
    """One step or loop; `make` puts it together from affine numbers and the depth of loops."""

    key: Hashable
    values: tuple[int, ...]
    make: Make


@dataclass(frozen=True)
class _Pattern:
    """Number t of a run: start + t * step, or start + ((t + shift) mod modulus) * step."""

    start: int
    step: int
    shift: int = 0
    modulus: int = 0

    @property
    def key(self) -> tuple[int, int, int]:
        return self.step, self.shift, self.modulus

    def moving(self, start: Affine, variable: str) -> Affine:
        if not self.step:
            return start
        if not self.modulus:
            terms = (*start.terms, (variable, self.step))
            return Affine(start.constant, terms, start.cycles)
        turn = (variable, self.shift, self.modulus, self.step)
        return Affine(start.constant, start.terms, (*start.cycles, turn))


def roll(nodes: Sequence[Node]) -> tuple[Step, ...]:
    """The steps of the nodes, with loops wherever they save enough."""
    current = list(nodes)
    for _ in VARIABLES:
        rolled = _once(current)
        if len(rolled) == len(current):
            break
        current = rolled
    return tuple(node.make(tuple(map(Affine, node.values)), 0) for node in current)


def _once(nodes: list[Node]) -> list[Node]:
    """One level of loops: the run that saves most first, then what is before and behind it."""
    found = _best_run(nodes)
    if found is None:
        return nodes
    at, length, count, patterns = found
    loop = _loop(nodes[at : at + length], count, patterns)
    return [*_once(nodes[:at]), loop, *_once(nodes[at + length * count :])]


def _best_run(nodes: list[Node]) -> tuple[int, int, int, list[_Pattern]] | None:
    """(start, nodes per round, rounds, how numbers move) of the run that saves most."""
    best: tuple[int, int, int, list[_Pattern]] | None = None
    saved = _LEAST_SAVING - 1
    keys = [node.key for node in nodes]
    for length in range(1, min(_LONGEST_BODY, len(nodes) // 2) + 1):
        equal = _equal_ahead(keys, length)
        for at in range(len(nodes) - 2 * length + 1):
            count = 1 + equal[at] // length
            if (count - 1) * length <= saved:
                continue
            count, patterns = _moving(nodes, at, length, count)
            if (count - 1) * length > saved:
                saved, best = (count - 1) * length, (at, length, count, patterns)
    return best


def _equal_ahead(keys: list[Hashable], length: int) -> list[int]:
    """By position, how many nodes in a row equal those that stand `length` further on."""
    equal = [0] * (len(keys) + 1)
    for at in range(len(keys) - length - 1, -1, -1):
        equal[at] = equal[at + 1] + 1 if keys[at] == keys[at + length] else 0
    return equal


def _moving(nodes: list[Node], at: int, length: int, count: int) -> tuple[int, list[_Pattern]]:
    """The most rounds for which every number has a pattern, and the patterns."""
    columns = [
        [nodes[at + t * length + k].values[v] for t in range(count)]
        for k in range(length)
        for v in range(len(nodes[at + k].values))
    ]
    stable = False
    while not stable:
        longest = min((_longest(column[:count]) for column in columns), default=count)
        stable, count = longest == count, longest
    return count, [_pattern(column[:count]) for column in columns]


def _longest(column: list[int]) -> int:
    """The longest start of a column that has a pattern."""
    even = _even(column)
    if even == len(column):
        return even
    return max(even, *(_turning(column, m) for m in range(2, _LARGEST_TURN + 1)))


def _even(column: list[int]) -> int:
    step = column[1] - column[0] if len(column) > 1 else 0
    good = min(2, len(column))
    while good < len(column) and column[good] - column[good - 1] == step:
        good += 1
    return good


def _turning(column: list[int], modulus: int) -> int:
    """How far a column goes round `modulus` evenly spaced values in turn."""
    if len(column) < modulus or _turn(column, modulus) is None:
        return 0
    good = modulus
    while good < len(column) and column[good] == column[good - modulus]:
        good += 1
    return good


def _turn(column: list[int], modulus: int) -> tuple[int, int, int] | None:
    """(lowest value, step, shift) if the first values are evenly spaced when started elsewhere."""
    first = column[:modulus]
    low = min(first)
    at = first.index(low)
    turned = first[at:] + first[:at]
    step = turned[1] - turned[0]
    if step <= 0 or any(b - a != step for a, b in pairwise(turned)):
        return None
    return low, step, (modulus - at) % modulus


def _pattern(column: list[int]) -> _Pattern:
    if _even(column) == len(column):
        return _Pattern(column[0], column[1] - column[0])
    for modulus in range(2, _LARGEST_TURN + 1):
        turn = _turn(column, modulus) if len(column) >= modulus else None
        if turn is not None and _turning(column, modulus) == len(column):
            low, step, shift = turn
            return _Pattern(low, step, shift, modulus)
    raise AssertionError("the column was found to have a pattern")


def _loop(body: list[Node], count: int, patterns: list[_Pattern]) -> Node:
    sizes = [len(node.values) for node in body]

    def make(values: tuple[Affine, ...], depth: int) -> Step:
        variable = VARIABLES[depth]
        steps, at = [], 0
        for node, size in zip(body, sizes, strict=True):
            moved = tuple(
                pattern.moving(value, variable)
                for value, pattern in zip(
                    values[at : at + size], patterns[at : at + size], strict=True
                )
            )
            steps.append(node.make(moved, depth + 1))
            at += size
        return Loop(variable, count, tuple(steps))

    key = ("loop", count, tuple(n.key for n in body), tuple(p.key for p in patterns))
    return Node(key, tuple(p.start for p in patterns), make)
