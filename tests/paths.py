"""Where the shared test models lie, for tests that need real files; such tests skip elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_REPO = Path(__file__).resolve().parent.parent


def _find_models() -> Path | None:
    """`models/` of $CODEGEN_SHARED, else of the nearest `shared` directory above the checkout."""
    configured = os.environ.get("CODEGEN_SHARED")
    candidates = (
        [Path(configured)] if configured else [parent / "shared" for parent in _REPO.parents]
    )
    for candidate in candidates:
        if (candidate / "models" / "manifest.json").is_file():
            return candidate / "models"
    return None


MODELS: Path | None = _find_models()

requires_models = pytest.mark.skipif(
    MODELS is None, reason="shared test models not found (set CODEGEN_SHARED)"
)


def _files(kind: str) -> list[Path]:
    return [] if MODELS is None else sorted((MODELS / kind).glob("*.tflite"))


def app_models() -> list[Path]:
    """Whole applications that people deploy."""
    return _files("app")


def optest_models() -> list[Path]:
    """Models of one or a few operators."""
    return _files("optest")


def reject_models() -> list[Path]:
    """Files that cannot be built and have to be refused in one line."""
    return _files("reject")
