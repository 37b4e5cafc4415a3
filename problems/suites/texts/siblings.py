"""Modules in the folder of a task that it imports, such as helpers of a fork of a suite. Nothing is run."""

from __future__ import annotations

from pathlib import Path

from engine.model.parsing import parse
from problems.suites.files import SuiteFileError, text_of
from problems.suites.texts.syntax import imported_packages


def imported_siblings(text: str, file: Path, *, root: Path) -> dict[str, str]:
    """The texts of modules in a file's folder that it imports directly or indirectly, by their file names.

    A module that cannot be read is left out: its import fails when the file runs.
    """
    found: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name in _imported(waiting.pop()):
            beside = file.with_name(f"{name}.py")
            if beside.name in found or beside == file or not beside.is_file():
                continue
            try:
                found[beside.name] = text_of(beside, root=root)
            except SuiteFileError:
                continue
            waiting.append(found[beside.name])
    return found


def _imported(text: str) -> set[str]:
    """The first parts of the module names that a text imports; empty for a text that does not parse."""
    try:
        return imported_packages(parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
