"""Functions that the commands on saved runs share: a run by its number, and its file as text."""

from __future__ import annotations

import os

from engine.errors import UsageError
from engine.reports.printable import printable
from sessions import Reader, RunRow


def file_of(row: RunRow) -> str:
    """The path of the kernel file of a run; "-" if unknown."""
    return printable(os.fsdecode(row.path)) if row.path else "-"


def named_run(store: Reader, number: int | None, command: str) -> RunRow:
    """The run of that number, for `kgtui sessions COMMAND`.

    Raises:
        UsageError: no number was given, or there is no such run.
    """
    if number is None:
        raise UsageError(f"which run? `kgtui sessions {command} RUN`; `kgtui sessions list --runs` lists them")
    return store.run(number)
