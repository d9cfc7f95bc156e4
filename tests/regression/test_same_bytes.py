"""The same model and options give the same files: whatever the hash seed, directory or locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.regression.nets import Net
from tests.zoo import zoo

REPO = Path(__file__).resolve().parents[2]


def many_branches() -> bytes:
    """Equal branches, so that every choice among them is a tie."""
    net = Net()
    x = net.input((1, 8, 8, 4))
    parts = [net.conv(net.conv(x, 8, quant=(0.1, 0)), 4, quant=(0.1, 0)) for _ in range(5)]
    return net.build(net.concat(parts, 3), *net.split(parts[2], 2, 3))


def files(model: Path, folder: Path, **environment: str) -> dict[str, bytes]:
    folder.mkdir()
    command = [sys.executable, "-m", "codegen", "build", str(model), "--board", "host", "-o", "out"]
    variables = {**os.environ, "PYTHONPATH": str(REPO), **environment}
    subprocess.run(command, cwd=folder, env=variables, check=True, capture_output=True)
    out = folder / "out"
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def test_seeds_and_directories(tmp_path: Path) -> None:
    for name, data in (("zoo", zoo()), ("branches", many_branches())):
        model = tmp_path / f"{name}.tflite"
        model.write_bytes(data)
        first = files(model, tmp_path / f"{name}1", PYTHONHASHSEED="0", LC_ALL="C")
        again = files(model, tmp_path / f"{name}2", PYTHONHASHSEED="12345", LC_ALL="C.UTF-8")
        assert first == again
        assert not [path for path, text in first.items() if str(tmp_path).encode() in text]
