"""Modules beside a task that it imports, such as helpers of a fork of a suite.  Nothing is run."""

from __future__ import annotations

from pathlib import Path

from engine.model.parsing import parse
from problems.suites.files import SuiteFileError, text_of
from problems.suites.texts.syntax import imported_packages


def imported_siblings(text: str, file: Path, *, root: Path) -> dict[str, str]:
    """The texts of modules beside a file that it imports, and that these import, by their file names.

    One that cannot be read is left out: the import fails where the file runs.
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
    """The first parts of the names that a text imports; none of a text that does not parse."""
    try:
        return imported_packages(parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
