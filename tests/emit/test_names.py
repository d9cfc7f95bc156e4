"""Names from a model cannot break the C they are printed into."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.emit.names import RESERVED, comment, identifier, unique
from codegen.errors import CodegenError
from codegen.pipeline import BuildOptions
from tests.emit.programs import make_build, run_c, two_convolutions, write

AWKWARD = ["3-net v1.0(final)", "int", "main", "a/b", "a_b", "", "名前", "*/ int x; /*", "%s\n\\"]


@given(st.text())
def test_every_text_becomes_an_identifier(text: str) -> None:
    name = identifier(text)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert name not in RESERVED


@given(st.text())
def test_no_text_ends_a_comment(text: str) -> None:
    shown = comment(text)
    assert "*/" not in shown and "/*" not in shown and "\n" not in shown
    assert shown.isascii() and not shown.endswith("\\")


@given(st.lists(st.sampled_from(["a", "a_2", "a_2_2", "b"])))
def test_unique_names_differ(names: list[str]) -> None:
    result = unique(names)
    assert len(set(result)) == len(names)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_names_compile(text: str, tmp_path: Path) -> None:
    built = make_build(two_convolutions(name=text), title=text)
    write(built.files, tmp_path)
    sources = [tmp_path / f"{built.name}.c", tmp_path / f"{built.name}_weights.c"]
    run_c(tmp_path, [*sources, tmp_path / "main_example.c"])


def test_file_name_is_cleaned() -> None:
    built = make_build(two_convolutions(), title="My Model!")
    assert built.name == "my_model"
    assert "MY_MODEL_ARENA_BYTES" in built.files["my_model.h"]


@pytest.mark.parametrize("title", ["all", "clean", "install", "test", "m"])
def test_no_target_of_cmake_is_called_like_its_own(title: str) -> None:
    assert make_build(two_convolutions(), title=title).name == f"model_{title}"


@pytest.mark.parametrize("name", ["My Model!", "int", "string", "main_example", "a__b", "7", ""])
def test_given_name_is_taken_as_it_is_or_refused(name: str) -> None:
    with pytest.raises(
        CodegenError, match=r"cannot prefix C symbols.*; '[a-z0-9_]+' can$"
    ) as caught:
        make_build(two_convolutions(), options=BuildOptions(name=name))
    proposed = str(caught.value).split("'")[-2]
    assert make_build(two_convolutions(), options=BuildOptions(name=proposed)).name == proposed
