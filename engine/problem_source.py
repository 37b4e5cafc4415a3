"""Sources of problems: a source lists them, describes one without running it, and loads its code.

A source has an id, so that the parent and the judge open the same one: the name of a module, and after a colon
an argument, if it takes one, such as "problems.catalogue".  The module defines `open_source(argument)`.  So the
engine opens sources of packages that it must not import.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import EngineError
from engine.model import DType, Precision, Problem, ProblemDefinition
from engine.model.problems.health import Weakness

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments


@dataclass(frozen=True, kw_only=True)
class ProblemDescription:
    """Description of a problem that is read without running its file.

    `category` is one of Category, or of a suite's own. `formula` is the first line of the file's docstring, `contract`
    the rest of it. `dtypes` are those that its cases name, in their order; empty if unknown.
    `functions` are the names in the file of what makes inputs and the like, by their role: those that are names. `stem`
    names its kernel file, where not the entry. `second_oracle` is that of the definition. `reference` is the text of a
    foreign suite's reference and of what it imports, by file name, the reference first. `weakness` is what an audit
    found first.
    """

    source: str
    name: str
    entry: str
    signature: str
    summary: str
    category: str
    formula: str
    contract: str
    file: Path
    dtypes: tuple[DType, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)
    stem: str = ""
    second_oracle: str = ""
    reference: Mapping[str, str] = field(default_factory=dict)
    weakness: str = ""

    @property
    def file_stem(self) -> str:
        """Stem of a kernel file's name, as Problem.file_stem."""
        return self.stem or self.entry

    @property
    def library(self) -> str:
        """Library of the operator, the first part of its name: aten, vllm, cublas."""
        return self.name.partition("::")[0]


class ProblemSource(Protocol):
    """A set of problems."""

    @property
    def id(self) -> str:
        """Id from which `open_source` makes this source."""
        ...

    def names(self) -> tuple[str, ...]:
        """The full names of its problems; runs nothing of their files."""
        ...

    def file(self, name: str) -> Path:
        """The file of a problem, which need not exist.

        Raises:
            EngineError: the source has no problem of this name.
        """
        ...

    def describe(self, name: str) -> ProblemDescription:
        """Description of a problem by its file, which is read and not run.

        Raises:
            EngineError: it cannot be read as a problem; the message has file, line and next step.
        """
        ...

    def problem(self, name: str) -> Problem:
        """The values of a problem: everything except the code that only the judge runs.

        Raises:
            EngineError: it cannot be loaded; the message has file, line and next step.
        """
        ...

    def load(self, name: str, *, version: str = "") -> ProblemDefinition:
        """The code of a problem, run in this process: for the judge.

        Raises:
            EngineError: it cannot be loaded, or has another version than requested.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class OpenedReference:
    """A task that the reference process has opened: `notes` on its run, and the bytes of all arguments and outputs.

    The bytes are those of every case, or of each by its name in the harness.
    """

    notes: tuple[str, ...]
    needed_bytes: int | Mapping[str, int] | None


@dataclass(frozen=True, kw_only=True)
class AttachedProblem:
    """A foreign problem that is ready for verification, with `notes` on how it is computed.

    `left_out` are the names of the problem's cases that do not fit into memory; the definition has the others.
    """

    definition: ProblemDefinition
    notes: tuple[str, ...]
    left_out: tuple[str, ...] = ()


class ReferenceUnavailableError(Exception):
    """The reference cannot compute in the required precision; the message has the reason."""


class ReferenceClient(Protocol):
    """A reference process as used by the code of a foreign problem in the judge."""

    def open(self, *, harness: str, file: str, files: Mapping[str, str], details: Mapping[str, str]) -> OpenedReference:
        """Have the process import the task; raises ReferenceFaultError, as all following methods do."""
        ...

    def write_file(self, name: str, parts: Iterable[bytearray]) -> None:
        """Have the process write a file beside the task's own, part by part, before the task is opened."""
        ...

    def draw(self, *, seed: int, weight_seed: int, case: str = "") -> Arguments:
        """The arguments of the entry in a case, made from these seeds, on the judge's device."""
        ...

    def expected(
        self, arguments: Arguments, precision: Precision, *, dtypes: Sequence[torch.dtype] = ()
    ) -> tuple[torch.Tensor, ...]:
        """The outputs for these arguments in this precision, on the judge's device; rounded to `dtypes` if given.

        Raises:
            ReferenceUnavailableError: there is no run in this precision.
        """
        ...

    def prepare_times(self, *, seeds: Sequence[tuple[int, int]], case: str = "") -> None:
        """Have the process prepare its reference for timing on contents of these pairs of seeds.

        Raises:
            ReferenceUnavailableError: it cannot be timed.
        """
        ...

    def time(self, command: Any) -> Any:  # Any: messages of engine.protocol, as in ReferenceTimer
        """The reply of the process to a TimeBaseline; raises as `prepare_times`."""
        ...

    def forget_times(self) -> None:
        """Have the process free the memory of timing."""
        ...

    def passes_own_rule(self, arguments: Arguments, outputs: tuple[torch.Tensor, ...]) -> bool:
        """Result of the task's own check for the outputs of a call.

        Raises:
            ReferenceUnavailableError: the task has no such code.
        """
        ...


class ReferenceSource(ProblemSource, Protocol):
    """A source whose problems are computed by a reference process."""

    def attach(self, name: str, reference: ReferenceClient, *, version: str = "") -> AttachedProblem:
        """Open a problem in this process and calibrate its tolerance.

        Raises:
            ReferenceFaultError: its code failed.
            UnsupportedError: it cannot be run on this machine; the message has what it needs.
            EngineError: it cannot be read, or has another version than requested.
        """
        ...

    def audit(self, name: str, reference: ReferenceClient, *, version: str = "") -> tuple[Weakness, ...]:
        """Every defect of a problem; raises as `attach` does, except for faults of its code, which are defects."""
        ...


def open_source(source: str) -> ProblemSource:
    """The source with this id.

    Raises:
        EngineError: there is no such source.
    """
    module, _, argument = source.partition(":")
    try:
        opener = importlib.import_module(module).open_source
    except (ImportError, AttributeError, ValueError) as error:
        raise EngineError(f"{source!r} is not a problem source: {error}") from error
    opened: ProblemSource = opener(argument)
    return opened
