"""Texts of kernels that this process has lowered, so that its compile of the same launch need not lower them again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from triton.compiler import ASTSource

from engine.loading.lowering import LoweredText, without_folders
from engine.protocol.proof.binaries import digest_of

_MOST_TEXTS = 8
_MOST_CHARACTERS = 1 << 20

# Triton's targets, options and kernels are not typed: they are Any throughout this file.


@dataclass(frozen=True, kw_only=True)
class KeptText:
    """The texts of a kernel, and the digest of its TTIR without folders."""

    text: LoweredText
    digest: str


class KeptTexts:
    """The texts of the last kernels that were lowered, by all that they depend on."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], KeptText] = OrderedDict()

    def keep(self, source: ASTSource, target: Any, options: Any, text: LoweredText) -> None:
        """Keep the texts of a kernel, unless they are very long."""
        if len(text.made) + len(text.ttir) > _MOST_CHARACTERS:
            return
        digest = digest_of(without_folders(text.ttir))
        self._kept[_key(source, target, options)] = KeptText(text=text, digest=digest)
        while len(self._kept) > _MOST_TEXTS:
            self._kept.popitem(last=False)

    def find(self, source: ASTSource, target: Any, options: Any) -> KeptText | None:
        """The texts of a kernel; None if it is not among the last ones."""
        return self._kept.get(_key(source, target, options))


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
