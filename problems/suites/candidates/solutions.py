"""Solutions of flashinfer-trace: JSON with the sources of a candidate and the name of its entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from problems.suites.candidates.joining import joined
from problems.suites.candidates.native_solutions import compiling
from problems.suites.candidates.record import SuiteCandidate
from problems.suites.files import SuiteFileError, text_of
from problems.suites.task import Task

_PYTHON, _NATIVE = frozenset({"python", "triton"}), frozenset({"cuda", "cpp"})


class _Spec(msgspec.Struct, frozen=True):
    """Build and call convention of a solution."""

    language: str
    entry_point: str
    destination_passing_style: bool = True
    binding: str | None = None


class _File(msgspec.Struct, frozen=True):
    """A source file in a solution."""

    path: str
    content: str


class _Solution(msgspec.Struct, frozen=True):
    """The fields of a solution that are read."""

    definition: str
    spec: _Spec
    sources: tuple[_File, ...]


def is_solution(found: object) -> bool:
    """Whether a JSON value has the keys of a Solution."""
    return isinstance(found, dict) and {"definition", "spec", "sources"} <= set(found)


def solution(path: Path, tasks: Sequence[Task], *, root: Path) -> SuiteCandidate:
    """The candidate of a Solution file: its sources as one text, with the entry under the name `run`.

    Raises:
        SuiteFileError: it is not a Solution, is in another language, belongs to no task of the suite, or its files
            cannot be joined.
    """
    try:
        found = msgspec.json.decode(text_of(path, root=root), type=_Solution)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SuiteFileError(f"{path}: not a valid Solution: {error}; left out") from error
    task = next((one for one in tasks if one.name.rpartition("/")[2] == found.definition), None)
    if task is None:
        raise SuiteFileError(f"{path}: for definition {found.definition!r}, which is not in the suite")
    return SuiteCandidate(task=task.name, text=_source(found, task, path), origin=str(path))


def _source(found: _Solution, task: Task, path: Path) -> str:
    spec, texts = found.spec, {source.path: source.content for source in found.sources}
    if spec.language not in _PYTHON | _NATIVE:
        raise SuiteFileError(f"{path}: written in {spec.language}; Python, Triton, CUDA and C++ solutions are read")
    if len(texts) < len(found.sources):
        raise SuiteFileError(f"{path}: two of its source files have one path; left out")
    file, _, function = spec.entry_point.partition("::")
    if file not in texts or not function.isidentifier():
        raise SuiteFileError(f"{path}: its entry_point {file}::{function} is not in its sources")
    if spec.language in _NATIVE:
        return _native_text(texts, spec, task, path)
    if other := next((name for name in texts if not name.endswith(".py")), ""):
        raise SuiteFileError(f"{path}: has the file {other} beside its Python files; only Python files are read")
    text = texts[file].rstrip() + "\n" if len(texts) == 1 else joined(texts, entry=file, shown=str(path))
    if not spec.destination_passing_style:
        return text + _filling(function, task)
    return text if function == task.entry else f"{text}\n\n{task.entry} = {function}\n"


def _native_text(texts: Mapping[str, str], spec: _Spec, task: Task, path: Path) -> str:
    """The text of a solution in CUDA or C++, with a function that calls the compiled code."""
    text = compiling(
        texts, entry=spec.entry_point, binding=spec.binding, with_cuda=spec.language != "cpp", shown=str(path)
    )
    function = f"_extension.{spec.entry_point.partition('::')[2]}"
    if not spec.destination_passing_style:
        return text + _filling(function, task)
    names = ", ".join((*(task.arguments or ()), *task.outputs))
    return f"{text}\n\ndef {task.entry}({names}):\n    {function}({names})\n"


def _filling(function: str, task: Task) -> str:
    """A function that copies the returned values of the solution into its last arguments."""
    count = len(task.outputs)
    return (
        f"\n\n_returning = {function}\n\n\n"
        f"def {task.entry}(*arguments):\n"
        f"    returned = _returning(*arguments[:-{count}])\n"
        f"    returned = [returned[name] for name in {task.outputs!r}] if isinstance(returned, dict) else returned\n"
        f"    returned = returned if isinstance(returned, (list, tuple)) else (returned,)\n"
        f"    for output, value in zip(arguments[-{count}:], returned, strict=True):\n"
        f"        output.copy_(value)\n"
    )
