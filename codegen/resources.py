"""Where the templates, the C runtime and the boards lie: in the wheel, or beside a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_dir(kind: str) -> Path:
    """The directory `templates`, `runtime_c` or `boards`."""
    installed = _PACKAGE / "_data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind
