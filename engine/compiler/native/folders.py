"""Folders of headers, libraries and programs that the compilers of this machine use, wherever they are installed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from engine.compiler.native.tools import Run, run_tool
from engine.protocol import BuildExtension

_ROOT = Path("/")
_OF_TOOLKIT = "nvvm"  # the folder of nvcc's own compiler, beside its bin
# What GCC and Clang print with -v; the paths of COMPILER_PATH and LIBRARY_PATH are GCC's alone.
_HEADERS = re.compile(r"search starts here:\n((?: .*\n)+)")
_PATHS = re.compile(r"^(?:COMPILER_PATH|LIBRARY_PATH)=(.*)$", re.MULTILINE)


def toolchain_folders(command: BuildExtension, *, run: Run = run_tool) -> tuple[str, ...]:
    """Include folders of the C++ compiler, and the folder of the CUDA toolkit; only existing ones.

    Never the root folder, which would allow reading everything.
    """
    found = [Path(folder).resolve() for folder in (*_of_cxx(command.cxx, run), *_of_nvcc(command.nvcc))]
    return tuple(dict.fromkeys(str(folder) for folder in found if folder.is_dir() and folder != _ROOT))


def _of_cxx(cxx: str, run: Run) -> Iterator[str]:
    if not cxx:
        return
    try:
        said = run((cxx, "-E", "-v", "-x", "c++", os.devnull), _ROOT).output
    except OSError:
        return  # the build reports that the compiler cannot be started
    for listed in _HEADERS.findall(said):
        yield from (line.strip() for line in listed.splitlines())
    for paths in _PATHS.findall(said):
        yield from (path for path in paths.split(os.pathsep) if path)


def _of_nvcc(nvcc: str) -> Iterator[str]:
    if nvcc:
        home = Path(nvcc).resolve().parents[1]
        if (home / _OF_TOOLKIT).is_dir():  # excludes wrapper scripts that call an nvcc elsewhere
            yield str(home)
