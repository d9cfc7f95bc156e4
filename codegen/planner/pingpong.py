"""Strategy `pingpong`: two buffers for every branch.

A branch is a chain of operators, each of which reads nothing but the result of the one before,
which nobody else reads. M1 and M2 are the two largest results of the chain, M1 >= M2. If they are
equal, the operators write the two buffers in turn from the start. If not, the operator with the
largest result writes M1, and for every other one the parity of its distance to that operator
decides: even M1, odd M2.

    results     20  50  30  10          M1 = 50, M2 = 30
    written to  M2  M1  M2  M1

A buffer is taken when the first operator writes it. At the end of the branch the one without the
result is free again, the other one after the last reader of the result. A chain of one operator
takes one buffer. The buffers of all branches and everything else (model inputs, results where
branches meet, scratch) are then packed like any blocks, by first fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.planner.blocks import (
    NO_SPACING,
    Block,
    Packing,
    Pair,
    Region,
    Shared,
    Spacing,
    lower_bound,
)
from codegen.planner.first_fit import greedy

Turns = tuple[list[Block], list[Block]]
"""The blocks of a chain that lie in M1 and those that lie in M2."""


def pingpong(blocks: Sequence[Block], region: Region, spacing: Spacing = NO_SPACING) -> Packing:
    """Two buffers per chain of two or more blocks; row lag is used outside of these only.

    The size of a pair is kept as the rule says, even where parity puts both largest results into
    M1 and no result needs all of M2.
    """
    alone, taken = [], []
    for number, chain in enumerate(chains(blocks)):
        if len(chain) == 1:
            alone += chain
            continue
        turns, sizes = take_turns(chain), sorted((b.size for b in chain), reverse=True)
        kept = [
            replace(part[0], name=f"branch {number} {letter}", size=size, last=part[-1].last)
            for part, letter, size in zip(turns, "ab", sizes[:2], strict=True)
        ]
        taken.append((turns, kept))
    packed = greedy([*alone, *(b for _, kept in taken for b in kept)], region, spacing)
    offsets = {b.name: packed.offsets[b.name] for b in alone}
    pairs = tuple(_pair(turns, kept, packed) for turns, kept in taken)
    offsets.update({name: part.offset for pair in pairs for part in pair for name in part.blocks})
    bound, _ = lower_bound(blocks, region.alignment, spacing)
    return Packing(offsets, packed.bytes, bound, "pingpong", pairs)


def chains(blocks: Sequence[Block]) -> list[list[Block]]:
    """All blocks as chains, each in the order of its operators; most are as long as can be.

    A chain goes on where a block has one follower alone, among the blocks given, and dies when
    that one is made.
    """
    ordered = sorted(blocks, key=lambda b: (b.first, b.name))
    by_name = {b.name: b for b in blocks}
    followers: dict[str, list[Block]] = {}
    for block in ordered:
        if block.follows in by_name:
            followers.setdefault(block.follows, []).append(block)
    following = {
        name: after[0]
        for name, after in followers.items()
        if len(after) == 1 and by_name[name].first < by_name[name].last == after[0].first
    }
    inner = {block.name for block in following.values()}
    found = []
    for block in ordered:
        if block.name in inner:
            continue
        chain = [block]
        while chain[-1].name in following:
            chain.append(following[chain[-1].name])
        found.append(chain)
    return found


def take_turns(chain: Sequence[Block]) -> Turns:
    """Who lies in M1 and who in M2, in a chain of two or more blocks."""
    sizes = [b.size for b in chain]
    largest, second = sorted(sizes, reverse=True)[:2]
    start = 0 if largest == second else sizes.index(largest) % 2
    return list(chain[start::2]), list(chain[1 - start :: 2])


def _pair(turns: Turns, kept: Sequence[Block], packed: Packing) -> Pair:
    a, b = (
        Shared(packed.offsets[whole.name], whole.size, tuple(block.name for block in part))
        for part, whole in zip(turns, kept, strict=True)
    )
    return a, b
