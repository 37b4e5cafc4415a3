"""`kgtui sessions`: what was judged, and what came of it.

Changes nothing but what is asked for by its number: a tag, a note, a restored source, a deleted run; and the room
that deleted runs leave in the file.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from engine.errors import UsageError
from engine.reports.text import CollectedRun, as_plain, printable
from kgtui.cli.choices import absolute
from kgtui.cli.console import Console, Exit
from kgtui.cli.marking import compact, mark, restore
from kgtui.files.new_file import write_new
from kgtui.settings.paths import find_paths
from kgtui.state.history.run_filter import read_filter
from sessions import Reader, RunRow, SessionRow, open_store
from sessions.export import as_csv, as_json, as_jsonl, as_markdown

_LISTED = 20
_OPTIONS = {
    "runs": "list",
    "find": "list",
    "limit": "list",
    "run": "export",
    "format": "export",
    "output": "export",
    "session": "delete",
    "yes": "delete",
}
_CHANGES = ("tag", "note", "delete")
_TAKES_TEXT = ("tag", "note", "restore")


def run(options: argparse.Namespace, console: Console) -> int:
    """List, show, export, restore; or change a run.

    Raises:
        UsageError: what was asked for is not there, or an option belongs to another action.
        StoreError: there is no store, or it cannot be read or written.
    """
    _refuse_misplaced(options)
    paths = find_paths(console.environment)
    if options.action == "compact":
        compact(console, paths=paths)
        return Exit.PASSED
    if options.action in _CHANGES:
        mark(options, console, paths=paths)
        return Exit.PASSED
    with open_store(paths.sessions, read_only=True) as store:
        match options.action:
            case "restore":
                restore(options, console, store=store)
            case "show":
                console.say(_shown(store, options.number))
            case "export":
                _export(store, options, console)
            case _:
                if options.number is not None:
                    raise UsageError("a list takes no number; `kgtui sessions show RUN` shows a run")
                limit = options.limit or _LISTED
                found = options.runs or options.find is not None
                console.say(_runs(store, limit, options.find or "") if found else _sessions(store, limit))
    return Exit.PASSED


def _refuse_misplaced(options: argparse.Namespace) -> None:
    """An option that would do nothing is refused, lest its user take the answer for what was asked."""
    action = options.action or "list"
    for name, meant in _OPTIONS.items():
        if getattr(options, name) and action != meant:
            raise UsageError(f"--{name} is an option of `kgtui sessions {meant}`, not of `kgtui sessions {action}`")
    if options.text is not None and action not in _TAKES_TEXT:
        raise UsageError(f"`kgtui sessions {action}` does not take {options.text!r}; leave it out")
    if action == "tag" and options.text and len(options.text.split()) != 1:
        raise UsageError(f"a tag is one word, {options.text!r} is not; `kgtui sessions note` takes many")
    if action == "compact" and options.number is not None:
        raise UsageError("`kgtui sessions compact` takes no number: it makes the whole file shorter")
    if options.session is not None and options.number is not None:
        raise UsageError("delete either a run or, with --session, a session; not both")


def _sessions(store: Reader, limit: int) -> str:
    rows = [
        (
            f"{row.id}",
            f"{row.started_at:%Y-%m-%d %H:%M}",
            printable(row.label),
            f"{row.runs}",
            f"{row.passed}",
            f"{row.flagged}",
        )
        for row in store.sessions(limit=limit)
    ]
    return _aligned(("session", "started (UTC)", "what", "runs", "passed", "flagged"), rows)


def _runs(store: Reader, limit: int, typed: str) -> str:
    rows = [
        (
            f"#{row.id}",
            f"{row.started_at:%Y-%m-%d %H:%M}",
            row.problem,
            _state(row),
            f"{row.passed}/{row.total}",
            _file(row),
            printable(row.tag or ""),
            printable(row.note or ""),
        )
        for row in store.runs(read_filter(typed), limit=limit)
    ]
    header = ("run", "started (UTC)", "operator", "state", "cases", "file", "tag", "note")
    marked = max((place for row in rows for place in (6, 7) if row[place]), default=5)
    return _aligned(header[: marked + 1], [row[: marked + 1] for row in rows])


def _state(row: RunRow) -> str:
    if row.flagged:
        return "flagged"
    return row.outcome or row.state


def _file(row: RunRow) -> str:
    return printable(os.fsdecode(row.path)) if row.path else "-"


def _aligned(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Columns as wide as their widest cell; the last is not padded."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in (header, *rows)
    )


def _shown(store: Reader, number: int | None) -> str:
    """A run as `kgtui check` printed it, or would have."""
    run = store.run(number) if number is not None else _newest_run(store)
    events = tuple(store.events(run.id))
    return as_plain(CollectedRun(file=_file(run), events=events, number=run.id)).removesuffix("\n")


def _export(store: Reader, options: argparse.Namespace, console: Console) -> None:
    subject = _subject(store, session=options.number, run=options.run)
    match options.format:
        case "jsonl":
            pieces = as_jsonl(store, subject)
        case "csv":
            pieces = as_csv(store, subject)
        case "markdown":
            pieces = as_markdown(store, subject)
        case _:
            pieces = as_json(store, subject)
    if options.output is None:
        console.hand_out_pieces(pieces)
        return
    write_new(absolute(options.output, console.folder), pieces, shown=options.output)
    console.say(f"wrote {options.output}")


def _subject(store: Reader, *, session: int | None, run: int | None) -> RunRow | SessionRow:
    if run is not None and session is not None:
        raise UsageError("export either a session or, with --run, a run; not both")
    if run is not None:
        return store.run(run)
    if session is not None:
        return store.session(session)
    newest = store.sessions(limit=1)
    if not newest:
        raise UsageError("the session store holds no session yet; `kgtui check --sample` makes the first")
    return newest[0]


def _newest_run(store: Reader) -> RunRow:
    newest = store.runs(limit=1)
    if not newest:
        raise UsageError("the session store holds no run yet; `kgtui check --sample` makes the first")
    return newest[0]
