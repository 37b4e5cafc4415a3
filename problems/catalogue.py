"""The built-in catalogue: one module for each operator, in the folder of its library.

`aten/softmax.py` defines `PROBLEM`, the problem called "aten::softmax".  The folders are scanned, so no list of
operators has to be maintained.  Nothing here imports torch: the functions of a problem take it from `problems.kit`,
which loads it when they are called.  Names and descriptions are read from the text of the files; only `problem` and
`load` import one.
"""

from __future__ import annotations

import importlib
from functools import cached_property
from pathlib import Path

from engine.errors import EngineError
from engine.model import Problem, ProblemDefinition
from engine.problem_source import ProblemDescription
from problems.reading import describe

LIBRARIES = ("aten", "vllm", "cublas")
ID = __name__


class Catalogue:
    """The problems of a package with one folder for each library."""

    def __init__(self, package: str = "problems") -> None:
        self._package = package

    @property
    def id(self) -> str:
        """Id from which `open_source` makes this source."""
        return ID if self._package == "problems" else f"{ID}:{self._package}"

    def names(self) -> tuple[str, ...]:
        """In the order of the libraries, each in alphabetical order."""
        roots = self._roots
        return tuple(
            f"{library}::{stem}"
            for library in LIBRARIES
            for stem in sorted(
                file.stem for root in roots for file in (root / library).glob("*.py") if file.stem != "__init__"
            )
        )

    def file(self, name: str) -> Path:
        """The file of a problem.

        Raises:
            EngineError: the catalogue has no problem of this name.
        """
        library, _, stem = name.partition("::")
        file = next((file for root in self._roots if (file := root / library / f"{stem}.py").is_file()), None)
        if file is None:
            raise EngineError(f"the catalogue has no {name}; `kgtui problems list` shows its operators")
        return file

    def describe(self, name: str) -> ProblemDescription:
        """Description of a problem from its file, which is parsed and not executed.

        Raises:
            EngineError: it is not a problem file.
        """
        library, _, stem = name.partition("::")
        return describe(self.file(name), name=name, source=self.id, shown=f"{self._package}/{library}/{stem}.py")

    def problem(self, name: str) -> Problem:
        """The values of a problem; imports its module."""
        return self.load(name).problem(self.id)

    def load(self, name: str, *, version: str = "") -> ProblemDefinition:
        """The code of a problem; imports its module.

        Raises:
            EngineError: the module is broken; the text names its file.
        """
        library, _, stem = name.partition("::")
        file = f"{self._package}/{library}/{stem}.py"
        try:
            module = importlib.import_module(f"{self._package}.{library}.{stem}")
        except Exception as error:  # boundary to plug-ins: any exception of a module is reported with its file
            raise EngineError(f"{file}: cannot be imported: {type(error).__name__}: {error}") from error
        return checked_definition(module, name=name, file=file)

    @cached_property
    def _roots(self) -> tuple[Path, ...]:
        return tuple(Path(folder) for folder in importlib.import_module(self._package).__path__)


def open_source(argument: str) -> Catalogue:
    """The catalogue; a test may name another package."""
    return Catalogue(argument or "problems")


def checked_definition(module: object, *, name: str, file: str) -> ProblemDefinition:
    """The definition in a problem file, whose name must match the file.

    Raises:
        EngineError: there is no definition, or its name differs.
    """
    found = getattr(module, "PROBLEM", None)
    if not isinstance(found, ProblemDefinition):
        raise EngineError(f"{file}: PROBLEM should be an engine.model.ProblemDefinition, is {found!r}; define it there")
    if found.name != name:
        raise EngineError(f"{file}: PROBLEM.name should be {name!r} after the file, is {found.name!r}")
    return found
