"""What the importer reads out of a file, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tflite

from codegen.errors import InvalidModel, Unsupported
from codegen.graph import DType
from codegen.importer import parse_model
from codegen.importer.options import options_table
from tests.importer_models import conv_model
from tests.oracle import make_interpreter
from tests.tflite_builder import ModelBuilder


class TestReading:
    def test_header(self) -> None:
        data = conv_model()
        model = parse_model(data)
        assert model.description == "a convolution"
        assert model.size == len(data)
        assert model.main.name == "main"

    def test_tensors(self) -> None:
        image, weights, bias, result = parse_model(conv_model()).main.tensors
        assert (image.name, image.describe()) == ("image", "int8[1,4,4,3]")
        assert image.quant is not None
        assert (image.quant.scale, image.quant.zero_point) == (0.5, -3)
        assert image.raw is None
        assert result.raw is None
        assert weights.array.tolist() == np.arange(6).reshape(2, 1, 1, 3).tolist()
        assert weights.quant is not None
        assert weights.quant.per_channel
        assert weights.quant.scales == (0.25, 0.125)
        assert bias.array.tolist() == [7, -7]

    def test_operator(self) -> None:
        (node,) = parse_model(conv_model(fused_activation_function="RELU_N1_TO_1")).main.nodes
        assert (node.index, node.op, node.version) == (0, "CONV_2D", 3)
        assert (node.inputs, node.outputs) == ((0, 1, 2), (3,))
        assert dict(node.options) == {
            "padding": "VALID",
            "stride_w": 2,
            "stride_h": 2,
            "fused_activation_function": "RELU_N1_TO_1",
            "dilation_w_factor": 1,
            "dilation_h_factor": 1,
            "quantized_bias_type": 0,
        }

    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            ("SOFTMAX", {"beta": 0.75}),
            ("LEAKY_RELU", {"alpha": 0.125}),
            ("RESHAPE", {"new_shape": (1, -1)}),
            ("SQUEEZE", {"squeeze_dims": (0, 2)}),
            ("MIRROR_PAD", {"mode": "SYMMETRIC"}),
            ("MEAN", {"keep_dims": True}),
            ("BUCKETIZE", {"boundaries": (0.5, 1.5)}),
            ("VAR_HANDLE", {"container": "c", "shared_name": "state"}),
            ("STABLEHLO_TRANSPOSE", {"permutation": (1, 0)}),
            ("STABLEHLO_COMPOSITE", {"name": "odml", "composite_attributes": b"\x01\x02"}),
            ("DILATE", {}),
        ],
    )
    def test_options_of_every_field_type(self, kind: str, options: dict[str, Any]) -> None:
        builder = ModelBuilder()
        x, y = builder.tensor((1, 1), "float32"), builder.tensor((1, 1), "float32")
        if kind == "STABLEHLO_COMPOSITE":
            options = options | {"decomposition_subgraph_index": 1}
            builder.subgraph("body")
        builder.op(kind, [x], [y], **options)
        (node,) = parse_model(builder.build([x], [y])).main.nodes
        assert {name: node.options[name] for name in options} == options

    def test_every_options_table_belongs_to_an_operator(self) -> None:
        kinds = {n for n in vars(tflite.BuiltinOperator) if n.isupper()}
        unions = set(vars(tflite.BuiltinOptions)) | set(vars(tflite.BuiltinOptions2))
        declared = {name for name in unions if name.endswith("Options")}
        assert declared <= {options_table(kind) for kind in kinds}

    def test_options_of_another_operator_are_not_looked_at(self) -> None:
        data = bytearray(conv_model())
        operator = tflite.Model.GetRootAs(data).Subgraphs(0).Operators(0)
        data[operator._tab.Pos + operator._tab.Offset(10)] = tflite.BuiltinOptions.SoftmaxOptions
        (node,) = parse_model(bytes(data)).main.nodes
        assert (node.options["stride_h"], node.options["dilation_h_factor"]) == (0, 1)

    def test_options_left_out_are_the_defaults_of_the_schema(self) -> None:
        builder = ModelBuilder()
        x, y = builder.tensor((1, 2), "float32"), builder.tensor((1, 2), "float32")
        builder.op("FULLY_CONNECTED", [x, x], [y])
        (node,) = parse_model(builder.build([x], [y])).main.nodes
        assert node.options["fused_activation_function"] == "NONE"
        assert node.options["keep_num_dims"] is False

    def test_every_operator_of_the_schema_is_imported(self) -> None:
        kinds = [n for n in vars(tflite.BuiltinOperator) if n.isupper()]
        for kind in sorted(set(kinds) - {"CUSTOM", "PLACEHOLDER_FOR_GREATER_OP_CODES"}):
            builder = ModelBuilder()
            x, y = builder.tensor((1,), "float32"), builder.tensor((1,), "float32")
            fields: dict[str, Any] = _subgraph_fields(kind)
            builder.subgraph("called")
            builder.op(kind, [x], [y], **fields)
            assert parse_model(builder.build([x], [y])).main.nodes[0].op == kind

    @pytest.mark.parametrize("dtype", [n.lower() for n in vars(tflite.TensorType) if n.isupper()])
    def test_every_type_of_the_schema_is_imported(self, dtype: str) -> None:
        builder = ModelBuilder()
        x = builder.tensor((2, 3), dtype)
        model = parse_model(builder.build([x], [x]))
        assert model.main.tensors[0].dtype is DType(dtype)

    def test_custom_operator(self) -> None:
        builder = ModelBuilder()
        x, y = builder.tensor((1,), "float32"), builder.tensor((1,), "float32")
        builder.op("CUSTOM", [x], [y], custom_name="Spectrum", custom_options=b"\x07\x00")
        (node,) = parse_model(builder.build([x], [y])).main.nodes
        assert (node.op, node.custom_name) == ("CUSTOM", "Spectrum")
        assert node.options["custom_options"] == b"\x07\x00"
        assert node.label == "operator 0 CUSTOM 'Spectrum'"

    def test_absent_and_short_operands(self) -> None:
        builder = ModelBuilder()
        x, w = builder.tensor((1, 2), "float32"), builder.tensor((2, 2), "float32")
        y, z = builder.tensor((1, 2), "float32"), builder.tensor((1, 2), "float32")
        builder.op("FULLY_CONNECTED", [x, w, -1], [y])
        builder.op("FULLY_CONNECTED", [y, w], [z])
        first, second = parse_model(builder.build([x, w], [z])).main.nodes
        assert first.inputs == (x, w, -1)
        assert first.input(2) == second.input(2) == -1

    def test_scalars_unused_tensors_and_a_tensor_that_is_input_and_output(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((), "float32", name="scalar")
        builder.tensor((7,), "int16", name="unused")
        builder.tensor((2,), "int8", data=[1, 2], name="unused constant")
        graph = parse_model(builder.build([x], [x])).main
        assert graph.tensors[0].shape == ()
        assert graph.tensors[0].elements == 1
        assert graph.inputs == graph.outputs == (0,)

    def test_subgraphs_and_variables(self) -> None:
        builder = ModelBuilder()
        flag, x, y = (builder.tensor((), t) for t in ("bool", "float32", "float32"))
        state = builder.tensor((4,), "float32", is_variable=True)
        builder.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=1)
        branch = builder.subgraph("branch")
        a, b = branch.tensor((), "float32"), branch.tensor((), "float32")
        branch.op("ABS", [a], [b])
        branch.interface([a], [b])
        model = parse_model(builder.build([flag, x], [y]))
        assert [graph.name for graph in model.graphs] == ["main", "branch"]
        assert model.main.tensors[state].is_variable
        assert model.graphs[1].nodes[0].op == "ABS"

    def test_int4_constants_stay_packed(self) -> None:
        builder = ModelBuilder()
        w = builder.tensor((3,), "int4", 0.5, 0, data=[-1, 2, -8])
        tensor = parse_model(builder.build([], [w])).main.tensors[0]
        assert tensor.raw == bytes([0x2F, 0x08])

    def test_names_cannot_reach_the_terminal(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1,), "float32", name="a\x1b[31m\nb")
        assert parse_model(builder.build([x], [x])).main.tensors[0].name == "a?[31m?b"


def _subgraph_fields(kind: str) -> dict[str, int]:
    """Every option of `kind` that names a subgraph, set to subgraph 1."""
    table = options_table(kind)
    names = {
        "If": ["then_subgraph_index", "else_subgraph_index"],
        "While": ["cond_subgraph_index", "body_subgraph_index"],
        "StablehloWhile": ["cond_subgraph_index", "body_subgraph_index"],
        "CallOnce": ["init_subgraph_index"],
        "Call": ["subgraph"],
        "StablehloReduce": ["body_subgraph_index"],
        "StablehloReduceWindow": ["body_subgraph_index"],
        "StablehloSort": ["comparator_subgraph_index"],
        "StablehloScatter": ["update_computation_subgraph_index"],
        "StableHLOComposite": ["decomposition_subgraph_index"],
    }
    return dict.fromkeys(names.get((table or "").removesuffix("Options"), []), 1)


class TestQuantization:
    def _tensor(self, **arguments: Any) -> bytes:
        builder = ModelBuilder()
        x = builder.tensor(**{"shape": (2, 3), "dtype": "int8", "name": "q"} | arguments)
        return builder.build([x], [x])

    def test_axis_is_kept_for_channels(self) -> None:
        data = self._tensor(scale=[1.0, 2.0, 3.0], axis=1)
        quant = parse_model(data).main.tensors[0].quant
        assert quant is not None
        assert quant.axis == 1

    def test_nonsense_axis_without_a_choice_is_harmless(self) -> None:
        for arguments in ({"scale": 1.0, "shape": (2, 3)}, {"scale": [1.0, 2.0], "shape": (2,)}):
            quant = parse_model(self._tensor(**arguments, axis=3)).main.tensors[0].quant
            assert quant is not None
            assert quant.axis == 0

    def test_empty_arrays_mean_not_quantised(self) -> None:
        assert parse_model(self._tensor(scale=[])).main.tensors[0].quant is None

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"scale": [1.0, 1.0], "zero_point": [0]}, "2 scales but 1 zero points"),
            ({"scale": [1.0, 1.0], "axis": 1}, r"2 scales for axis 1 of shape \[2, 3\]"),
            ({"scale": [1.0, 1.0], "axis": 2}, r"quantised along axis 2 of shape \[2, 3\]"),
            ({"scale": [1.0, 1.0], "axis": -1}, "quantised along axis -1"),
            ({"scale": float("nan")}, "scale that is not a positive number: nan"),
            ({"scale": float("inf")}, "scale that is not a positive number: inf"),
            ({"scale": -0.5}, "scale that is not a positive number: -0.5"),
            ({"scale": 0.5, "zero_point": 128}, "zero point outside of int8: 128"),
            ({"scale": 1.0, "zero_point": -1, "dtype": "uint8"}, "outside of uint8: -1"),
        ],
    )
    def test_contradictions_name_the_tensor(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidModel, match='tensor 0 "q" .*' + message):
            parse_model(self._tensor(**arguments))


class TestBatch:
    def _shapes(self, batch: int | None) -> list[tuple[int, ...]]:
        return [t.shape for t in parse_model(conv_model(), batch=batch).main.tensors]

    def test_open_batch_keeps_the_placeholder(self) -> None:
        graph = parse_model(conv_model()).main
        assert graph.tensors[0].shape == (1, 4, 4, 3)
        assert graph.tensors[0].free_dims == ()

    def test_open_batch_is_set_everywhere(self) -> None:
        assert self._shapes(5) == [(5, 4, 4, 3), (2, 1, 1, 3), (2,), (5, 2, 2, 2)]

    def test_oracle_agrees_on_the_shapes(self) -> None:
        interpreter = make_interpreter(conv_model())
        interpreter.resize_tensor_input(0, (5, 4, 4, 3))
        interpreter.allocate_tensors()
        details = sorted(interpreter.get_tensor_details(), key=lambda d: d["index"])[:4]
        assert [tuple(d["shape"]) for d in details] == self._shapes(5)

    def test_fixed_batch_is_refused_unless_it_is_the_same(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((2, 3), "int8")
        data = builder.build([x], [x])
        assert parse_model(data, batch=2).main.tensors[0].shape == (2, 3)
        with pytest.raises(Unsupported, match=r"the file fixes its inputs \(int8\[2,3\]\)"):
            parse_model(data, batch=4)

    @pytest.mark.parametrize("batch", [0, -1, 2**30])
    def test_absurd_batches(self, batch: int) -> None:
        with pytest.raises(Unsupported, match="is not possible"):
            parse_model(conv_model(), batch=batch)

    def test_folded_dimensions_stay_multiples_of_the_batch(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1, 6, 2), "float32", signature=(-1, 6, 2))
        y = builder.tensor((6, 2), "float32", signature=(-1, 2))
        builder.op("RESHAPE", [x], [y], new_shape=(-1, 2))
        graph = parse_model(builder.build([x], [y]), batch=3).main
        assert [t.shape for t in graph.tensors] == [(3, 6, 2), (18, 2)]

    def test_other_open_dimensions_are_kept_and_marked(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1, 1, 3), "float32", signature=(-1, -1, 3))
        tensor = parse_model(builder.build([x], [x]), batch=2).main.tensors[0]
        assert (tensor.shape, tensor.free_dims) == ((2, 1, 3), (1,))
