"""The output directory is all there is: it compiles and links far from here, with libc alone.

Kernels and helpers that were not shipped, and prototypes that differed from the definitions, made
other generators' output useless.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.pipeline import BuildOptions
from codegen.plan import PlanOptions
from tests.emit.programs import make_build, two_convolutions, write
from tests.tflite_builder import ModelBuilder
from tests.zoo import zoo

STRICTER = (
    *("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"),
    *("-Wcast-qual", "-Wcast-align", "-Wundef", "-Wstrict-prototypes", "-Wmissing-prototypes"),
    *("-Wold-style-definition", "-Wredundant-decls", "-Wsign-conversion", "-Wdouble-promotion"),
    *("-Wswitch-default", "-Wvla", "-Wwrite-strings", "-Wpointer-arith", "-Wformat=2"),
)


def only_view() -> bytes:
    """A model of one operator that needs no code."""
    builder = ModelBuilder()
    x, y = (builder.tensor(shape, "int8", 0.05, 0) for shape in ((1, 6), (2, 3)))
    shape = builder.tensor((2,), "int32", data=[2, 3])
    builder.op("RESHAPE", [x, shape], [y], new_shape=(2, 3))
    return builder.build([x], [y])


def one_sigmoid() -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 6), "int8", 0.05, 0)
    y = builder.tensor((1, 6), "int8", 1 / 256, -128)
    builder.op("LOGISTIC", [x], [y])
    return builder.build([x], [y])


MODELS: dict[str, Callable[[], bytes]] = {
    "every operator": zoo,
    "two": two_convolutions,
    "one": one_sigmoid,
    "none": only_view,
}
LIBRARIES = {"every operator": ("-lm",)}
"""Operators on real numbers need libm, as the output's README says."""


@pytest.mark.parametrize("io_buffers", ["arena", "caller"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", MODELS)
def test_links_with_libc_alone(name: str, compiler: str, io_buffers: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if name == "none" and io_buffers == "caller":
        pytest.skip("its output is a view of its input")
    plan = PlanOptions(caller_io=io_buffers == "caller")
    write(make_build(MODELS[name](), options=BuildOptions(name="net", plan=plan)).files, tmp_path)
    sources = ["net.c", "net_weights.c", "main_example.c"]
    libraries = ["-nodefaultlibs", *LIBRARIES.get(name, ()), "-lc", "-lgcc"]
    for define in ((), ("-DNDEBUG",)):
        command = [compiler, *STRICTER, "-O2", *define, *sources, *libraries]
        subprocess.run([*command, "-o", "program"], cwd=tmp_path, check=True, env={"PATH": _PATH})
        subprocess.run(["./program"], cwd=tmp_path, check=True)


_PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("standard", ["c++98", "c++11", "c++17", "c++20"])
def test_header_in_every_cpp(standard: str, tmp_path: Path) -> None:
    """With the inline helpers that it has for int8 borders."""
    plan = PlanOptions(caller_io=True)
    options = BuildOptions(name="net", plan=plan)
    write(make_build(two_convolutions(), options=options).files, tmp_path)
    (tmp_path / "use.cpp").write_text(
        '#include "net.h"\n#include "net.h"\nint x = NET_LAYER_COUNT;\n'
    )
    flags = ["-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow", "-Wpedantic"]
    command = ["g++", f"-std={standard}", *flags, "-c", "use.cpp", "-o", "use.o"]
    subprocess.run(command, cwd=tmp_path, check=True)
