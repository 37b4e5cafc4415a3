"""Folders of headers, libraries and programs that the compilers of this machine use, wherever they are installed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from engine.compiler.native.tools import Run, run_tool
from engine.protocol import BuildExtension

# What GCC and Clang print with -v; the paths of COMPILER_PATH and LIBRARY_PATH are GCC's alone.
_HEADERS = re.compile(r"search starts here:\n((?: .*\n)+)")
_PATHS = re.compile(r"^(?:COMPILER_PATH|LIBRARY_PATH)=(.*)$", re.MULTILINE)


def toolchain_folders(command: BuildExtension, *, run: Run = run_tool) -> tuple[str, ...]:
    """What the C++ compiler says that it reads, and the folder of the CUDA toolkit; only folders that are there."""
    found = [*_of_cxx(command.cxx, run), *_of_nvcc(command.nvcc)]
    return tuple(dict.fromkeys(str(Path(folder).resolve()) for folder in found if Path(folder).is_dir()))


def _of_cxx(cxx: str, run: Run) -> Iterator[str]:
    if not cxx:
        return
    try:
        said = run((cxx, "-E", "-v", "-x", "c++", os.devnull), Path("/")).output
    except OSError:
        return  # the build says that it cannot be started
    for listed in _HEADERS.findall(said):
        yield from (line.strip() for line in listed.splitlines())
    for paths in _PATHS.findall(said):
        yield from (path for path in paths.split(os.pathsep) if path)


def _of_nvcc(nvcc: str) -> Iterator[str]:
    if nvcc:
        yield str(Path(nvcc).resolve().parents[1])
