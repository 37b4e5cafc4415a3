"""A suite as a source of problems.  The parent process reads its tasks; the judge opens one in a reference process.

The id contains the path and the user's choices, so that the judge reads the same tasks in the same way.
"""

from __future__ import annotations

import ast
from functools import cached_property
from pathlib import Path

from engine.errors import EngineError, UsageError
from engine.model import Cost, Problem, ProblemDefinition, Tolerance
from engine.model.parsing import parse
from engine.model.problems.health import Weakness
from engine.problem_source import AttachedProblem, ProblemDescription, ReferenceClient
from problems.suites.plan import PlannedTask, planned
from problems.suites.scanning import format_named, format_of
from problems.suites.settings import SuiteChoice, choice_of
from problems.suites.task import SuiteContents, Task


class SuiteSource:
    """The problems of one suite."""

    def __init__(self, choice: SuiteChoice) -> None:
        self.choice = choice
        self.format = format_named(choice.format)

    @property
    def id(self) -> str:
        """Id from which `open_source` makes this source."""
        return f"{__name__}:{self.choice.text}"

    @property
    def complaints(self) -> tuple[str, ...]:
        """A sentence for each of the first files or rows of the suite that are not tasks."""
        return self._contents.complaints

    @property
    def left_out(self) -> int:
        """Number of files and rows of the suite that are not tasks."""
        return self._contents.left_out

    def names(self) -> tuple[str, ...]:
        """In the order of the suite."""
        return tuple(self._tasks)

    def task(self, name: str) -> Task:
        """The task of a problem.

        Raises:
            EngineError: the suite does not have this problem, or no longer has it.
        """
        if name not in self._tasks:
            raise EngineError(f"{self.choice.path} has no {name}; it was removed or renamed")
        return self._tasks[name]

    def file(self, name: str) -> Path:
        """The file of a problem; for an export the export itself."""
        return self.task(name).file

    def describe(self, name: str) -> ProblemDescription:
        """Description of a problem from the files of the suite."""
        task, made = self.task(name), self._planned(name)
        contract = made.contract
        formula, contract_text = _documentation(task)
        return ProblemDescription(
            source=self.id,
            name=name,
            entry=task.entry,
            signature=contract["suite"].signature,
            summary=contract["summary"],
            category=task.category,
            formula=formula,
            contract=contract_text,
            file=task.file,
            dtypes=(self.choice.accuracy.dtype,),
            stem=self.problem(name).file_stem,
            reference={made.file: made.files[made.file], **made.files},
        )

    def problem(self, name: str) -> Problem:
        """The values of a problem; tolerance and cost follow from its reference and are unknown before it runs.

        Raises:
            UsageError: a chosen size does not exist in the task.
        """
        made = self._planned(name)
        names = [case.name for case in made.contract["cases"]]
        return Problem(
            **made.contract,
            source=self.id,
            version=made.version,
            tolerance_by_case=dict.fromkeys(names, Tolerance(relative=0.0, absolute=0.0)),
            cost_by_case=dict.fromkeys(names, Cost(flops=0, bytes_read=0, bytes_written=0)),
        )

    def load(self, name: str, *, version: str = "") -> ProblemDefinition:
        """Always raises: the code of a foreign problem runs in a reference process only."""
        raise EngineError(f"{name} is not attached to a reference process; run again")

    def attach(self, name: str, reference: ReferenceClient, *, version: str = "") -> AttachedProblem:
        """The problem, opened in the reference process; see ReferenceSource."""
        from problems.suites.definition import attached

        return attached(self._planned(name, version), reference)

    def audit(self, name: str, reference: ReferenceClient, *, version: str = "") -> tuple[Weakness, ...]:
        """Every defect of a problem; see ReferenceSource."""
        from problems.suites.audits.audit import audit

        return audit(self._planned(name, version), self.describe(name), reference)

    @cached_property
    def _contents(self) -> SuiteContents:
        return self.format.read(self.choice.path)

    @cached_property
    def _tasks(self) -> dict[str, Task]:
        return {f"{self.format.id}::{task.name}": task for task in self._contents.tasks}

    def _planned(self, name: str, version: str = "") -> PlannedTask:
        """The task with the user's choices, in this version if one is given."""
        try:
            made = planned(self.task(name), self.format, self.choice)
        except SyntaxError as error:
            raise EngineError(f"{self.task(name).file}: syntax error: {error.msg}") from error
        if version and version != made.version:
            raise EngineError(f"{made.task.file} has changed since the run began; run again")
        return made


def open_source(argument: str) -> SuiteSource:
    """The suite that the JSON of a SuiteChoice describes.

    Raises:
        EngineError: it is not such a description, or its path does not exist.
    """
    choice = choice_of(argument)
    if not choice.path.exists():
        raise EngineError(f"{choice.path}, the suite of this problem, no longer exists; restore it or name it again")
    try:
        return SuiteSource(choice)
    except UsageError as error:
        raise EngineError(str(error)) from error


def suite_at(path: Path, *, choice: SuiteChoice | None = None) -> SuiteSource:
    """The suite at a path, in the format that recognises it, with the choices of `choice` but for path and format.

    Raises:
        UsageError: the path does not exist, or no format recognises it.
    """
    import msgspec

    found = format_of(path)
    base = choice or SuiteChoice(path=path, format=found.id)
    return SuiteSource(msgspec.structs.replace(base, path=path, format=found.id))


def _documentation(task: Task) -> tuple[str, str]:
    """The first line, and the rest, of the docstring of the reference, its class or its module."""
    try:
        tree = parse(task.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return task.title, ""
    documented = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    texts = (ast.get_docstring(node) for node in (tree, *documented))
    first, _, rest = next((text for text in texts if text), task.title).partition("\n")
    return first, rest.strip("\n")
