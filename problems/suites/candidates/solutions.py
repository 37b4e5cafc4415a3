"""Solutions of flashinfer-trace: JSON with the sources of a candidate and the name of its entry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from problems.suites.candidates.record import SuiteCandidate
from problems.suites.files import SuiteFileError, text_of
from problems.suites.task import Task

_LANGUAGES = frozenset({"python", "triton"})


def is_solution(found: object) -> bool:
    """Whether JSON has the keys of a Solution."""
    return isinstance(found, dict) and {"definition", "spec", "sources"} <= set(found)


def solution(path: Path, tasks: Sequence[Task], *, root: Path) -> SuiteCandidate:
    """The candidate of a Solution file: its one source, with the entry under the name `run`.

    Raises:
        SuiteFileError: it is no Solution, has several sources, another language, or is for no task of the suite.
    """
    try:
        found = json.loads(text_of(path, root=root))
    except (ValueError, RecursionError) as error:
        raise SuiteFileError(f"{path}: no JSON: {error}") from error
    if not is_solution(found):
        raise SuiteFileError(f"{path}: no Solution: expected definition, spec and sources")
    task = next((one for one in tasks if one.name.rpartition("/")[2] == found["definition"]), None)
    if task is None:
        raise SuiteFileError(f"{path}: for {found['definition']!r}, and the suite has no such definition")
    return SuiteCandidate(task=task.name, text=_source(found, task, path), origin=str(path))


def _source(found: Mapping[str, Any], task: Task, path: Path) -> str:
    spec, sources = found["spec"], found["sources"]
    language = spec.get("language")
    if language not in _LANGUAGES:
        raise SuiteFileError(f"{path}: written in {language}; only Python and Triton solutions are read")
    if len(sources) != 1:
        raise SuiteFileError(f"{path}: has {len(sources)} source files; only solutions of one file are read")
    file, _, function = str(spec.get("entry_point", "")).partition("::")
    if sources[0].get("path") != file or not function.isidentifier():
        raise SuiteFileError(f"{path}: its entry_point {file}::{function} is not in its source")
    text = str(sources[0].get("content", "")).rstrip() + "\n"
    if spec.get("destination_passing_style", True):
        return text if function == task.entry else f"{text}\n\n{task.entry} = {function}\n"
    return text + _filling(function, task)


def _filling(function: str, task: Task) -> str:
    """A function that fills its last arguments with what the solution returns."""
    count = len(task.outputs)
    return (
        f"\n\n_returning = {function}\n\n\n"
        f"def {task.entry}(*arguments):\n"
        f"    returned = _returning(*arguments[:-{count}])\n"
        f"    returned = returned if isinstance(returned, (list, tuple)) else (returned,)\n"
        f"    for output, value in zip(arguments[-{count}:], returned, strict=True):\n"
        f"        output.copy_(value)\n"
    )
