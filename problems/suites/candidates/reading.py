"""All candidates of a path for the tasks of a suite: a folder, a file of rows, an answer, a source or a Solution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from problems.suites.candidates.naming import task_and_sample
from problems.suites.candidates.predictions import names_of, predictions
from problems.suites.candidates.record import SuiteCandidate, SuiteCandidates
from problems.suites.candidates.solutions import is_solution, solution
from problems.suites.candidates.sources import source_of
from problems.suites.complaints import Complaints
from problems.suites.files import SuiteFileError, natural, text_of
from problems.suites.rows import first_row
from problems.suites.task import Task

_TEXTS = (".py", ".txt", ".md")


def candidates_of(path: Path, tasks: Sequence[Task]) -> SuiteCandidates:
    """The candidates below a folder, or of one file."""
    files = _files(path) if path.is_dir() else [path]
    root = path if path.is_dir() else path.parent
    by_name = names_of(tasks)
    candidates, complaints = list[SuiteCandidate](), Complaints()
    for one in (one for file in files for one in _of_file(file, tasks, by_name, root)):
        if isinstance(one, SuiteCandidate):
            candidates.append(one)
        else:
            complaints.add(str(one))  # not the error itself: its traceback would keep the whole row in memory
    return SuiteCandidates(candidates=tuple(candidates), complaints=complaints.sentences)


def _files(folder: Path) -> list[Path]:
    """The files below a folder in the order of their names, without hidden ones."""
    found = (file for file in folder.rglob("*") if file.is_file())
    shown = ((file.relative_to(folder), file) for file in found)
    kept = [file for place, file in shown if not any(part.startswith((".", "__")) for part in place.parts)]
    return sorted(kept, key=lambda file: natural(file.as_posix()))


def _of_file(
    file: Path, tasks: Sequence[Task], by_name: Mapping[str, Task], root: Path
) -> Iterator[SuiteCandidate | SuiteFileError]:
    try:
        if file.suffix == ".jsonl":
            yield from predictions(file, tasks)
        elif file.suffix == ".json" and is_solution(_object(file)):
            yield solution(file, tasks, root=root)
        elif file.suffix == ".json":
            yield from predictions(file, tasks)
        elif file.suffix in _TEXTS:
            yield _of_text(file, by_name, root)
    except SuiteFileError as error:
        yield error


def _object(file: Path) -> object:
    """Value of a JSON file; its first row if it is too large, or is not JSON."""
    try:
        return json.loads(text_of(file, root=file.parent))
    except (SuiteFileError, ValueError, RecursionError):
        return first_row(file)


def _of_text(file: Path, by_name: Mapping[str, Task], root: Path) -> SuiteCandidate:
    """The candidate of a source or an answer whose file or folder has the name of its task.

    Raises:
        SuiteFileError: no part of its path is the name of a task, or it cannot be read.
    """
    named = task_and_sample(file.relative_to(root), by_name)
    if named is None:
        raise SuiteFileError(
            f"{file}: its name matches no task of the suite, or several; name it like a task, such as NAME.py, "
            "LEVEL/NAME.py where two levels have that name, or NAME_0.py for a sample"
        )
    task, sample = named
    text = source_of(text_of(file, root=root), task)
    return SuiteCandidate(task=task.name, text=text, origin=str(file), sample=sample)
