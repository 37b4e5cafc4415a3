"""The JSON schemas (draft 2020-12) of the documents that kgtui writes, one file each; imports only errors."""

from __future__ import annotations

from pathlib import Path

from engine.errors import UsageError

FOLDER = Path(__file__).parent


def schema_names() -> tuple[str, ...]:
    """The names of all schemas, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def schema_text(name: str) -> str:
    """The schema of that name, as JSON.

    Raises:
        UsageError: there is none; the message lists the names.
    """
    known = schema_names()
    if name not in known:
        raise UsageError(f"no such schema: {name[:80]!r}; use one of {', '.join(known)}")
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")
