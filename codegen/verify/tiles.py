"""Inner tensors of the NPU: put together from the tiles that the `sim` port hands out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from codegen.errors import ToolError
from codegen.npu.plan import NpuPlan


def tensors_of_tiles(npu: NpuPlan, tiles: Mapping[int, bytes]) -> dict[int, bytes]:
    """Tensor -> its bytes, of every operator that the NPU runs.

    Args:
        npu: the plan that was run.
        tiles: number of a command of the NPU, in the order of the run -> the bytes that it wrote.

    Raises:
        ToolError: if a tile is missing.
    """
    commands = [c for c in npu.builder.program.commands if c.work is not None]
    maps = {
        work.output: np.zeros((work.result.h, work.result.w, work.result.c), np.int8)
        for work in (step.work for step in npu.network.steps)
        if work is not None
    }
    for number, command in enumerate(commands):
        if command.work is None or not command.last:
            continue
        if number not in tiles:
            raise ToolError(f"command {number} of the NPU has not run; the plan leaves it out")
        t = command.tile
        shape = (t.y1 - t.y0, t.x1 - t.x0, t.channels)
        tile = np.frombuffer(tiles[number], np.int8).reshape(shape)
        maps[command.work.output][t.y0 : t.y1, t.x0 : t.x1, t.c0 : t.c1] = tile
    return {tensor: values.tobytes() for tensor, values in maps.items()}
