"""`python -m problems.rules SOURCE NAME`: the complaints about one problem as one JSON document on stdout."""

from __future__ import annotations

import sys

import msgspec

from engine.errors import EngineError
from engine.problem_source import open_source
from problems.rules.check import RULES, Complaint, complaints


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Number of applied rules, and every violation; `error` is the reason if none could be applied."""

    rules: int = len(RULES)
    complaints: tuple[Complaint, ...] = ()
    error: str = ""


def report(source_id: str, name: str) -> Report:
    """The report on the problem called `name` in the source with this id."""
    source = open_source(source_id)
    try:
        return Report(complaints=complaints(source.load(name), source.describe(name)))
    except EngineError as error:
        return Report(error=str(error))


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(report(*sys.argv[1:3])))
