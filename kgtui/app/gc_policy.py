"""When Python looks for garbage in cycles: often, among few objects; all of it only while nobody looks.

Looking through every object that there is takes a fifth of a second once some screens were opened, and nothing else
runs meanwhile.  So what has come is looked through after a moment without a key, and before it is much, whoever
waits.  What stays of it is put aside once it is many, so that no portion grows.  It is not put aside at once, for
what is drawn lives for a moment only, and what becomes garbage after it was put aside is found late: when much lies
there, and no key was pressed for a while; sooner where the terminal says that its user has gone elsewhere.

Changes the whole process: only a process that is the application may call it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgtui.app.application import WorkbenchApp

LOOK_S, REST_S, AWAY_S, LONG_REST_S = 0.1, 0.4, 5.0, 10.0
# So many collections of the younger objects before Python looks through the older ones by itself.
SELDOM = 1_000
# A portion: looking through so many objects costs about as much as drawing the screen.
MOST_AT_ONCE = 36_000
# So many that are left are put aside.  What is on the screen has to be fewer, or it would be put aside each time.
MANY_LEFT = 30_000
# So many objects, some megabytes, may be put aside before they are looked through again.
MOST_ASIDE = 70_000


class GcPolicy:
    """Collects for one application."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._disturbed_s = self._collected_s = clock()
        self._aside = 0
        self._next_look_s = 0.0

    def hold_back(self) -> None:
        """Let Python look through the older objects seldom, from before the start on."""
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)

    def begin(self, app: WorkbenchApp) -> None:
        """What was imported and made by now stays as long as the application; look now and then how much has come."""
        gc.freeze()
        app.while_active(LOOK_S, partial(self.look, app))

    def look(self, app: WorkbenchApp) -> bool:
        """Collect what has come: once after each time that somebody did something, and whenever it is a portion.

        False where it need not look again before something happens.
        """
        now_s = self._clock()
        self._disturbed_s = now_s if app.busy else max(self._disturbed_s, app.touched_s)
        rest_s = now_s - self._disturbed_s
        rests = self._disturbed_s > self._collected_s and rest_s > REST_S
        if rests or _older() > MOST_AT_ONCE:
            self._collect()
            self._collected_s = now_s if rests else self._collected_s
        elif self._aside > MOST_ASIDE and self._is_alone(app, rest_s):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._aside = 0
        if self._aside > MOST_ASIDE and now_s >= self._next_look_s:
            self._next_look_s = now_s + AWAY_S
            app.set_timer(AWAY_S, app.wake)  # whether the user has gone by then
        return app.busy or self._disturbed_s > self._collected_s

    def _is_alone(self, app: WorkbenchApp, rest_s: float) -> bool:
        return rest_s > (LONG_REST_S if app.app_focus else AWAY_S)

    def _collect(self) -> None:
        gc.collect()
        left = _older()  # Python's own count of what is frozen goes through it
        if left > MANY_LEFT:
            gc.freeze()
            self._aside += left


def _older() -> int:
    """How many objects outlived the collections of the younger ones."""
    return len(gc.get_objects(generation=2))
