"""Writing an output directory: whole or not at all, and never over a user's files unasked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from codegen.errors import CodegenError


def write_directory(target: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write `files` below `target`: aside first, then moved into place.

    With `force` an existing directory keeps its other files; ours replace those of equal name.

    Raises:
        CodegenError: if something is in the way or cannot be written.
    """
    if target.exists() and not target.is_dir():
        raise CodegenError(f"{target} is a file; give -o the name of a directory")
    for parent in target.parents:
        if parent.exists() and not parent.is_dir():
            raise CodegenError(f"cannot write {target}: {parent} is a file; choose another -o")
    try:
        existing = target.is_dir()
        if existing and any(target.iterdir()):
            _check_place(target, files, force)
        folder = target.resolve()
        parent = folder if existing else folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".codegen-", dir=parent))
        try:
            _fill(aside, files)
            _move(aside, folder, existing)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CodegenError(f"cannot write {target}: {reason}; choose another -o") from error


def _check_place(target: Path, files: Mapping[str, str], force: bool) -> None:
    """A directory that is not empty takes the files only with `force` and where they fit."""
    if not force:
        raise CodegenError(
            f"{target} exists and is not empty; give --force to replace the files in it"
        )
    folders = {parent for name in files for parent in (target / name).parents} - {target}
    wrong = [target / name for name in files if (target / name).is_dir()]
    wrong += [f for f in folders if f.is_relative_to(target) and f.exists() and not f.is_dir()]
    if wrong:
        kind = "directory" if wrong[0].is_dir() else "file"
        raise CodegenError(f"{wrong[0]} is a {kind} and in the way; choose another -o")


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    folder.chmod(0o755)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _move(aside: Path, target: Path, existing: bool) -> None:
    if not existing:
        aside.rename(target)
        return
    for path in sorted(p for p in aside.rglob("*") if p.is_file()):
        place = target / path.relative_to(aside)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)


def write_file(path: Path, text: str) -> None:
    """Write one file that the user has named.

    Raises:
        CodegenError: if it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise CodegenError(f"cannot write {path}: {error.strerror}; choose another name") from error
