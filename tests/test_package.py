"""The wheel, installed far from the checkout: the command works with nothing but what is in it."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
DEMO = REPO / "docs" / "demo"
SHIPPED = ("templates", "runtime_c", "boards")


def _run(command: list[object], folder: Path) -> str:
    """Run without the checkout on the path; fail with what the command says."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], REPO)
    (path,) = folder.glob("codegen-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a fresh environment with the wheel; dependencies come from this one.

    A .pth file adds this environment's packages behind the fresh ones, so that no index is asked.
    """
    folder = tmp_path_factory.mktemp("venv")
    _run([sys.executable, "-m", "venv", "--without-pip", folder], folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    _run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    (packages / "dependencies.pth").write_text("\n".join(sorted(ours)) + "\n")
    return folder / "bin"


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_wheel_holds_all_data(kind: str, wheel: Path) -> None:
    prefix = f"codegen/_data/{kind}/"
    with zipfile.ZipFile(wheel) as archive:
        inside = {n.removeprefix(prefix) for n in archive.namelist() if n.startswith(prefix)}
    assert inside == _files(REPO / kind)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    code = {n.removeprefix("codegen/") for n in names if n.startswith("codegen/")}
    assert {n for n in code if not n.startswith("_data/")} == _files(REPO / "codegen")
    assert {n.split("/")[0].split("-")[0] for n in names} == {"codegen"}
    assert any(n.endswith(".dist-info/licenses/LICENSE") for n in names)


def test_the_installed_package_is_the_wheels(installed: Path, tmp_path: Path) -> None:
    where = _run([installed / "python", "-c", "import codegen; print(codegen.__file__)"], tmp_path)
    assert Path(where).is_relative_to(installed.parent)


def test_boards_are_listed(installed: Path, tmp_path: Path) -> None:
    listed = _run([installed / "codegen", "boards", "list"], tmp_path)
    assert {line.split()[0] for line in listed.splitlines()} == {
        path.stem for path in (REPO / "boards").glob("*.toml")
    }


def test_the_demo_builds_as_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    model = DEMO / "digits.tflite"
    build: list[object] = ["build", model, "--board", "nrf52840"]
    _run([installed / "codegen", *build, "-o", "wheel"], tmp_path)
    command = [sys.executable, "-m", "codegen", *build, "-o", tmp_path / "checkout"]
    _run(command, REPO)
    names = _files(tmp_path / "wheel")
    assert names == _files(tmp_path / "checkout")
    for name in names:
        assert (tmp_path / "wheel" / name).read_bytes() == (
            tmp_path / "checkout" / name
        ).read_bytes()


def test_the_demo_is_verified(installed: Path, tmp_path: Path) -> None:
    """The harness and its template are in the wheel too."""
    report = _run(
        [
            *(installed / "codegen", "verify", DEMO / "digits.tflite", "--board", "host"),
            *("--inputs", DEMO / "digits_samples.npz", "--samples", "2", "--json"),
        ],
        tmp_path,
    )
    assert json.loads(report)["equal"] is True
