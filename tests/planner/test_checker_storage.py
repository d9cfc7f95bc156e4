"""The checker on storage that saves memory: row lag, rings of rows, shared and constant memory.

Each plan is accepted when it is right and refused when it is off by one row, pixel or element.
"""

from __future__ import annotations

import pytest

from codegen.planner.checker import check_plan
from tests.planner.plans import (
    Json,
    PlanWriter,
    affine,
    assert_fault,
    buffer,
    faults,
    kernel,
    step,
    through_json,
    window,
)

SHAPE = (1, 4, 4, 8)


def row_lag(
    lag: int, span: int = 3, stride: int = 1, rows_per_step: int = 1, alias: str = "row"
) -> Json:
    """A window over x written `lag` rows below x in memory, over x itself."""
    plan = PlanWriter()
    height, row = 8, 32
    x = plan.tensor((1, height, 4, 8), plan.buffer("x", lag * row, height * row, -1, 0))
    rows = -(-height // stride)
    y = plan.tensor((1, rows, 4, 8), plan.buffer("y", 0, rows * row, 0, 1))
    read = plan.read(x, alias, window(span, stride))
    plan.layer("POOL", [x], [y], [kernel([read], [plan.write(y)], rows_per_step=rows_per_step)])
    return plan.build([x], [y])


@pytest.mark.parametrize(
    ("span", "stride", "rows_per_step", "needed"),
    [
        (1, 1, 1, 1),  # row y of the input is read while row y is written
        (3, 1, 1, 2),  # row y + 1 of the input still needs row y
        (5, 1, 1, 3),
        (3, 2, 1, 1),  # stride 2 runs away from the writer
        (3, 1, 2, 3),  # two rows at once read one further
        (3, 1, 4, 5),
        (3, 1, 3, 4),
    ],
)
def test_row_lag(span: int, stride: int, rows_per_step: int, needed: int) -> None:
    assert not faults(row_lag(needed, span, stride, rows_per_step))
    assert_fault(row_lag(needed - 1, span, stride, rows_per_step), "too early for alias row")


@pytest.mark.parametrize(("lag", "safe"), [(3, True), (2, False)])
def test_blocks_of_rows_count_from_the_start_of_the_range(lag: int, safe: bool) -> None:
    document = row_lag(lag, rows_per_step=2)
    first = step(document, 0)
    second = first | {"range": [1, *first["range"][1:]]}
    first["range"] = [0, 1, *first["range"][2:]]
    document["layers"][0]["steps"].append(second)
    if safe:
        assert not faults(document)
    else:
        assert_fault(document, "step 1", "too early for alias row")


def test_row_lag_needs_the_promise() -> None:
    assert_fault(row_lag(7, alias="none"), "too early for alias none")
    assert not faults(row_lag(8, alias="none"))


def test_row_lag_with_a_wrong_row_map() -> None:
    document = row_lag(2)
    step(document, 0)["reads"][0]["rows"] |= {"offset": -2, "span": 4}
    assert_fault(document, "too early for alias row")


def test_row_lag_by_a_table() -> None:
    document = row_lag(2)
    rows = [[max(0, y - 1), min(8, y + 2)] for y in range(8)]
    step(document, 0)["reads"][0]["rows"] = {"table": rows}
    assert not faults(document)
    rows[5], rows[0] = rows[0], rows[5]
    step(document, 0)["reads"][0]["rows"] = {"table": rows}
    assert_fault(document, "too early for alias row")


def test_row_lag_over_an_input_that_lives_on() -> None:
    document = row_lag(2)
    buffer(document, "x")["last"] = 1
    assert_fault(document, "buffers x and y overlap", "layers 0..1")


def test_row_lag_over_a_kept_input() -> None:
    document = row_lag(2) | {"keep_input": True}
    assert_fault(document, "kept input", "byte", "of tensor 1")


def in_place(out_channels: int, offset: int, alias: str) -> Json:
    """A pointwise kernel from 4 channels to `out_channels`, written over its input."""
    plan = PlanWriter()
    x = plan.tensor((1, 3, 5, 4), plan.buffer("x", offset, 60, -1, 0))
    y = plan.tensor((1, 3, 5, out_channels), plan.buffer("y", 0, 15 * out_channels, 0, 1))
    plan.layer("CONV_2D", [x], [y], [kernel([plan.read(x, alias)], [plan.write(y)])])
    return plan.build([x], [y])


def test_pixels_in_sequence() -> None:
    assert not faults(in_place(4, 0, "pixel"))
    assert not faults(in_place(3, 0, "pixel"))  # the output falls behind
    assert_fault(in_place(5, 12, "pixel"), "too early for alias pixel: ")
    assert not faults(in_place(5, 16, "pixel"))  # 14 bytes ahead at the last pixel
    assert_fault(in_place(3, 0, "element"), "too early for alias element")  # not one to one


def dtype_in_place(source: str, result: str, offset: int) -> Json:
    plan = PlanWriter()
    sizes = {"int8": 1, "int16": 2, "int32": 4}
    x = plan.tensor((1, 1, 1, 8), plan.buffer("x", offset, 8 * sizes[source], -1, 0), source)
    y = plan.tensor((1, 1, 1, 8), plan.buffer("y", 0, 8 * sizes[result], 0, 1), result)
    plan.layer("CAST", [x], [y], [kernel([plan.read(x, "element")], [plan.write(y)])])
    return plan.build([x], [y])


def test_elements_that_change_their_size() -> None:
    assert not faults(dtype_in_place("int32", "int8", 0))
    assert_fault(dtype_in_place("int8", "int32", 0), "too early for alias element")
    assert_fault(dtype_in_place("int8", "int32", 20), "too early for alias element")
    assert not faults(dtype_in_place("int8", "int32", 24))


def test_misaligned_elements() -> None:
    document = dtype_in_place("int32", "int8", 0)
    buffer(document, "x")["size"] += 4
    document["memories"][0].update(arena_bytes=36, used=36)
    step(document, 0)["reads"][0]["offset"]["constant"] = 2
    assert_fault(document, "misaligned", "int32")


def cascade(ring: int, schedule: str) -> Json:
    """Two 3-row windows in a row, the map between them kept in a ring of `ring` rows.

    `schedule`: the letters a and b in the order in which the first and second window make their
    next row. Each run of one letter is a layer.
    """
    plan = PlanWriter()
    height, row = 6, 16
    count = len(schedule)
    x = plan.tensor((1, height, 2, 8), plan.buffer("x", 0, 96, -1, count - 1))
    m = plan.tensor((1, height, 2, 8), plan.buffer("m", 96, ring * row, 0, count - 1))
    y = plan.tensor((1, height, 2, 8), plan.buffer("y", 96 + ring * row, 96, 0, count))
    done = {"a": 0, "b": 0}
    for letter in schedule:
        rows = (done[letter], done[letter] + 1)
        done[letter] += 1
        if letter == "a":
            read, write = plan.read(x, rows=window(3)), plan.write(m, ring=ring)
            plan.layer("A", [x], [m], [kernel([read], [write], rows)], operator=0)
        else:
            read, write = plan.read(m, rows=window(3), ring=ring), plan.write(y)
            plan.layer("B", [m], [y], [kernel([read], [write], rows)], operator=1)
    return plan.build([x], [y])


STREAM = "aabababababb"


def test_rings_of_rows() -> None:
    assert not faults(cascade(3, STREAM))
    assert not faults(cascade(6, "aaaaaabbbbbb"))
    assert_fault(cascade(2, STREAM), "B, step 0", "tensor 1", "48 bytes do not fit into the 32")
    document = cascade(3, STREAM)
    for layer in document["layers"]:
        for view in (*layer["steps"][0]["reads"], *layer["steps"][0]["writes"]):
            view["ring"] = min(2, view["ring"])
    assert_fault(document, "B, step 0", "reads tensor 1", "byte 0, ", "holds byte 32 of tensor 1")
    assert_fault(cascade(3, "aba" + STREAM[3:]), "reads tensor 1", "nobody has written")
    assert_fault(cascade(3, "aaaabbbababb"), "reads tensor 1", "holds byte 48 of tensor 1")


def test_a_ring_whose_first_line_holds_a_later_row() -> None:
    document = cascade(3, STREAM)
    late = document["layers"][-1]["steps"][0]["reads"][0]  # rows 4 and 5 of the map
    assert late["tensor"] == 1
    late["row0"] = 3
    assert not faults(document)
    late["row0"] = 2
    assert_fault(document, "reads tensor 1")
    late["row0"] = 5
    assert_fault(document, "row 4 lies before row0")


def concat(shift: int = 0, gap: bool = False) -> Json:
    """Two kernels write their channels straight into the map that a third one reads."""
    plan = PlanWriter()
    x = plan.tensor((1, 3, 3, 4), plan.buffer("x", 0, 36, -1, 1))
    whole = plan.buffer("whole", 36, 108, 0, 3)
    a = plan.tensor((1, 3, 3, 4), whole)
    b = plan.tensor((1, 3, 3, 8), whole)
    both = plan.tensor((1, 3, 3, 12), whole)
    y = plan.tensor((1, 3, 3, 12), plan.buffer("y", 144, 108, 3, 4))
    places = {"row": 36, "pixel": 12}
    read = plan.read(x, rows=window(3))
    first, second = affine(0), affine(4 + shift)
    plan.layer("A", [x], [a], [kernel([read], [plan.write(a, offset=first, **places)])])
    plan.layer("B", [x], [b], [kernel([read], [plan.write(b, offset=second, **places)])])
    views = [plan.share(a, both), plan.share(b, both, (0, 0, 0, 4))]
    plan.layer("CONCATENATION", [a, b], [both], views=views[: 1 if gap else 2])
    plan.layer("C", [both], [y], [kernel([plan.read(both, rows=window(3))], [plan.write(y)])])
    return plan.build([x], [y])


def test_concatenation_without_a_copy() -> None:
    assert not faults(concat())
    assert_fault(concat(shift=-4), "layer 3 C", "reads tensor 3", "of tensor 2")
    assert_fault(concat(gap=True), "layer 2 CONCATENATION", "tensor 3", "72 bytes from byte 4")
    document = concat()
    document["layers"][2]["views"][1]["result"]["start"] = [0, 0, 0, 3]
    assert_fault(document, "layer 2 CONCATENATION, view 1", "double write: 9 bytes")


def test_a_kernel_without_strides_needs_its_input_without_gaps() -> None:
    document = concat()
    step(document, 3)["reads"][0]["box"]["dense"] = True
    assert not faults(document)
    step(document, 0)["writes"][0]["box"]["dense"] = True
    assert_fault(document, "layer 0 A", "tensor 1", "without gaps", "strides are 36 and 12")
    document = cascade(3, STREAM)
    step(document, 0)["writes"][0]["box"]["dense"] = True
    assert_fault(document, "layer 0 A", "without gaps")


def test_views_must_join_bytes_of_one_buffer() -> None:
    document = concat()
    share = document["layers"][2]["views"][0]
    share["source"] |= {"size": [1, 3, 3, 3]}
    assert_fault(document, "view 0", "27 bytes of the source are not 36")
    document = concat()
    document["layers"][2]["views"][0]["source"]["tensor"] = 9
    assert_fault(document, "view 0", "tensor 9 does not exist")
    document = concat()
    document["layers"][2]["views"][0]["result"]["tensor"] = 4
    assert_fault(document, "view 0", "different buffers")
    assert_fault(document, "view 0", "from an input of the layer to an output")


def test_a_view_of_what_is_not_yet_written() -> None:
    document = concat()
    layers = document["layers"]
    layers[1], layers[2] = layers[2], layers[1]
    assert_fault(document, "layer 1 CONCATENATION, view 1", "72 bytes", "not yet written")


def constants(home: str = "constant") -> Json:
    """A loop over three images that adds one constant to each."""
    plan = PlanWriter()
    x = plan.tensor((3, 2, 2, 4), plan.buffer("x", 0, 48, -1, 0))
    k = plan.tensor((1, 2, 2, 4), plan.buffer("k", 0, 16, -1, 1, home="constant"))
    y = plan.tensor((3, 2, 2, 4), plan.buffer("y", 0, 48, 0, 1))
    reads = [plan.read(x, "element", offset=affine(0, n=16)), plan.read(k, shared=True)]
    body = kernel(reads, [plan.write(y, offset=affine(0, n=16))], image=affine(0, n=1))
    plan.layer("ADD", [x, k], [y], [{"loop": "n", "count": 3, "body": [body]}])
    return plan.build([x], [y])


def test_loops_over_a_batch_and_constants() -> None:
    report = check_plan(through_json(constants()))
    assert report.safe, report.faults
    assert report.executions == 3
    document = constants()
    document["layers"][0]["steps"][0]["count"] = 2
    assert_fault(document, "incomplete: 16 bytes from byte 32")
    document["layers"][0]["steps"][0]["count"] = 4
    assert_fault(document, "(n=3)", "image 3 lies outside of the 3")
    body = constants()
    body["layers"][0]["steps"][0]["body"][0]["reads"][1]["box"]["shared"] = False
    assert_fault(body, "(n=1)", "image 1 lies outside of the 1")
    moved = constants()
    moved["layers"][0]["steps"][0]["body"][0]["reads"][0]["offset"] = affine(0, n=8)
    assert_fault(moved, "(n=1)", "reads tensor 0", "byte 16")


def test_constants_are_never_written() -> None:
    document = constants()
    document["layers"][0]["outputs"] = [1, 2]
    assert_fault(document, "yields tensor 1", "which is constant")
    document = constants()
    document["buffers"][1]["size"] = 20
    assert_fault(document, "buffer k", "exactly 20 bytes")


def test_memory_of_the_caller() -> None:
    plan = PlanWriter()
    x = plan.tensor(SHAPE, plan.buffer("x", 0, 128, -1, 0, home="caller_input"))
    y = plan.tensor(SHAPE, plan.buffer("y", 0, 128, 0, 1, home="caller_output"))
    plan.layer("CONV_2D", [x], [y], [kernel([plan.read(x)], [plan.write(y)])])
    assert not faults(plan.build([x], [y]))
    plan.buffers["x"]["tensors"].append(y)
    plan.tensors[y]["buffer"] = "x"
    plan.buffers["y"]["tensors"] = []
    plan.layers[0]["steps"][0]["writes"][0]["buffer"] = "x"
    assert_fault(plan.build([x], [y]), "tensor 1", "the caller's input")


def test_an_output_that_another_one_overwrites() -> None:
    plan = PlanWriter()
    x = plan.tensor(SHAPE, plan.buffer("x", 0, 128, -1, 1))
    both = plan.buffer("both", 128, 256, 0, 2)
    y, z = plan.tensor(SHAPE, both), plan.tensor(SHAPE, both)
    plan.tensors[z]["offset"] = 128
    write = plan.write(z, offset=affine(128))
    plan.layer("A", [x], [y], [kernel([plan.read(x)], [plan.write(y)])])
    plan.layer("B", [x], [z], [kernel([plan.read(x)], [write])])
    assert not faults(plan.build([x], [y, z]))
    plan.tensors[z]["offset"] = write["offset"]["constant"] = 124
    assert_fault(plan.build([x], [y, z]), "at the end: ", "output tensor 1", "4 bytes", "byte 124")
