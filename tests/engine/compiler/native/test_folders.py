"""Folders of compilers that are installed anywhere, from what a compiler that is played here prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine import protocol
from engine.compiler.native.folders import toolchain_folders
from engine.compiler.native.tools import Completed

SAID = """\
ignoring nonexistent directory "{root}/none"
#include "..." search starts here:
 {root}/own
#include <...> search starts here:
 {root}/lib/gcc/13/include
 {root}/missing
End of search list.
COMPILER_PATH={root}/libexec/:{root}/libexec/
LIBRARY_PATH={root}/lib/gcc/13/../:/usr/../:
"""


def command_for(*, cxx: str = "", nvcc: str = "") -> protocol.BuildExtension:
    request = protocol.ExtensionRequest(name="mine", sources=(), functions={}, with_cuda=bool(nvcc))
    return protocol.BuildExtension(id="i", request=request, target="sm_90", folder="/room", cxx=cxx, nvcc=nvcc)


def test_folders_are_those_that_the_compiler_names(tmp_path: Path) -> None:
    for name in ("own", "lib/gcc/13/include", "libexec"):
        (tmp_path / name).mkdir(parents=True)

    def run(command: Sequence[str], folder: Path) -> Completed:
        assert (command, folder) == (("g++", "-E", "-v", "-x", "c++", "/dev/null"), Path("/"))
        return Completed(status=0, output=SAID.format(root=tmp_path))

    assert toolchain_folders(command_for(cxx="g++"), run=run) == tuple(
        str(tmp_path / name) for name in ("own", "lib/gcc/13/include", "libexec", "lib/gcc")
    )


def test_cuda_toolkit_is_the_folder_above_nvcc(tmp_path: Path) -> None:
    (tmp_path / "toolkit" / "bin").mkdir(parents=True)
    (tmp_path / "toolkit" / "nvvm").mkdir()
    (tmp_path / "nvcc").symlink_to(tmp_path / "toolkit" / "bin" / "nvcc")
    assert toolchain_folders(command_for(nvcc=str(tmp_path / "nvcc"))) == (str(tmp_path / "toolkit"),)


def test_folder_of_script_named_nvcc_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "home" / "bin").mkdir(parents=True)
    (tmp_path / "home" / "bin" / "nvcc").touch()
    assert toolchain_folders(command_for(nvcc=str(tmp_path / "home" / "bin" / "nvcc"))) == ()


def test_compiler_that_does_not_start_names_no_folders(tmp_path: Path) -> None:
    assert toolchain_folders(command_for(cxx=str(tmp_path / "none"))) == ()
