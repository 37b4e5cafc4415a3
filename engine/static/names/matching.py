"""A row of the table of names, and the search for its names.

A regular expression here matches the whole of a name.  `unless` recognises the ordinary use that is excluded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.model import Finding, Severity
from engine.static.analysis import Reading
from engine.static.findings import finding_at

Match = tuple[ast.AST, str]
Unless = Callable[[Reading, ast.AST, str], bool]


def _never(reading: Reading, node: ast.AST, name: str) -> bool:
    return False


@dataclass(frozen=True)
class Pattern:
    """A pattern to look for, and the sentence of its findings, in which {name} is the match."""

    matches: Callable[[Reading], Iterator[Match]]
    sentence: str
    unless: Unless


@dataclass(frozen=True, kw_only=True)
class NameCheck:
    """One row of the table; `strict` is "" if no published rule forbids it, and `unless` is about the whole file."""

    name: str
    why: str
    strict: str
    patterns: tuple[Pattern, ...]
    catches: tuple[str, ...]
    spares: tuple[str, ...]
    severity: Severity = Severity.HINT
    unless: Callable[[Reading], bool] | None = None

    def find(self, reading: Reading) -> Iterator[Finding]:
        """A finding for each match of each pattern, without ordinary uses."""
        if self.unless is not None and self.unless(reading):
            return
        for pattern in self.patterns:
            for node, name in pattern.matches(reading):
                if not pattern.unless(reading, node, name):
                    message = pattern.sentence.format(name=name.removeprefix("builtins."))
                    yield finding_at(node, check=self.name, severity=self.severity, message=message)


def names(wanted: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Dotted names that are called or passed on, under any alias; `socket.` matches everything in a module."""
    return Pattern(lambda reading: reading.mentions(*wanted.split()), sentence, unless)


def endings(ending: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Uses whose dotted name has this ending: methods of objects of known origin."""

    def matches(reading: Reading) -> Iterator[Match]:
        for node, spelled in reading.uses:
            found = [name for name in sorted(spelled) if name.endswith(ending) and not unless(reading, node, name)]
            yield from ((node, name) for name in found[:1])

    return Pattern(matches, sentence, unless)


def attributes(regex: str, sentence: str, *, owner: str = "", stored: bool = False, unless: Unless = _never) -> Pattern:
    """Attributes of any object, or of one whose dotted name begins with `owner`; with `stored` only assigned ones."""

    def matches(reading: Reading) -> Iterator[Match]:
        for node in reading.host(ast.Attribute):
            if (stored and not isinstance(node.ctx, ast.Store)) or not re.fullmatch(regex, node.attr):
                continue
            if not owner or any(name.startswith(owner) for name in reading.names.of(node.value)):
                yield node, node.attr

    return Pattern(matches, sentence, unless)


def strings(regex: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """String constants except docstrings."""

    def matches(reading: Reading) -> Iterator[Match]:
        documentation = set(reading.docstrings())
        for node in reading.host(ast.Constant):
            if isinstance(node.value, str) and node not in documentation and re.fullmatch(regex, node.value, re.DOTALL):
                yield node, node.value

    return Pattern(matches, sentence, unless)


def keywords(regex: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Names of keyword arguments."""

    def matches(reading: Reading) -> Iterator[Match]:
        found = (node for node in reading.host(ast.keyword) if node.arg is not None)
        return ((node.value, node.arg or "") for node in found if re.fullmatch(regex, node.arg or ""))

    return Pattern(matches, sentence, unless)


def items(name: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Subscripts with a dotted name, such as sys.modules["__main__"]."""

    def matches(reading: Reading) -> Iterator[Match]:
        return ((node, name) for node in reading.host(ast.Subscript) if name in reading.names.of(node))

    return Pattern(matches, sentence, unless)


def functions(regex: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Names of defined functions and methods."""

    def matches(reading: Reading) -> Iterator[Match]:
        return ((node, node.name) for node in reading.host(ast.FunctionDef) if re.fullmatch(regex, node.name))

    return Pattern(matches, sentence, unless)


def bases(name: str, sentence: str, *, unless: Unless = _never) -> Pattern:
    """Classes with this base class."""

    def matches(reading: Reading) -> Iterator[Match]:
        for node in reading.host(ast.ClassDef):
            if any(name in reading.names.of(base) for base in node.bases):
                yield node, name

    return Pattern(matches, sentence, unless)
