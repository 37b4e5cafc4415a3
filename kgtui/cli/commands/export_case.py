"""`kgtui export-case`: a failed case of a kept run as a script that needs torch and Triton alone.

Only reads the store, and never overwrites a file.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

import problems
from engine.errors import UsageError
from engine.model import CaseResult, Outcome
from engine.model.events import CaseFinished, Event
from engine.reports.text import printable
from kgtui.cli.choices import absolute
from kgtui.cli.console import Console, Exit
from kgtui.files.new_file import write_new
from kgtui.settings.paths import find_paths
from kgtui.standalone.script import FailedCase, script_name, standalone_script
from sessions import open_store

_MOST_NAMED = 6


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the script and say how to run it.

    Raises:
        UsageError: there is no such run or failed case, or the file is there or cannot be made.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        kept = store.run(options.run)
        failed = FailedCase(
            problem=problems.find(kept.problem),
            result=_failed_case(store.events(kept.id), options.case, run=kept.id),
            source=store.source(kept.digest),
            filename=printable(kept.path.name) if kept.path else "kernel.py",
            device=kept.device,
        )
    shown = options.file or script_name(failed.filename, failed.result.case)
    path = absolute(shown, console.folder)
    write_new(path, standalone_script(failed, name=path.name), shown=shown)
    console.say(f"wrote {shown}: {failed.result.case} of run #{kept.id}")
    console.say(f"next: python {os.path.relpath(path, console.folder)}")
    return Exit.PASSED


def _failed_case(events: Iterable[Event], name: str | None, *, run: int) -> CaseResult:
    """The failed case of that name; the first that failed where none is named."""
    results = [event.result for event in events if isinstance(event, CaseFinished)]
    failed = [result for result in results if result.outcome is not Outcome.PASS]
    if not failed:
        raise UsageError(f"no case of run #{run} failed; there is nothing to reproduce")
    if name is None:
        return failed[0]
    for result in failed:
        if result.case == name:
            return result
    known = ", ".join(repr(result.case) for result in failed[:_MOST_NAMED])
    more = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
    raise UsageError(f"no case {printable(name)!r} failed in run #{run}; those that did: {known}{more}")
