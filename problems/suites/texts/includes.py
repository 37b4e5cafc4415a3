"""C++ files of one candidate, with their own headers inserted in place of the include lines.

A preprocessor does the same with `#include`, so the meaning is unchanged. A header is searched in the folder of the
including file, then in the common folder. Includes of other headers are unchanged.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from problems.suites.files import SuiteFileError

# Comments and strings are matched first, so that an include within one is not expanded.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)\""
    r"|^[ \t]*#[ \t]*include[ \t]*[\"<](?P<path>[^\">\n]+)[\">][^\n]*"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL | re.MULTILINE,
)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.MULTILINE)
_GUARD = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\s*^[ \t]*#[ \t]*define[ \t]+\1\b", re.MULTILINE)
_MOST_CHARACTERS = 1 << 20


def included(path: str, files: Mapping[str, str], *, shown: str) -> str:
    """The text of a file with all headers from `files` inserted; errors begin with `shown`.

    Raises:
        SuiteFileError: a header without a guard includes itself, or the text becomes too large.
    """
    return _Expansion(files=files, shown=shown).text_of(path)


@dataclass(kw_only=True)
class _Expansion:
    """State of the expansion of one unit: the files that are open, and those that are inserted once only."""

    files: Mapping[str, str]
    shown: str
    _open: list[str] = field(default_factory=list)
    _once: set[str] = field(default_factory=set)
    _characters: int = 0

    def text_of(self, path: str) -> str:
        """The text of a file; "" for a repeated inclusion that its `#pragma once` or its guard makes empty."""
        text = self.files[path].replace("\r\n", "\n")
        if path in self._once or (path in self._open and _GUARD.search(text)):
            return ""
        if path in self._open:
            raise SuiteFileError(f"{self.shown}: {path} includes itself: {' -> '.join([*self._open, path])}")
        self._characters += len(text)
        if self._characters > _MOST_CHARACTERS:
            raise SuiteFileError(f"{self.shown}: more than {_MOST_CHARACTERS:,} characters with all its headers")
        if self._open and _ONCE.search(text):
            self._once.add(path)
            text = _ONCE.sub("", text)
        self._open.append(path)
        expanded = _TOKEN.sub(self._in_place_of, text)
        self._open.pop()
        return expanded

    def _in_place_of(self, token: re.Match[str]) -> str:
        named = token["path"]
        if named is None:
            return token[0]
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(self._open[-1]), named))
        found = next((path for path in (beside, posixpath.normpath(named)) if path in self.files), None)
        return token[0] if found is None else self.text_of(found)
