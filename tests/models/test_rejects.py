"""Files that no C can be written for: exit status 1, nothing written, one line that says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.paths import reject_models, requires_models
from tests.test_cli import fails, run

pytestmark = requires_models

# File -> words of the line: the operator by index and name with its tensors, or the contradiction.
REASONS: dict[str, tuple[str, ...]] = {
    "AmbiqAI-helia-profiler__tests_fixtures_softmax_scale_unsupported": (
        'operator 3 SOFTMAX writes tensor 1 "softmax_output", which operator 0 SOFTMAX has written',
    ),
    "HimaxWiseEyePlus-Seeed_Grove_Vision_AI_Module_V2__tflite_learn_5": (
        "operator 0 CUSTOM 'ethos-u' (tensor 1 \"main_split_1_command_stream\" uint8[7104]",
        "not supported; take the model as it was before a vendor's compiler",
    ),
    "foss-for-synopsys-dwc-arc-processors-embarc_mli__tutorial_emnist_tflm_model": (
        "operator 0 CONV_2D: 1 input channels do not form groups of 16",
    ),
    "google-coral-coralmicro__testconv1-edgetpu": (
        "operator 0 CUSTOM 'edgetpu-custom-op' (tensor 0 \"input\" uint8[1,32,32,3]",
    ),
    "google-coral-test_data__model_invoking_error": ("operator 0 CUSTOM 'fake-op-double'",),
    "litert__blockwise_quantized": (
        'operator 0 ADD reads tensor 2 "quantized_tensor", which nothing produces',
    ),
    "litert__gather_string": ('operator 0 GATHER (tensor 0 "input" string[10]',),
    "litert__lstm_quantized2": ('tensor 23 "output_gate_ln_weights-1"', "negative dimension: [-1]"),
    "litert__max_unpooling_2d": ("operator 0 CUSTOM 'LiteRtMaxUnpooling2D'",),
    "litert__max_unpooling_2d_valid": ("operator 0 CUSTOM 'LiteRtMaxUnpooling2D'",),
    "litert__simple_squeeze": ("operator 0 SQUEEZE: axis 1 does not exist in 0 dimensions",),
    "litert__softplus_flex": ("operator 0 CUSTOM 'FlexSoftplus'", "without SELECT_TF_OPS"),
    "litert__string": ('operator 0 RESHAPE (tensor 2 "string_input" string[2,8,8,3]', "is string"),
    "litert__svdf_calibrated": ("operator 0 SVDF",),
    "litert__svdf_quantized": ("operator 0 SVDF",),
    "litert__test_model_versioned_ops": ('the input tensor 0 "input0" is a constant',),
    "litert__transpose": ("schema version 2 is not supported, only 3 is",),
    "litert__with_custom_op": ("CUSTOM 'Assign'",),
    "litert__with_metadata": ("operator 0 CUSTOM 'NPU_OP'",),
    "nxp-mcuxpresso-mcux-sdk-middleware-mpp__ultraface_slim_ultraslim_npu64": (
        "operator 0 CUSTOM 'NeutronGraph'",
        "refused: 3 x CUSTOM 'NeutronGraph'",
    ),
    "pypi-mediapipe-0.10.21__selfie_segmentation": ("CUSTOM 'Convolution2DTransposeBias'",),
    "tensorflow-tflite-support__whitespace_tokenizer_to_ragged_1d_input": (
        "operator 0 CUSTOM 'tftext:WhitespaceTokenizer'",
        "string[1]",
    ),
    "tum-ei-eda-mlonmcu-models__model_with_reverse_sequence2": (
        "operator 0 CUSTOM 'ReverseSequence2'",
    ),
    "tum-ei-eda-mlonmcu-models__model_with_zero_out": (
        "operator 0 CUSTOM 'ZeroOut' (tensor 0 \"x\" int32[1,10]",
    ),
    "tum-ei-eda-mlonmcu-models__tests_custom": (
        "operator 0 CUSTOM 'Complex'",
        "1 more operator is refused: CUSTOM 'Imag'",
    ),
}


def test_every_file_has_its_reason() -> None:
    assert {path.stem for path in reject_models()} == set(REASONS)


@pytest.mark.parametrize("name", REASONS)
def test_build_refuses(name: str, tmp_path: Path) -> None:
    (path,) = (path for path in reject_models() if path.stem == name)
    line = fails(run("build", path, "--board", "host", "-o", tmp_path / "out"), *REASONS[name])
    assert line.isprintable() and len(line) < 800
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", REASONS)
def test_inspect_shows_why_or_fails_as_build_does(name: str) -> None:
    """A file that is valid but not supported can be looked at; a malformed one cannot."""
    (path,) = (path for path in reject_models() if path.stem == name)
    result = run("inspect", path, "--json")
    if result.exit_code == 0:
        operators = json.loads(result.stdout)["operators"]
        assert any(operator["unsupported"] for operator in operators)
    else:
        fails(result, *REASONS[name])
