"""Real models import, with the figures that others have counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ai_edge_litert.interpreter import Interpreter

from codegen.errors import InvalidModel
from codegen.graph import Model, Tensor
from codegen.importer import load_model, parse_model
from tests import paths
from tests.importer_models import manifest


def _operator_counts(model: Model) -> Counter[str]:
    return Counter(
        f"CUSTOM:{node.custom_name}" if node.op == "CUSTOM" else node.op
        for graph in model.graphs
        for node in graph.nodes
    )


# Its writer left the old code field at 0, which the manifest took for ADD; LiteRT does not.
_MISCOUNTED = "app/google-CFU-Playground__hps_model_2021_09_20_tiled.tflite"


@paths.requires_models
class TestRealModels:
    @pytest.mark.parametrize(
        "entry",
        [e for e in manifest() if not e["file"].startswith("reject/")],
        ids=lambda e: e["file"],
    )
    def test_imports_and_agrees_with_the_manifest(self, entry: dict[str, Any]) -> None:
        assert paths.MODELS is not None
        model = load_model(paths.MODELS / entry["file"])
        assert model.sha256 == entry["sha256"]
        assert model.size == entry["size"]
        assert len(model.graphs) == entry["subgraphs"]
        counts = _operator_counts(model)
        if entry["file"] == _MISCOUNTED:
            counts["ADD"] = counts.pop("PAD") + counts.pop("CONCATENATION")
            counts["ADD"] += counts.pop("STRIDED_SLICE")
        assert counts == entry["ops"]

    @pytest.mark.parametrize("path", paths.reject_models(), ids=lambda p: p.name)
    def test_rejects_end_in_one_line_or_a_graph(self, path: Path) -> None:
        try:
            model = load_model(path)
        except InvalidModel as error:
            assert "\n" not in str(error)
        else:
            assert model.main.nodes


def _assert_same(tensor: Tensor, detail: dict[str, Any], interpreter: Interpreter) -> None:
    quantization = detail["quantization_parameters"]
    assert detail["name"] == tensor.name
    assert tuple(detail["shape"]) == tensor.shape
    if tensor.quant is None:
        assert not len(quantization["scales"])
    else:
        assert quantization["scales"].tolist() == list(tensor.quant.scales)
        assert quantization["zero_points"].tolist() == list(tensor.quant.zero_points)
    if tensor.dtype.numpy is not None:
        assert tensor.dtype.numpy == detail["dtype"]
        if tensor.is_constant:
            assert tensor.array.tobytes() == interpreter.get_tensor(tensor.index).tobytes()


@paths.requires_models
def test_tensors_are_what_litert_sees(sample: Callable[[Sequence[Any], int], list[Any]]) -> None:
    """Names, shapes, types, quantisation and constant data of the main subgraph's tensors."""
    assert paths.MODELS is not None
    for entry in sample([e for e in manifest() if e["litert_ref"]], 60):
        data = (paths.MODELS / entry["file"]).read_bytes()
        tensors = parse_model(data).main.tensors
        interpreter = Interpreter(model_content=data)
        for detail in interpreter.get_tensor_details():
            if detail["index"] < len(tensors):  # the rest are temporaries of kernels
                _assert_same(tensors[detail["index"]], detail, interpreter)
