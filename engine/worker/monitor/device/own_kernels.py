"""Which functions on the device belong to kernels of the candidate's own files.

Triton loads a kernel's binary once and gets a function of a module for it.  A launch passes that function to the
driver, so another kernel of the same name is not mistaken for it.

Files that the candidate writes while it runs are its own as well: operator libraries generate the source of pointwise
kernels into a cache folder and import it from there.  Files that a library writes for it are not, nor are files that it
opens for writing but does not change, such as those of a library, which it may only read.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from triton.compiler.compiler import ASTSource, CompiledKernel

from engine.loading.installed import is_in_folder, is_standard

# Triton's compiler is not typed: what passes through is Any throughout this file.

_WRITES = os.O_WRONLY | os.O_RDWR
_MOST_OPENED = 4096  # files that are followed
_MOST_FRAMES = 64

_FileState: TypeAlias = tuple[int, int]
"""Inode and time of the last change: no process can set the latter."""


class OwnKernels:
    """Records every binary that Triton loads in this process; created before a candidate is loaded."""

    def __init__(self) -> None:
        self._file_by_function: dict[int, str] = {}
        self._folders: tuple[Path, ...] = ()
        self._opened: dict[str, _FileState | None] = {}
        """By path, the state of each file before the candidate first opened it for writing; None if there was none."""
        load = CompiledKernel._init_handles

        def noting(kernel: Any) -> None:
            load(kernel)
            self._note(kernel)

        CompiledKernel._init_handles = noting

    def belong_to(self, *folders: Path) -> None:
        """Treat files in these folders as the candidate's."""
        self._folders = folders

    def follow_writes(self) -> None:
        """Record the files that the candidate writes from now on, by Python's audit events."""
        sys.addaudithook(self._on_event)

    def owns(self, function: int | None) -> bool:
        """Whether this function was loaded for a kernel that such a file defines."""
        file = self._file_by_function.get(function) if function is not None else None
        return file is not None and self._is_own(file)

    def file_of(self, function: int | None) -> str:
        """The file that defines the kernel of this function; "" if there is none."""
        return self._file_by_function.get(function, "") if function is not None else ""

    def _is_own(self, file: str) -> bool:
        return any(is_in_folder(file, str(folder)) for folder in self._folders) or self._is_written(_plain(file))

    def _is_written(self, path: str) -> bool:
        """Whether the candidate made or changed this file; the event of an attempt is raised before it fails."""
        if path not in self._opened:
            return False
        before = self._opened[path]
        return before is None or before != _state_of(path)

    def _note(self, kernel: Any) -> None:
        """Record the kernel's function; a kernel that was not made from a Python function has no owner."""
        function, source = getattr(kernel, "function", None), getattr(kernel, "src", None)
        if isinstance(function, int) and isinstance(source, ASTSource):
            code = getattr(getattr(source.fn, "fn", None), "__code__", None)
            self._file_by_function[function] = getattr(code, "co_filename", "")

    def _on_event(self, event: str, args: tuple[Any, ...]) -> None:
        """Record a file that was opened for writing, or the new name of such a file."""
        if event == "open":
            path, mode, flags = args
            if (isinstance(mode, str) and set("wax+") & set(mode)) or (isinstance(flags, int) and flags & _WRITES):
                self._note_opened(path)
        elif event == "os.rename" and len(args) >= 2:
            source, target = args[:2]
            if _is_path(source) and _is_path(target) and self._is_written(_plain(source)):
                self._note_opened(target)

    def _note_opened(self, path: object) -> None:
        if _is_path(path) and len(self._opened) < _MOST_OPENED and self._is_by_the_candidate(sys._getframe(2)):
            plain = _plain(path)
            self._opened.setdefault(plain, _state_of(plain))

    def _is_by_the_candidate(self, frame: FrameType | None) -> bool:
        """Whether a line of the candidate did this, with nothing but the standard library in between."""
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return False
            file = frame.f_code.co_filename
            if not is_standard(file) and not file.startswith("<frozen"):
                return self._is_own(file)
            frame = frame.f_back
        return False


def _is_path(path: object) -> bool:
    return isinstance(path, str | bytes | os.PathLike)


def _state_of(path: str) -> _FileState | None:
    """The state of a file; None if there is none that can be read."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns


def _plain(path: Any) -> str:
    """The canonical spelling of a path."""
    return os.path.realpath(os.fsdecode(path))
