"""Whether a symbol on the device is a kernel that the candidate's own CUDA source defines, by its name alone.

Names are mangled by the Itanium C++ ABI (5.1): `_Z`, then each part as its length and itself.  A kernel can be given
any name, even a library's; so this distinguishes honest kernels only, and the report adds "by name".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_START = re.compile(r"_Z(N?)(?:K|V)*L?")
_LENGTH = re.compile(r"L?(\d+)")
_UNNAMED = ("_GLOBAL_", "_INTERNAL_")
"""Prefixes that compilers give to unnamed namespaces and to static kernels."""


@dataclass(frozen=True, kw_only=True)
class NativeKernels:
    """The kernels that the texts of a candidate define: `plain` ones are extern "C", so that a symbol is the name."""

    names: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def __or__(self, other: NativeKernels) -> NativeKernels:
        """Union of both."""
        return NativeKernels(
            names=self.names | other.names,
            plain=self.plain | other.plain,
            namespaces=self.namespaces | other.namespaces,
        )

    def name_of(self, symbol: str) -> str | None:
        """The kernel's name in the text; None if no text defines it."""
        if symbol in self.plain:
            return symbol
        parts = parts_of(symbol)
        if not parts or parts[-1] not in self.names:
            return None
        outer = (part for part in parts[:-1] if not part.startswith(_UNNAMED))
        return parts[-1] if self.namespaces.issuperset(outer) else None


def parts_of(symbol: str) -> tuple[str, ...]:
    """The namespaces and the name in a mangled symbol, up to the arguments of a template; () for other symbols."""
    start = _START.match(symbol)
    if start is None:
        return ()
    parts: list[str] = []
    index = start.end()
    while (length := _LENGTH.match(symbol, index)) is not None and (start.group(1) or not parts):
        index = length.end() + int(length.group(1))
        parts.append(symbol[length.end() : index])
    return tuple(parts) if index <= len(symbol) else ()
