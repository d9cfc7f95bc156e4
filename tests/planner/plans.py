"""Plans written by hand, as the documents that plan.json holds: what the checker is tested with.

plan = PlanWriter()
x = plan.tensor((1, 4, 4, 8), plan.buffer("x", offset=0, size=128, first=-1, last=0))
y = plan.tensor((1, 4, 4, 8), plan.buffer("y", offset=128, size=128, first=0, last=1))
plan.layer("CONV_2D", [x], [y], [kernel([plan.read(x, rows=window(3))], [plan.write(y)])])
document = plan.build(inputs=[x], outputs=[y])
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from codegen.planner.checker import check_plan

Json = dict[str, Any]
ITEM_BYTES = {"int8": 1, "int16": 2, "int32": 4}


def affine(constant: int, **terms: int) -> Json:
    return {"constant": constant, "terms": [[name, factor] for name, factor in terms.items()]}


def window(span: int, stride: int = 1, pad: int | None = None) -> Json:
    """The row map of a window, centred unless `pad` is given."""
    return {"stride": stride, "offset": -(span // 2 if pad is None else pad), "span": span}


SAME_ROW = window(1)


def kernel(
    reads: Sequence[Json],
    writes: Sequence[Json],
    rows: tuple[int, int] | None = None,
    *,
    scratch: str | None = None,
    scratch_bytes: int = 0,
    rows_per_step: int = 1,
    image: Json | None = None,
) -> Json:
    """A kernel step over the output rows `rows` (all of them by default), columns and channels."""
    _, h, w, c = writes[0]["box"]["size"]
    y0, y1 = rows or (0, h)
    return {
        "kernel": "kernel",
        "range": [y0, y1, 0, w, 0, c],
        "image": image or affine(0),
        "row": affine(0),
        "rows_per_step": rows_per_step,
        "scratch": scratch,
        "scratch_bytes": scratch_bytes,
        "reads": list(reads),
        "writes": list(writes),
    }


class PlanWriter:
    """Collects the parts of one plan for one RAM called `ram` and a flash called `flash`."""

    def __init__(self, usable: int = 65536, alignment: int = 4) -> None:
        self.usable, self.alignment = usable, alignment
        self.tensors: list[Json] = []
        self.buffers: dict[str, Json] = {}
        self.layers: list[Json] = []

    def buffer(
        self, name: str, offset: int, size: int, first: int, last: int, home: str = "arena"
    ) -> str:
        self.buffers[name] = {
            "name": name,
            "home": home,
            "memory": {"arena": "ram", "state": "ram", "constant": "flash"}.get(home, ""),
            "offset": offset,
            "size": size,
            "first": first,
            "last": last,
            "tensors": [],
        }
        return name

    def tensor(self, shape: Sequence[int], buffer: str, dtype: str = "int8") -> int:
        number = len(self.tensors)
        size = math.prod(shape) * ITEM_BYTES[dtype]
        self.buffers[buffer]["tensors"].append(number)
        self.tensors.append(
            {
                "id": number,
                "name": f"t{number}",
                "type": dtype,
                "shape": list(shape),
                "bytes": size,
                "buffer": buffer,
                "offset": 0,
            }
        )
        return number

    def view(
        self,
        tensor: int,
        *,
        start: tuple[int, int, int, int] = (0, 0, 0, 0),
        size: tuple[int, int, int, int] | None = None,
        offset: Json | None = None,
        row: int | None = None,
        pixel: int | None = None,
        ring: int = 0,
        shared: bool = False,
        dense: bool = False,
    ) -> Json:
        """A view of a box of a tensor that lies dense, unless strides and offset are given."""
        entry = self.tensors[tensor]
        item = ITEM_BYTES[entry["type"]]
        n, h, w, c = shape = tuple(entry["shape"])
        extent = size or (n, h, w, c)
        corner = (((start[0] * h + start[1]) * w + start[2]) * c + start[3]) * item
        return {
            "tensor": tensor,
            "buffer": entry["buffer"],
            "offset": offset or affine(corner),
            "row": w * c * item if row is None else row,
            "pixel": c * item if pixel is None else pixel,
            "height": extent[1],
            "width": extent[2],
            "pixel_bytes": extent[3] * item,
            "ring": ring,
            "row0": 0,
            "col0": 0,
            "box": {
                "map": list(shape),
                "start": list(start),
                "size": list(extent),
                "shared": shared,
                "dense": dense,
                "whole": False,
            },
        }

    def write(self, tensor: int, **options: Any) -> Json:
        return self.view(tensor, **options)

    def read(self, tensor: int, alias: str = "none", rows: Json = SAME_ROW, **options: Any) -> Json:
        return self.view(tensor, **options) | {"alias": alias, "rows": rows}

    def layer(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        steps: Sequence[Json] = (),
        *,
        views: Sequence[Json] = (),
        operator: int | None = None,
    ) -> None:
        self.layers.append(
            {
                "operator": len(self.layers) if operator is None else operator,
                "kind": kind,
                "summary": "",
                "macs": 0,
                "inputs": list(inputs),
                "outputs": list(outputs),
                "note": "",
                "forms": [],
                "views": list(views),
                "steps": list(steps),
            }
        )

    def share(
        self, source: int, result: int, start: tuple[int, int, int, int] = (0, 0, 0, 0)
    ) -> Json:
        """All of `source` is the part of `result` that begins at `start`."""
        shape, whole = (self.tensors[t]["shape"] for t in (source, result))
        return {
            "source": {"tensor": source, "map": shape, "start": [0, 0, 0, 0], "size": shape},
            "result": {"tensor": result, "map": whole, "start": list(start), "size": shape},
        }

    def build(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        keep_input: bool = False,
        states: Sequence[tuple[int, int | None]] = (),
    ) -> Json:
        """The document, a copy of its own; `states` are pairs (start, end)."""
        arena, state = self._end("arena"), self._end("state")
        memory = {"usable": self.usable, "alignment": self.alignment}
        ram = {"arena_bytes": arena, "state_bytes": state, "used": arena + state}
        flash = {"arena_bytes": 0, "state_bytes": 0, "used": 0}
        document = {
            "format": "codegen-plan",
            "version": 1,
            "model": "hand",
            "board": "none",
            "order": "model",
            "arena": "hand",
            "memory": "min",
            "bound_by": "count",
            "lower_bound_bytes": 0,
            "memories": [
                {"name": "ram", "kind": "ram"} | ram | memory,
                {"name": "flash", "kind": "flash"} | flash | memory,
            ],
            "inputs": list(inputs),
            "outputs": list(outputs),
            "keep_input": keep_input,
            "states": [{"start": start, "end": end} for start, end in states],
            "tensors": self.tensors,
            "buffers": list(self.buffers.values()),
            "layers": self.layers,
        }
        return copy.deepcopy(document)

    def _end(self, home: str) -> int:
        """Where the last buffer of a home ends."""
        ends = [b["offset"] + b["size"] for b in self.buffers.values() if b["home"] == home]
        return max(ends, default=0)


def chain() -> Json:
    """Conv, add of two tensors, conv with scratch; every buffer apart. A plan without a fault.

    Bytes: x 0..127 (layers -1..1), a 128..255 (0..1), b 256..383 (1..2), y 0..127 (2..3),
    scratch 384..415 (2).
    """
    plan = PlanWriter()
    shape = (1, 4, 4, 8)
    x = plan.tensor(shape, plan.buffer("x", 0, 128, -1, 1))
    a = plan.tensor(shape, plan.buffer("a", 128, 128, 0, 1))
    b = plan.tensor(shape, plan.buffer("b", 256, 128, 1, 2))
    y = plan.tensor(shape, plan.buffer("y", 0, 128, 2, 3))
    scratch = plan.buffer("s", 384, 32, 2, 2)
    plan.layer("CONV_2D", [x], [a], [kernel([plan.read(x, rows=window(3))], [plan.write(a)])])
    reads = [plan.read(x, "element"), plan.read(a, "element")]
    plan.layer("ADD", [x, a], [b], [kernel(reads, [plan.write(b)])])
    last = kernel(
        [plan.read(b, rows=window(3))], [plan.write(y)], scratch=scratch, scratch_bytes=32
    )
    plan.layer("CONV_2D", [b], [y], [last])
    return plan.build([x], [y])


def through_json(document: Json) -> Json:
    """The document as a reader of the file gets it."""
    decoded: Json = json.loads(json.dumps(document))
    return decoded


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of every value in a document, containers first."""
    if path:
        yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def at(document: Any, path: Sequence[Any]) -> Any:
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def faults(document: Json) -> str:
    return "\n".join(check_plan(through_json(document)).faults)


def assert_fault(document: Json, *words: str) -> None:
    """At least one line holds all the words."""
    lines = check_plan(through_json(document)).faults
    assert any(all(word in line for word in words) for line in lines), "\n".join(lines)


def step(document: Json, layer: int) -> Json:
    """The first step of a layer."""
    found: Json = document["layers"][layer]["steps"][0]
    return found


def buffer(document: Json, name: str) -> Json:
    """The buffer of that name."""
    found: Json = next(b for b in document["buffers"] if b["name"] == name)
    return found
