"""Which functions on the device belong to kernels of the candidate's own files.

Triton loads a kernel's binary once and gets a function of a module for it.  That function is what a
launch hands to the driver, so whoever launches something else under the same name is not taken for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triton.compiler.compiler import ASTSource, CompiledKernel

# Triton's compiler is not typed: what passes through is Any throughout this file.


class OwnKernels:
    """Notes every binary that Triton loads in this process from now on; to be made before there is a candidate."""

    def __init__(self) -> None:
        self._file_by_function: dict[int, str] = {}
        self._folders: tuple[Path, ...] = ()
        load = CompiledKernel._init_handles

        def noting(kernel: Any) -> None:
            load(kernel)
            self._note(kernel)

        CompiledKernel._init_handles = noting

    def belong_to(self, *folders: Path) -> None:
        """Files in these folders are the candidate's."""
        self._folders = folders

    def owns(self, function: int | None) -> bool:
        """Whether this function was loaded for a kernel that such a file defines."""
        file = self._file_by_function.get(function) if function is not None else None
        return file is not None and any(Path(file).is_relative_to(folder) for folder in self._folders)

    def file_of(self, function: int | None) -> str:
        """The file that defines the kernel which this function was loaded for; "" when there is none."""
        return self._file_by_function.get(function, "") if function is not None else ""

    def _note(self, kernel: Any) -> None:
        """A kernel that was not made from a Python function is nobody's own."""
        function, source = getattr(kernel, "function", None), getattr(kernel, "src", None)
        if isinstance(function, int) and isinstance(source, ASTSource):
            code = getattr(getattr(source.fn, "fn", None), "__code__", None)
            self._file_by_function[function] = getattr(code, "co_filename", "")
