"""A bound that no schedule of a network in this order can beat, proved without finding one.

Cut the operators into intervals. The engines compute in order, so the intervals' times add up. In
an interval they need at least what they compute; and all weights of its operators and all maps that
come from outside of it must be in the scratchpad some time during it, of which no more than the
scratchpad's size can be there when it begins: the rest is moved meanwhile. Every way to cut gives a
bound; dynamic programming finds the best one.
"""

from __future__ import annotations

from codegen.npu.network import Network, Step, limits
from codegen.npu.tiling import engine, rates
from codegen.npu.weights import whole_bytes
from codegen.targets.npu import whole_cycles


def proved_bound(net: Network) -> int:
    """Cycles that a run takes at least."""
    load, _, weight_rate = rates(net.board)
    assert net.board.scratchpad is not None
    free = net.board.scratchpad.size / min(load, weight_rate)
    best = [0.0]
    for end in range(1, len(net.steps) + 1):
        found, compute, weights = best[end - 1], 0, 0.0
        outside: set[int] = set()
        for start in range(end - 1, -1, -1):
            step = net.steps[start]
            compute += _compute(net, step)
            weights += whole_bytes(step.work) / weight_rate if step.work else 0.0
            outside.difference_update(step.writes)
            if step.work is not None:
                outside.update(step.reads)
            maps = sum(net.bytes[t] for t in outside) / load
            found = max(found, best[start] + max(compute, weights + maps - free))
        best.append(found)
    return int(max(best[-1], limits(net).transfer))


def _compute(net: Network, step: Step) -> int:
    npu, _ = engine(net.board)
    if step.work is None:
        return step.cpu_cycles
    return npu.start_cycles + whole_cycles(npu, step.work)
