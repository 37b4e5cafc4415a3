"""The terminal, by its environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MULTIPLEXERS = {"tmux": "TMUX", "screen": "STY", "ssh": "SSH_CONNECTION"}


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """Properties of the terminal; the size is None if there is no terminal."""

    is_terminal: bool
    term: str | None
    colours: str
    encoding: str
    columns: int | None
    rows: int | None
    inside: tuple[str, ...]


def terminal_of(environment: Mapping[str, str], *, encoding: str, size: tuple[int, int] | None) -> Terminal:
    """The terminal of these columns and rows; a size of None without a terminal."""
    return Terminal(
        is_terminal=size is not None,
        term=environment.get("TERM"),
        colours=_colours(environment),
        encoding=encoding,
        columns=size[0] if size else None,
        rows=size[1] if size else None,
        inside=tuple(name for name, variable in _MULTIPLEXERS.items() if environment.get(variable)),
    )


def _colours(environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "none (NO_COLOR is set)"
    if environment.get("COLORTERM") in ("truecolor", "24bit"):
        return "16 million"
    return "256" if "256" in environment.get("TERM", "") else "16"
