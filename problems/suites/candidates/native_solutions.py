"""Solutions in CUDA and C++ as one Python text that compiles them and is verified like any CUDA candidate.

The suite writes the sources to a folder and compiles each C++ and CUDA file there as a separate unit, for one of two
bindings (fields of a Solution, https://github.com/flashinfer-ai/flashinfer-bench): `torch`, whose sources define a
Python module, and `tvm-ffi`, whose sources export functions for the package apache-tvm-ffi.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from engine.model.native import SEPARATE_UNITS
from problems.suites.files import SuiteFileError
from problems.suites.texts.includes import included

_SUFFIXES = {"cuda_sources": (".cu",), "cpp_sources": (".cpp", ".cc", ".cxx", ".c")}
_TORCH = re.compile(r"\b(?:PYBIND11_MODULE|TORCH_EXTENSION_NAME)\b")
_PARTS = {
    "torch": ("from torch.utils.cpp_extension import load_inline\n", "", "_extension = load_inline({arguments})\n"),
    "tvm-ffi": (
        "import tvm_ffi\nfrom torch.utils.cpp_extension import load_inline\n",
        "    extra_include_paths=[tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path()],\n"
        "    extra_ldflags=[tvm_ffi.libinfo.find_libtvm_ffi()],\n"
        "    is_python_module=False,\n",
        "_extension = tvm_ffi.load_module(load_inline({arguments}))\n",
    ),
}


def compiling(sources: Mapping[str, str], *, entry: str, binding: str | None, with_cuda: bool, shown: str) -> str:
    """A Python text that compiles the sources and binds `_extension`, whose attribute is the function of `entry`.

    Raises:
        SuiteFileError: the entry is not in the sources, or the binding is unknown; the message begins with `shown`.
    """
    file, _, function = entry.partition("::")
    paths = {one: [path for path in sources if PurePosixPath(path).suffix in _SUFFIXES[one]] for one in _SUFFIXES}
    texts = {one: [included(path, sources, shown=shown) for path in found] for one, found in paths.items()}
    every = [text for found in texts.values() for text in found]
    if not any(file in found for found in paths.values()):
        raise SuiteFileError(f"{shown}: its entry_point is in {file}, which is not a CUDA or C++ file")
    if not any(re.search(rf"\b{re.escape(function)}\b", text) for text in every):
        raise SuiteFileError(f"{shown}: its entry_point {function} is not in its sources")
    if binding not in (None, *_PARTS):
        raise SuiteFileError(f"{shown}: its binding is {binding!r}; known bindings: {', '.join(_PARTS)}")
    head, extra, made = _PARTS[_binding(binding, every)]
    names = {one: _constants(one, len(found)) for one, found in texts.items()}
    constants = "".join(
        f"{name} = {_literal(text)}\n" for one in texts for name, text in zip(names[one], texts[one], strict=True)
    )
    given = [f"{one}={_expression(names[one])}" for one in reversed(_SUFFIXES)]
    given += ['name="solution"', "no_implicit_headers=True", f"with_cuda={with_cuda}"]
    if any(len(found) > 1 for found in texts.values()):
        given.append(f"{SEPARATE_UNITS}=True")
    arguments = "\n" + "".join(f"    {one},\n" for one in given) + extra
    return f"{head}\n{constants}\n{made.format(arguments=arguments)}"


def _constants(argument: str, count: int) -> list[str]:
    """Names of the constants that hold the texts of an argument: CUDA_SOURCES, or CUDA_SOURCES_0, ... for several."""
    name = argument.upper()
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]


def _expression(names: list[str]) -> str:
    """An argument of load_inline: the constant, or a list of several constants or none."""
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _binding(stated: str | None, texts: Iterable[str]) -> str:
    """The binding stated in a Solution, else the one that its texts define; tvm-ffi is the suite's default."""
    return stated or ("torch" if any(map(_TORCH.search, texts)) else "tvm-ffi")


def _literal(text: str) -> str:
    """A Python string literal of a text, with the same line breaks if possible."""
    is_raw = '"""' not in text and not text.endswith(("\\", '"')) and "\r" not in text and "\0" not in text
    return f'r"""{text}"""' if is_raw else repr(text)
