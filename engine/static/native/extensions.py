"""The calls of a file that compile CUDA or C++, with their texts as far as the syntax tree shows them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from engine.model.native import Extension, ExtensionKind, NativeLanguage, NativeText
from engine.static.analysis import Reading
from engine.static.native.literals import PlacedText, placed

_BUILDERS = {
    "torch.utils.cpp_extension.load_inline": ExtensionKind.INLINE,
    "torch.utils.cpp_extension.load": ExtensionKind.FILES,
    "torch.cuda._compile_kernel": ExtensionKind.NVRTC,
    "torch.cuda._utils._nvrtc_compile": ExtensionKind.NVRTC,
    "cupy.RawKernel": ExtensionKind.NVRTC,
    "cupy.RawModule": ExtensionKind.NVRTC,
}
_INLINE = ("name", "cpp_sources", "cuda_sources")  # those after it have no order that all versions of torch share
_SIGNATURES = {
    ExtensionKind.INLINE: _INLINE,
    ExtensionKind.FILES: ("name", "sources"),
    ExtensionKind.NVRTC: ("kernel_source", "kernel_name"),
}
_LANGUAGES = {
    "cpp_sources": NativeLanguage.CPP,
    "cuda_sources": NativeLanguage.CUDA,
    "kernel_source": NativeLanguage.CUDA,
    "code": NativeLanguage.CUDA,
}
_UNNAMED = "extension"
_HINTS = ("cpp_extension", "_compile_kernel", "_nvrtc_compile", "RawKernel", "RawModule")


def may_compile(text: str) -> bool:
    """Whether a file mentions anything that compiles native code, as a quick test."""
    return any(hint in text for hint in _HINTS)


def extensions_of(reading: Reading) -> tuple[Extension, ...]:
    """Every call in the host code that compiles native code, in the order of the lines."""
    found = [_extension(reading, node, name) for node, name in reading.mentions(*_BUILDERS)]
    return tuple(sorted(found, key=lambda extension: extension.line))


def _extension(reading: Reading, node: ast.expr, builder: str) -> Extension:
    kind = _BUILDERS[builder]
    function = builder.rpartition(".")[2]
    if not isinstance(node, ast.Call):
        unseen = f"{function} is passed on as a value, and its arguments cannot be seen"
        return Extension(kind=kind, name=_UNNAMED, line=node.lineno, unknown=(unseen,))
    arguments, unknown = _arguments(node, kind)
    texts: list[NativeText] = []
    for argument, language in _LANGUAGES.items():
        value = arguments.get(argument)
        if value is not None:
            found, missing = _texts(reading, value, argument, language)
            texts += found
            unknown += missing
    if kind is ExtensionKind.FILES:
        unknown.append(f"the sources of {function} are files, and only this file is read")
    elif not texts and not unknown:
        unknown.append(f"{function} has no source text that can be seen")
    return Extension(
        kind=kind,
        name=reading.names.text(arguments.get("name") or arguments.get("kernel_name")) or _UNNAMED,
        line=node.lineno,
        texts=tuple(texts),
        functions=tuple(_functions(reading, arguments.get("functions"))),
        unknown=tuple(unknown),
    )


def _arguments(call: ast.Call, kind: ExtensionKind) -> tuple[dict[str, ast.expr], list[str]]:
    names = _SIGNATURES[kind]
    given = dict(zip(names, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    unknown: list[str] = []
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    ):
        unknown.append("some arguments are unpacked from a value that cannot be seen")
    return given, unknown


def _texts(
    reading: Reading, value: ast.expr, argument: str, language: NativeLanguage
) -> tuple[list[NativeText], list[str]]:
    """The texts of one argument, and its unknown parts."""
    resolved = reading.names.only_value(value) if isinstance(value, ast.Name) else None
    sequence = resolved if isinstance(resolved, ast.List | ast.Tuple) else value
    items = sequence.elts if isinstance(sequence, ast.List | ast.Tuple) else [value]
    if isinstance(value, ast.Constant) and value.value is None:
        return [], []
    texts: list[NativeText] = []
    unknown: list[str] = []
    for number, item in enumerate(items):
        label = f"{argument}[{number}]"
        found = placed(item, reading)
        if found is None:
            unknown.append(f"{label} is computed when the file is loaded")
            continue
        if not found.is_whole:
            unknown.append(f"parts of {label} are computed when the file is loaded")
        texts.append(_native_text(label, language, found))
    return texts, unknown


def _native_text(label: str, language: NativeLanguage, found: PlacedText) -> NativeText:
    return NativeText(label=label, language=language, text=found.text, pieces=found.pieces)


def _functions(reading: Reading, value: ast.expr | None) -> Iterator[str]:
    """The names of `functions`: a string, a list of them, or the keys of a dictionary."""
    resolved = reading.names.only_value(value) if isinstance(value, ast.Name) else value
    match resolved:
        case ast.List() | ast.Tuple():
            items: list[ast.expr | None] = [*resolved.elts]
        case ast.Dict():
            items = [*resolved.keys]
        case _:
            items = [resolved]
    for item in items:
        name = reading.names.text(item) if item is not None else None
        if name is not None:
            yield name
