"""A filter of runs in SQL: conditions whose values are always bound.

Only builds text from the constants below; user text is never part of a statement.
"""

from __future__ import annotations

from collections.abc import Mapping

from sessions.database import Value
from sessions.rows import Result, RunFilter
from sessions.values import path_value, timestamp

_CONDITIONS = {
    "session": "runs.session = :session",
    "problem": "runs.problem = :problem",
    "operator": "runs.problem like :operator escape '\\'",
    "path": "runs.path = :path",
    "file": "runs.path like :file escape '\\'",
    "device": "(runs.device like :device escape '\\' or runs.device_name like :device escape '\\')",
    "outcome": "runs.outcome = :outcome",
    "tag": "runs.tag = :tag",
    "since": "runs.started_at >= :since",
}
_RESULTS: Mapping[Result, str] = {
    Result.PASSED: "runs.outcome = 'pass' and runs.flagged = 0",
    Result.FAILED: "runs.outcome not in ('pass', 'cancelled', 'unsupported', 'problem_error', 'engine_error')",
    Result.FLAGGED: "runs.flagged = 1",
    Result.UNFINISHED: "runs.outcome is null",
}
# One after the other and not joined to one text: most rows have neither a note nor a tag, which costs nothing then.
_TEXT = """(runs.problem like :{0} escape '\\' or runs.path like :{0} escape '\\' or runs.sentence like :{0} escape '\\'
    or runs.note like :{0} escape '\\' or runs.tag like :{0} escape '\\')"""


def narrowing(wanted: RunFilter) -> tuple[list[str], dict[str, Value]]:
    """The conditions, to be joined by `and`, and their values."""
    values: dict[str, Value] = {
        "session": wanted.session,
        "problem": wanted.problem,
        "operator": _containing(wanted.operator),
        "path": path_value(wanted.path),
        "file": _containing(wanted.file),
        "device": _containing(wanted.device),
        "outcome": wanted.outcome,
        "tag": wanted.tag,
        "since": None if wanted.since is None else timestamp(wanted.since),
    }
    values = {name: value for name, value in values.items() if value is not None}
    conditions = [_CONDITIONS[name] for name in values]
    if wanted.result is not None:
        conditions.append(_RESULTS[wanted.result])
    for place, word in enumerate((wanted.text or "").split()):
        values[f"word{place}"] = _containing(word)
        conditions.append(_TEXT.format(f"word{place}"))
    return conditions, values


def where(conditions: list[str]) -> str:
    """The clause with these conditions; nothing when there is none."""
    return f" where {' and '.join(conditions)}" if conditions else ""


def _containing(letters: str | None) -> str | None:
    """The LIKE pattern for a text that contains these characters, with wildcards escaped."""
    if letters is None:
        return None
    escaped = letters.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
