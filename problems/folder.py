"""Problems of the user: a folder of files, each of which defines `PROBLEM` like a file of the catalogue.

`DIR/rope.py` is the problem "user::rope".  Its version is the hash of its text: a changed file is a different problem
for the judge, which refuses to load a version that no longer exists. Names and descriptions are read without running a
file, so that a broken file does not break the list.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.abc
import importlib.util
import sys
from pathlib import Path
from types import CodeType

from engine.errors import EngineError
from engine.model import Problem, ProblemDefinition
from engine.model.parsing import parse
from engine.problem_source import ProblemDescription
from problems.catalogue import checked_definition
from problems.reading import describe

LIBRARY = "user"
_HEAVY = ("torch", "triton", "numpy")


class Folder:
    """The problem files of one folder; files whose names begin with an underscore are ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    @property
    def id(self) -> str:
        """Id from which `open_source` makes this source."""
        return f"{__name__}:{self._folder}"

    def names(self) -> tuple[str, ...]:
        """In alphabetical order."""
        stems = sorted(file.stem for file in self._folder.glob("*.py") if not file.name.startswith("_"))
        return tuple(f"{LIBRARY}::{stem}" for stem in stems)

    def file(self, name: str) -> Path:
        """The file of a problem.

        Raises:
            EngineError: the folder has no problem of this name.
        """
        library, _, stem = name.partition("::")
        file = self._folder / f"{stem}.py"
        if library != LIBRARY or not file.is_file():
            raise EngineError(f"{self._folder} has no {name}; it was removed or renamed")
        return file

    def describe(self, name: str) -> ProblemDescription:
        """Description of a problem from its file, which is parsed and not executed.

        Raises:
            EngineError: it is not a problem file, or it imports torch at module level.
        """
        file = self.file(name)
        described = describe(file, name=name, source=self.id, shown=str(file))
        _require_light(file)
        return described

    def problem(self, name: str) -> Problem:
        """The values of a problem; runs its file."""
        self.describe(name)
        file = self.file(name)
        content = _content(file)
        return _definition(file, content, name).problem(self.id, version=_version(content))

    def load(self, name: str, *, version: str = "") -> ProblemDefinition:
        """The code of a problem; runs its file.

        Raises:
            EngineError: the file is broken, or has another version.
        """
        file = self.file(name)
        content = _content(file)
        if version and version != _version(content):
            raise EngineError(f"{file} has changed since the run began; run again")
        return _definition(file, content, name)


def open_source(argument: str) -> Folder:
    """The folder of this path."""
    return Folder(Path(argument))


def _version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise EngineError(f"{file}: cannot be read: {error.strerror}") from error


def _require_light(file: Path) -> None:
    """Raise EngineError if running the file would import torch: the screen runs it too, and must not import torch."""
    for node in parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module)):
                modules = [module]
            case _:
                continue
        heavy = [module for module in modules if module.partition(".")[0] in _HEAVY]
        if heavy:
            raise EngineError(
                f"{file}:{node.lineno}: imports {heavy[0]} when loaded; write `from problems.kit import torch`, which "
                "imports it on first use, and other imports inside of functions"
            )


def _definition(file: Path, content: bytes, name: str) -> ProblemDefinition:
    """Run the file and return its definition."""
    loader = _Content(file, content)
    name_of_module = f"problems_of_folder_{_version(content)[:16]}_{file.stem}"
    spec = importlib.util.spec_from_loader(name_of_module, loader, origin=str(file))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up their module in sys.modules
    try:
        loader.exec_module(module)
    except Exception as error:  # boundary to a user's file: any exception is reported with its line
        del sys.modules[module.__name__]
        raise EngineError(f"{file}:{_line(error, file)}: {type(error).__name__}: {error}") from error
    return checked_definition(module, name=name, file=str(file))


class _Content(importlib.abc.InspectLoader):
    """Loader of the content that was hashed, whatever the file contains later."""

    def __init__(self, file: Path, content: bytes) -> None:
        self._file, self._content = file, content

    def get_source(self, fullname: str) -> str:
        """The text of the file."""
        return importlib.util.decode_source(self._content)

    def get_code(self, fullname: str) -> CodeType:
        """The text of the file, compiled under its path."""
        return self.source_to_code(self._content, str(self._file))


def _line(error: Exception, file: Path) -> int:
    """Line of the error in the file."""
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    import traceback  # only for a broken file

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return (frames[-1].lineno or 1) if frames else 1
