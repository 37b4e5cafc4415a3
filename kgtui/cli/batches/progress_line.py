"""A bar at the bottom of a terminal while a batch or an audit runs; written only to a terminal."""

from __future__ import annotations

from kgtui.batches.lines import duration_text
from kgtui.batches.results import BatchProgress
from kgtui.cli.console import Console

_BAR = 24
_ERASE = "\r\x1b[2K"


class ProgressLine:
    """One line on the error stream, drawn below the output."""

    def __init__(self, console: Console) -> None:
        self._stream = console.err
        self._is_shown = console.err.isatty() and console.environment.get("TERM") != "dumb"
        self._width = console.width
        self._signs = ("█", "░") if console.can_write("█░") else ("#", ".")

    def draw(self, progress: BatchProgress, *, now_s: float) -> None:
        """Show how far the batch is."""
        self._show(bar_text(progress, now_s=now_s, signs=self._signs))

    def count(self, done: int, total: int) -> None:
        """Show how many of several things are done."""
        self._show(_bar(done, total, signs=self._signs))

    def erase(self) -> None:
        """Erase the bar before a line of output; the next `draw` shows it again."""
        self._write(_ERASE)

    def _show(self, text: str) -> None:
        self._write(f"{_ERASE}{text[: self._width - 1]}")

    def _write(self, text: str) -> None:
        if self._is_shown:
            self._stream.write(text)
            self._stream.flush()


def bar_text(progress: BatchProgress, *, now_s: float, signs: tuple[str, str]) -> str:
    """The bar, the number of finished candidates, the remaining time, and the running candidates."""
    left_s = progress.left_s(now_s=now_s)
    left = f"  {duration_text(left_s)} left" if left_s is not None else ""
    running = f"  {', '.join(progress.running)}" if progress.running else ""
    return f"{_bar(progress.done, progress.total, signs=signs)}{left}{running}"


def _bar(done: int, total: int, *, signs: tuple[str, str]) -> str:
    full, empty = signs
    filled = _BAR * done // total if total else _BAR
    return f"{full * filled}{empty * (_BAR - filled)} {done}/{total}"
