"""What becomes of the shared test models: all are verified equal, but for those listed here.

One entry per line, sorted, so that lines can be taken out by themselves.
"""

from __future__ import annotations

from pathlib import Path

from tests.paths import app_models, optest_models

# File -> words of the refusal, which says what would have to change in the model.
REFUSED = {
    "litert__conv3d_huge_im2col": "operator 0 CONV_3D",
    "litert__conv_huge_im2col": 'tensor 2 "source" takes 146,313,216 bytes',
    "litert__dynamic_shapes": 'tensor 24 "StridedSlice/end" is computed at run time',
    "litert__simple_topk_op_runtime_k": 'tensor 0 "serving_default_k:0" is computed at run time',
    "litert__static_w8_a16_quantized_k_einsum": "a scale per channel, with which TFLite computes",
    "litert__static_w8_a16_quantized_q_einsum": "a scale per channel, with which TFLite computes",
    "litert__test_min_runtime": 'tensor 0 "input1" float32[0] is an input or output of the model',
    "litert__tile_with_bool_input": 'tensor 2 "multiplier" is computed at run time',
    "litert__where": "operator 0 WHERE",
    "tflm__audio_preprocessor_int8": "operator 0 CUSTOM 'SignalWindow'",
}

# Builds, but LiteRT is no reference for it: file -> why.
INCOMPARABLE = {
    "litert__nested_while": (
        "its loops never end on an input of 0; tests/ops/test_while.py holds it on others"
    ),
    "tflm__keyword_scrambled_8bit": (
        "LiteRT takes its int8 state for int16 and reads past its end; "
        "tests/ops/test_svdf.py holds it against TFLite Micro"
    ),
}

# File -> words of the error with which LiteRT's reference kernels refuse it. Some of these are
# compared all the same: with LiteRT's other kernels, or after a repair (verify/repair.py).
NOT_RUN_BY_LITERT = {
    "MohamedElhadidy0019-stm32ai-modelzoo__"
    "object_detection_coco_2017_person_ssd_mobilenet_v2_fpnlite_035_192_int8": "'TILE' version '3'",
    "litert__simple_ceil_op": "'CEIL' version '1'",
    "litert__simple_elu_op": "'ELU' version '1'",
    "litert__simple_round_op": "'ROUND' version '1'",
    "tflm__audio_preprocessor_int8": "unresolved custom op: SignalWindow",
    "tflm__person_detect": "quantized_dimension must be in range",
}


def all_models() -> dict[str, Path]:
    """Every application and operator model by name."""
    return {path.stem: path for path in [*app_models(), *optest_models()]}


def verified_models() -> dict[str, Path]:
    """Those that have to build and to be equal to the reference, by name."""
    others = {*REFUSED, *INCOMPARABLE}
    return {name: path for name, path in all_models().items() if name not in others}
