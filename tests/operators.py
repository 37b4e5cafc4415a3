"""The built-in catalogue as tests take it: values for the parent's rooms, definitions for the judge's."""

from __future__ import annotations

from functools import cache

from engine.model import Problem, ProblemDefinition
from engine.problem_source import ProblemDescription
from problems.catalogue import Catalogue
from problems.index import open_index

_INDEX = open_index()
NAMES = _INDEX.names


@cache
def find(name: str) -> Problem:
    """The problem called `name`, in full or bare."""
    return _INDEX.find(name)


@cache
def described(name: str) -> ProblemDescription:
    """What the file of the problem called `name` says of it."""
    return _INDEX.describe(name)


@cache
def definition(name: str) -> ProblemDefinition:
    """The code of the problem called `name`, in full or bare."""
    return Catalogue().load(_INDEX.resolve(name))


def catalogue() -> dict[str, Problem]:
    """Every problem by its full name."""
    return {name: find(name) for name in NAMES}


def definitions() -> dict[str, ProblemDefinition]:
    """The code of every problem by its full name."""
    return {name: definition(name) for name in NAMES}
