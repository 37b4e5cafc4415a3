"""CUDA C++ as far as it can be read without a compiler: comments blanked out, and the kernels that it defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTED = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.){1,8}'", re.DOTALL)
_KERNEL = re.compile(r"\b__global__\b(.*?)(\w+)\s*\(", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)|__attribute__\s*\(\(.*?\)\)|alignas\([^)]*\)"
)
_EXTERN_C = re.compile(r"extern\s+\"C\"\s*(?:\{|[^;{]{0,80}$)")
_NAMESPACE = re.compile(r"\bnamespace\s+(\w+)")


@dataclass(frozen=True, kw_only=True)
class DefinedKernel:
    """A `__global__` function: its name, whether it keeps that name as a symbol, and its offset in the text."""

    name: str
    is_extern_c: bool
    offset: int


def without_comments(text: str, *, strings: bool = False) -> str:
    """The text with comments, and `strings` if set, replaced by spaces, so that every offset is unchanged."""

    def blank(found: re.Match[str]) -> str:
        quoted = found.group()
        if not quoted.startswith(("//", "/*")) and not strings:
            return quoted
        return re.sub(r"[^\n]", " ", quoted)

    return _QUOTED.sub(blank, text)


def kernels_of(text: str) -> Iterator[DefinedKernel]:
    """The kernels that a text defines or declares, each name once."""
    code = _ATTRIBUTE.sub(lambda found: " " * len(found.group()), without_comments(text))
    seen: set[str] = set()
    for found in _KERNEL.finditer(code):
        name, offset = found.group(2), found.start(2)
        if name in seen or "\n\n" in found.group(1).strip() or ";" in found.group(1):
            continue
        seen.add(name)
        before = code[max(0, found.start() - 200) : found.start()]
        yield DefinedKernel(name=name, is_extern_c=bool(_EXTERN_C.search(before)), offset=offset)


def namespaces_of(text: str) -> frozenset[str]:
    """The names of the namespaces that a text opens."""
    return frozenset(_NAMESPACE.findall(without_comments(text, strings=True)))


def is_launched(name: str, text: str) -> bool:
    """Whether a text mentions a kernel other than to declare it: launched by <<<>>>, or passed on by its name."""
    code = without_comments(text, strings=True)
    for found in re.finditer(rf"\b{re.escape(name)}\b", code):
        before = code[max(0, found.start() - 200) : found.start()]
        declared = before.rpartition("__global__")
        is_declaration = bool(declared[1]) and not re.search(r"[;{}]", declared[2])
        if not is_declaration:
            return True
    return False
