"""In what order operators run, and what the importer refuses in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codegen.errors import InvalidModel
from codegen.importer import load_model, parse_model
from tests.importer_models import chain, conv_model, raw_model
from tests.tflite_builder import ModelBuilder


def _refusal(data: bytes, **arguments: Any) -> str:
    with pytest.raises(InvalidModel) as caught:
        parse_model(data, **arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestOrder:
    def test_executable_order_is_kept(self) -> None:
        graph = parse_model(chain(4)).main
        assert [node.index for node in graph.nodes] == [0, 1, 2, 3]

    def test_other_order_is_sorted_and_keeps_file_positions(self) -> None:
        graph = parse_model(chain(4, [2, 0, 3, 1])).main
        assert [node.index for node in graph.nodes] == [1, 3, 0, 2]
        assert [node.outputs for node in graph.nodes] == [(1,), (2,), (3,), (4,)]

    def test_sorting_is_stable_between_branches(self) -> None:
        builder = ModelBuilder()
        x, a, b, c, d = (builder.tensor((1,), "float32") for _ in range(5))
        builder.op("ABS", [b], [d])
        builder.op("NEG", [x], [a])
        builder.op("NEG", [x], [b])
        builder.op("ABS", [x], [c])
        graph = parse_model(builder.build([x], [a, c, d])).main
        assert [node.index for node in graph.nodes] == [1, 2, 0, 3]

    def test_cycle(self) -> None:
        builder = ModelBuilder()
        x, a, b = (builder.tensor((1,), "float32") for _ in range(3))
        builder.op("ADD", [x, b], [a])
        builder.op("NEG", [a], [b])
        assert "operator 0 ADD waits for its own result" in _refusal(builder.build([x], [b]))

    def test_operator_that_reads_its_own_output(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1,), "float32")
        y = builder.tensor((1,), "float32")
        builder.op("ADD", [x, y], [y])
        assert "operator 0 ADD waits for its own result" in _refusal(builder.build([x], [y]))

    def test_long_chains_are_no_problem(self) -> None:
        graph = parse_model(chain(3000, list(reversed(range(3000))))).main
        assert [node.index for node in graph.nodes] == list(reversed(range(3000)))


class TestRefusals:
    def _graph(self, build: Any) -> str:
        builder = ModelBuilder()
        t = [builder.tensor((2,), "float32", name=f"n{i}") for i in range(3)]
        t.append(builder.tensor((2,), "float32", data=[1, 2], name="const"))
        return _refusal(build(builder, t))

    def test_dangling_operand(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("ADD", [t[0], t[1]], [t[2]])
            return b.build([t[0]], [t[2]])

        assert self._graph(build) == 'operator 0 ADD reads tensor 1 "n1", which nothing produces'

    def test_dangling_output(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            return b.build([t[0]], [t[2]])

        assert self._graph(build) == 'nothing produces the output tensor 2 "n2"'

    def test_tensor_written_twice(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("NEG", [t[0]], [t[1]])
            b.op("ABS", [t[0]], [t[1]])
            return b.build([t[0]], [t[1]])

        message = 'operator 1 ABS writes tensor 1 "n1", which operator 0 NEG has written already'
        assert self._graph(build) == message

    def test_written_constant(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("NEG", [t[0]], [t[3]])
            return b.build([t[0]], [t[3]])

        assert self._graph(build) == 'operator 0 NEG writes the constant tensor 3 "const"'

    def test_written_input(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("NEG", [t[0]], [t[1]])
            return b.build([t[0], t[1]], [t[1]])

        assert self._graph(build) == 'operator 0 NEG writes the model\'s input tensor 1 "n1"'

    def test_constant_input_and_doubled_input(self) -> None:
        assert "is a constant" in self._graph(lambda b, t: b.build([t[3]], [t[3]]))
        assert "is an input twice" in self._graph(lambda b, t: b.build([t[0], t[0]], [t[0]]))

    @pytest.mark.parametrize("index", [4, -2, 2**31 - 1])
    def test_tensor_index_out_of_range(self, index: int) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("NEG", [index], [t[1]])
            return b.build([t[0]], [t[1]])

        assert f"operator 0 NEG reads tensor {index}, but there are 4" in self._graph(build)

    def test_absent_output(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("NEG", [t[0]], [-1])
            return b.build([t[0]], [t[0]])

        assert "operator 0 NEG writes tensor -1" in self._graph(build)

    @pytest.mark.parametrize(
        ("shape", "message"),
        [
            ((1, -4), "negative dimension"),
            ((65536, 65536, 65536, 65536), "larger than 2 GiB"),
            ((2**31 - 1, 0), None),
            ((2**31 - 1, 0, 2**31 - 1), "larger than 2 GiB"),
            ((1,) * 33, "33 dimensions"),
        ],
    )
    def test_absurd_shapes(self, shape: tuple[int, ...], message: str | None) -> None:
        builder = ModelBuilder()
        x = builder.tensor(shape, "int8", name="odd")
        data = builder.build([x], [x])
        if message is None:
            assert parse_model(data).main.tensors[0].nbytes == 0
        else:
            assert f'tensor 0 "odd" has {message}'.split()[0] in _refusal(data)
            assert message in _refusal(data)

    @pytest.mark.parametrize(("dtype", "size"), [("int8", 5), ("int32", 6), ("int4", 4)])
    def test_constant_of_the_wrong_length(self, dtype: str, size: int) -> None:
        builder = ModelBuilder()
        w = builder.tensor((2, 3), dtype, data=bytes(size), name="w")
        assert f"of data, its buffer has {size}" in _refusal(builder.build([], [w]))

    def test_variable_with_data(self) -> None:
        builder = ModelBuilder()
        w = builder.tensor((1,), "int8", data=[1], is_variable=True)
        assert "both a variable and a constant" in _refusal(builder.build([], [w]))

    def test_missing_subgraph(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("CALL_ONCE", [], [], init_subgraph_index=7)
            return b.build([t[0]], [t[0]])

        message = "operator 0 CALL_ONCE: init_subgraph_index names subgraph 7 of 1"
        assert self._graph(build) == message

    def test_recursion(self) -> None:
        def build(b: ModelBuilder, t: list[int]) -> bytes:
            b.op("CALL_ONCE", [], [], init_subgraph_index=1)
            b.subgraph("again").op("CALL_ONCE", [], [], init_subgraph_index=0)
            return b.build([t[0]], [t[0]])

        assert "calls itself" in self._graph(build)

    def test_operator_version(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1,), "float32")
        builder.op("NEG", [], [], 0)
        assert "NEG has version 0" in _refusal(builder.build([x], [x]))

    def test_custom_operator_without_name(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1,), "float32")
        builder.op("CUSTOM", [], [])
        assert "custom operator without a name" in _refusal(builder.build([x], [x]))

    @pytest.mark.parametrize("field", ["padding", "fused_activation_function"])
    def test_unknown_enumeration_value(self, field: str) -> None:
        assert f"operator 0 CONV_2D has an unknown {field}: 9" in _refusal(conv_model(**{field: 9}))

    def test_option_that_is_no_number(self) -> None:
        builder = ModelBuilder()
        x, y = builder.tensor((1,), "float32"), builder.tensor((1,), "float32")
        builder.op("SOFTMAX", [x], [y], beta=float("nan"))
        assert "SOFTMAX has a beta that is not a finite number" in _refusal(builder.build([x], [y]))

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "it has only 0 bytes"),
            (b"TFL3", "it has only 4 bytes"),
            (bytes(64), "identifier TFL3 is missing"),
            (b"\xff\xff\xff\xffTFL3" + bytes(64), "model's header points outside"),
        ],
    )
    def test_other_files(self, data: bytes, message: str) -> None:
        assert message in _refusal(data)

    def test_cut_off_anywhere(self) -> None:
        data = conv_model()
        for length in range(len(data)):
            _refusal(data[:length])

    @pytest.mark.parametrize("module", ["model", "flat"])
    def test_absurd_numbers_are_not_read(
        self, module: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = chain(20)
        parse_model(data)
        monkeypatch.setattr(f"codegen.importer.{module}.MAX_TABLES", 20)
        assert "damaged file" in _refusal(data)

    def test_unreadable_path(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidModel, match=r"gone\.tflite: cannot be read: No such file"):
            load_model(tmp_path / "gone.tflite")
        with pytest.raises(InvalidModel, match="cannot be read"):
            load_model(tmp_path)

    def test_path_stands_before_the_message(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.tflite"
        path.write_bytes(b"?")
        with pytest.raises(InvalidModel, match=r"bad\.tflite: not a TensorFlow Lite model"):
            load_model(path)


class TestRareFiles:
    def test_schema_version(self) -> None:
        assert "schema version 2 is not supported" in _refusal(raw_model(version=2))

    @pytest.mark.parametrize(
        ("code", "op"),
        [
            ((59, 59, ""), "NEG"),
            ((59, 0, ""), "NEG"),
            ((0, 59, ""), "NEG"),
            ((127, 150, ""), "GELU"),
            ((127, 209, ""), "STABLEHLO_CASE"),
            ((32, 32, "Mine"), "CUSTOM"),
            ((0, 0, "NPU_OP"), "CUSTOM"),
        ],
    )
    def test_operator_codes(self, code: tuple[int, int, str], op: str) -> None:
        assert parse_model(raw_model(codes=[code])).main.nodes[0].op == op

    @pytest.mark.parametrize(
        ("code", "message"),
        [
            ((59, 101, ""), "names two operators, 59 and 101"),
            ((127, 59, ""), "names two operators, 127 and 59"),
            ((127, 127, ""), "unknown operator 127"),
            ((127, 5000, ""), "unknown operator 5000"),
            ((-3, 0, ""), "unknown operator -3"),
        ],
    )
    def test_contradicting_operator_codes(self, code: tuple[int, int, str], message: str) -> None:
        text = _refusal(raw_model(codes=[code]))
        assert text.startswith("operator code 0 ")
        assert message in text

    def test_data_behind_the_flatbuffer(self) -> None:
        end = len(raw_model(external=(1000, 2)))
        data = raw_model(external=(end, 2)) + b"\x05\xfb"
        graph = parse_model(data).main
        assert graph.tensors[0].array.tolist() == [5, -5]
        assert "is cut off" in _refusal(data[:-1])

    def test_custom_options_behind_the_flatbuffer(self) -> None:
        codes = [(32, 32, "Mine")]
        end = len(raw_model(codes=codes, custom_options=(1000, 3)))
        data = raw_model(codes=codes, custom_options=(end, 3)) + b"abc"
        assert parse_model(data).main.nodes[0].options["custom_options"] == b"abc"
        assert "is cut off" in _refusal(data[:-1])

    def test_version_of_an_old_operator_without_the_field_is_1(self) -> None:
        assert parse_model(raw_model()).main.nodes[0].version == 1
