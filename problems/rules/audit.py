"""`python -m problems.rules.audit SOURCE NAME`: the health of one problem as one JSON document on stdout."""

from __future__ import annotations

import sys

import msgspec

from engine.errors import EngineError
from engine.model.problems.health import Weakness
from engine.problem_source import open_source
from problems.rules.health import weaknesses


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The weaknesses of a problem of this version; `error` is the reason if it could not be audited."""

    version: str = ""
    weaknesses: tuple[Weakness, ...] = ()
    error: str = ""


def health(source_id: str, name: str) -> Health:
    """The health of the problem called `name` in the source with this id."""
    source = open_source(source_id)
    try:
        version = source.problem(name).version
        return Health(version=version, weaknesses=weaknesses(source.load(name, version=version), source.describe(name)))
    except EngineError as error:
        return Health(error=str(error))


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(health(*sys.argv[1:3])))
