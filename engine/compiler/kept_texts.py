"""Texts of kernels that this process has lowered, so that its compile of the same launch need not lower them again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from triton.compiler import ASTSource

from engine.loading.frontend.lowering import LoweredText

_MOST_TEXTS = 8
_MOST_CHARACTERS = 1 << 20

# Triton's targets, options and kernels are not typed: they are Any throughout this file.


class KeptTexts:
    """The texts of the last kernels that were lowered, by all that they depend on and by the digest of the TTIR."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], LoweredText] = OrderedDict()

    def keep(self, source: ASTSource, target: Any, options: Any, text: LoweredText, *, digest: str) -> None:
        """Keep the texts of a kernel, unless they are very long; `digest` is that of its TTIR without folders."""
        if len(text.made) + len(text.ttir) > _MOST_CHARACTERS:
            return
        self._kept[(digest, *_key(source, target, options))] = text
        while len(self._kept) > _MOST_TEXTS:
            self._kept.popitem(last=False)

    def find(self, source: ASTSource, target: Any, options: Any, *, digest: str) -> LoweredText | None:
        """The texts of a kernel with this digest; None if it is not among the last ones."""
        return self._kept.get((digest, *_key(source, target, options)))


def _key(source: ASTSource, target: Any, options: Any) -> tuple[object, ...]:
    """All that the text of a kernel depends on; Triton's own descriptions have empty lists of attributes, too."""
    constants = sorted((path, _plain(value)) for path, value in source.constants.items())
    attributes = sorted((path, repr(listed)) for path, listed in source.attrs.items() if listed)
    signature = sorted((name, repr(types)) for name, types in source.signature.items())
    return source.fn, repr(target), repr(options), tuple(signature), tuple(constants), tuple(attributes)


def _plain(value: Any) -> str:
    """A constant as text, kernels by their identity."""
    value = getattr(value, "value", value)  # a tl.constexpr
    return f"kernel {id(value)}" if hasattr(value, "cache_key") else repr(value)
