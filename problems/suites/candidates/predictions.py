"""Rows of predictions: {"predict", "file"}, or an instruction that contains the task's description or its gold text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from problems.suites.candidates.record import SuiteCandidate
from problems.suites.candidates.sources import source_of
from problems.suites.files import SuiteFileError
from problems.suites.rows import Row, rows_of
from problems.suites.task import Task

_TEXTS = ("predict", "prediction", "response", "code")
_SAMPLES = ("sample", "sample_id")
_FILES = ("file", "task", "name")
_INSTRUCTIONS = ("instruction", "prompt", "query")
_BEGIN, _END = "Functional Description: ", "Wrapper Entry Information:"
_LEAST_DESCRIPTION = 20  # characters; shorter texts occur in too many instructions


def predictions(path: Path, tasks: Sequence[Task]) -> Iterator[SuiteCandidate | SuiteFileError]:
    """The candidates of a file of JSON rows."""
    by_name = names_of(tasks)
    for number, row in enumerate(rows_of(path), 1):
        origin = f"{path}:{number}"
        try:
            yield row if isinstance(row, SuiteFileError) else _candidate(row, tasks, by_name, origin)
        except SuiteFileError as error:
            yield error


def names_of(tasks: Sequence[Task]) -> dict[str, Task]:
    """The tasks by the names used for candidates: the full name, and the last part if only one task has it."""
    found = {task.name: task for task in tasks}
    bare = [task.name.rpartition("/")[2] for task in tasks]
    found |= {name: task for name, task in zip(bare, tasks, strict=True) if bare.count(name) == 1}
    return found


def _candidate(row: Row, tasks: Sequence[Task], by_name: Mapping[str, Task], origin: str) -> SuiteCandidate:
    """The candidate of a row.

    Raises:
        SuiteFileError: it has no text, or belongs to no task of the suite.
    """
    text = next((row[key] for key in _TEXTS if isinstance(row.get(key), str)), None)
    if text is None:
        raise SuiteFileError(f"{origin}: no candidate: expected a text in {', '.join(_TEXTS)}")
    task = _task(row, tasks, by_name, origin)
    sample = next((row[key] for key in _SAMPLES if type(row.get(key)) is int), None)
    return SuiteCandidate(task=task.name, text=source_of(text, task), origin=origin, sample=sample)


def _task(row: Row, tasks: Sequence[Task], by_name: Mapping[str, Task], origin: str) -> Task:
    named = next((row[key] for key in _FILES if isinstance(row.get(key), str)), None)
    if named is not None:
        stem = named.removesuffix(".py")
        found = by_name.get(stem) or by_name.get(stem.rpartition("/")[2])
        if found is None:
            raise SuiteFileError(f"{origin}: for task {named!r}, which is not in the suite")
        return found
    instruction = next((row[key] for key in _INSTRUCTIONS if isinstance(row.get(key), str)), "")
    fitting = [task for task in tasks if _fits(instruction, task)]
    if len(fitting) != 1:
        which = ", ".join(task.name for task in fitting[:3]) or "none"
        raise SuiteFileError(f"{origin}: its instruction fits {len(fitting)} tasks ({which}); name one in 'file'")
    return fitting[0]


def _fits(instruction: str, task: Task) -> bool:
    """Whether an instruction contains the gold text of a task, or its description."""
    gold = task.text.strip()
    if gold and gold in instruction:
        return True
    described = instruction.rpartition(_BEGIN)[2].partition(_END)[0] if _BEGIN in instruction else ""
    wanted, known = "".join(described.split()), "".join(task.details.get("description", "").split())
    return len(wanted) >= _LEAST_DESCRIPTION and wanted in known
