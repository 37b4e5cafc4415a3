"""A timer that runs only during an activity: an idle application has no wake-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message_pump import MessagePump
from textual.timer import Timer

if TYPE_CHECKING:
    from collections.abc import Callable

# Consecutive unneeded calls that stop the timer: a requested run may start a moment later.
GRACE_CALLS = 20


class WhileActive:
    """Calls `work` at an interval until it is idle, then `rest` once; `wake` restarts it."""

    def __init__(
        self,
        owner: MessagePump,
        every_s: float,
        work: Callable[[], bool],
        *,
        rest: Callable[[], object] = lambda: None,
    ) -> None:
        self._work = work
        self._rest = rest
        self._unneeded = 0
        self._timer: Timer = owner.set_interval(every_s, self._call)

    @property
    def is_idle(self) -> bool:
        """Whether it waits for `wake`."""
        return self._unneeded >= GRACE_CALLS

    def wake(self) -> None:
        """Resume after a pause."""
        was_idle, self._unneeded = self.is_idle, 0
        if was_idle:
            self._timer.resume()

    def _call(self) -> None:
        self._unneeded = 0 if self._work() else self._unneeded + 1
        if self.is_idle:
            self._timer.pause()
            self._rest()
