"""The user's kernel files: their folder, and the creation of new ones."""

from __future__ import annotations

from pathlib import Path

from engine.errors import UsageError
from engine.model import Problem
from engine.problem_source import ProblemDescription
from kgtui.files.new_file import create_numbered
from kgtui.ports.protocols import Scaffold

SAMPLES = Path(__file__).parents[1] / "samples"


def kernel_path(problem: Problem | ProblemDescription, folder: Path) -> Path:
    """The default path of the operator's kernel file; `folder` is that of the kernel files."""
    return folder / f"{problem.file_stem}.py"


def shown_from(path: Path, folder: Path) -> str:
    """The path relative to `folder` if it is inside, as a user would type it."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


class KernelFolder:
    """The user's working folder, and that of the kernels, by default `kernels` below it."""

    def __init__(self, folder: Path, *, scaffold: Scaffold, kernels: Path | None = None) -> None:
        self._folder = folder
        self._kernels = kernels or folder / "kernels"
        self._scaffold = scaffold

    def path_of(self, problem: Problem | ProblemDescription) -> Path:
        """Path of the operator's kernel file."""
        return kernel_path(problem, self._kernels)

    def shown(self, path: Path) -> str:
        """The path as the user would type it in the working folder."""
        return shown_from(path, self._folder)

    def has_sample(self, problem: Problem | ProblemDescription) -> bool:
        """Whether a sample kernel is installed with the program."""
        return problem.library == "aten" and (SAMPLES / f"{problem.entry}.py").is_file()

    def copy_sample(self, problem: Problem | ProblemDescription) -> Path:
        """Copy the sample to the path of the operator's kernel file, next to existing ones.

        Raises:
            UsageError: it cannot be written.
        """
        return _created(self.path_of(problem), (SAMPLES / f"{problem.entry}.py").read_bytes())

    def new_file(self, problem: Problem) -> Path:
        """Create a kernel file from the template, next to existing ones.

        Raises:
            UsageError: it cannot be written.
        """
        return _created(self.path_of(problem), self._scaffold(problem).encode())

    def write_screenshot(self, svg: str) -> Path:
        """Write a picture of the screen to a new file in the working folder.

        Raises:
            UsageError: it cannot be written.
        """
        return _created(self._folder / "kgtui-screen.svg", svg.encode())

    def restore(self, content: bytes, *, name: str, number: int) -> Path:
        """Write the source of run `number` of a file called `name` to a new file; existing files stay unchanged.

        Raises:
            UsageError: it cannot be written.
        """
        return _created(self._kernels / f"{Path(name).stem}_run{number}.py", content)


def _created(path: Path, content: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return create_numbered(path, content)
    except OSError as error:
        words = f"{path.parent} cannot be written: {error.strerror}; start kgtui in another folder"
        raise UsageError(words) from error
