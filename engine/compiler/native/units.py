"""The files that the compilers get: a candidate's texts with the code that torch adds.

Every text begins with a #line directive that names it, so that the compilers count its own lines, in messages and in
the line table of the machine code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.model.native import NativeLanguage
from engine.protocol import ExtensionRequest, NativeSource

_HEADERS = {
    NativeLanguage.CPP: ("torch/extension.h",),
    NativeLanguage.CUDA: ("torch/types.h", "cuda.h", "cuda_runtime.h"),
}
_SUFFIXES = {NativeLanguage.CPP: "cpp", NativeLanguage.CUDA: "cu"}


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One file to compile: its name without a folder, its language and its content."""

    filename: str
    language: NativeLanguage
    text: str


def units_of(request: ExtensionRequest) -> Iterator[Unit]:
    """The files of an extension, as `load_inline` or `load` would compile them."""
    if not request.joined:
        for number, source in enumerate(request.sources):
            filename = f"unit{number}.{_SUFFIXES[source.language]}"
            yield Unit(filename=filename, language=source.language, text=_marked(source))
        return
    for language in NativeLanguage:
        sources = [source for source in request.sources if source.language is language]
        is_cpp = language is NativeLanguage.CPP
        if sources or is_cpp:
            headers = _HEADERS[language] if request.has_headers else ()
            text = "".join(f"#include <{header}>\n" for header in headers) + "".join(map(_marked, sources))
            filename = f"main.{_SUFFIXES[language]}"
            yield Unit(filename=filename, language=language, text=text + (_bindings(request) if is_cpp else ""))


def _marked(source: NativeSource) -> str:
    return f'#line 1 "{source.label}"\n{source.text}\n'


def _bindings(request: ExtensionRequest) -> str:
    """The module with its functions, as torch writes it; nothing if the texts define it themselves."""
    if request.functions is None:
        return ""
    lines = ['#line 1 "bindings"', "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"]
    for name, documentation in request.functions.items():
        function = f"torch::wrap_pybind_function({name})" if request.handles_errors else name
        lines.append(f'm.def("{name}", {function}, R"kgtui({documentation})kgtui");')
    return "\n".join([*lines, "}\n"])
