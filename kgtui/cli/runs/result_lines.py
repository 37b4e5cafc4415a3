"""State changes of a run and pages of an inspection on a console, with the colours of what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from engine.inspection.page import Mark
from engine.model import Outcome, Severity
from engine.reports.plain_lines import PlainLine
from engine.reports.text import LOG
from engine.reports.verdict_words import FLAGGED
from kgtui.cli.console import Console, Style

if TYPE_CHECKING:
    from engine.inspection.text import PageLine

_STYLES = {Mark.GOOD: Style.GREEN, Mark.DOUBT: Style.YELLOW, Mark.BAD: Style.RED}
_DOUBTS = frozenset({FLAGGED, Outcome.UNSUPPORTED, Outcome.CANCELLED, Outcome.REFUSED, *Severity})


def show_line(console: Console, line: PlainLine, *, plain: bool, aside: bool = False) -> None:
    """Print a state change; a candidate's own output, and everything `aside`, is written to the error stream."""
    is_log = line.label == LOG
    style = Style.NONE if is_log else _style_of(line.state)
    console.write_line(str(line), aside=aside or is_log, styled=str(line.state), style=style, plain=plain)


def show_page(console: Console, lines: Iterable[PageLine], *, plain: bool) -> None:
    """Print a page, line by line."""
    for line in lines:
        console.write_parts(_styled_parts(line), plain=plain)


def _styled_parts(line: PageLine) -> Iterator[tuple[str, tuple[Style, ...]]]:
    for part in line.parts:
        styles = (Style.BOLD if part.strong else Style.NONE, _STYLES.get(part.mark, Style.NONE))
        yield part.text, styles


def _style_of(state: str) -> Style:
    if state == Outcome.PASS:
        return Style.GREEN
    if state in _DOUBTS:
        return Style.YELLOW
    return Style.RED if state in frozenset(Outcome) else Style.NONE
