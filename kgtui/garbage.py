"""When Python looks for garbage in cycles: all of it only while nobody waits.

Looking through every object that there is takes a quarter of a second once some screens were opened, and nothing else
runs meanwhile.  So that is done after a moment without a key, and what was looked through is put aside: the next time
only what has come since costs anything.  What becomes garbage after it was put aside is found when much lies there.

Changes the whole process: only a process that is the application may call it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgtui.app import WorkbenchApp

LOOK_S, REST_S, LONG_REST_S = 0.1, 0.4, 5.0
RUN_S = 2.0  # in a run that goes on, what has come is looked through as often as that
# So many collections of the younger objects before Python looks through all by itself, for somebody who never rests.
SELDOM = 1_000
# So many objects, some tens of megabytes, may be put aside before they are looked through again.
MOST_ASIDE = 300_000


class Garbage:
    """Collects for one application."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._disturbed_s = self._collected_s = clock()
        self._aside = 0

    def hold_back(self) -> None:
        """Let Python look through all objects seldom, from before the start on."""
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)

    def begin(self, app: WorkbenchApp) -> None:
        """What was imported and made by now stays as long as the application; look now and then whether it rests."""
        gc.freeze()
        app.set_interval(LOOK_S, partial(self.look, app))

    def look(self, app: WorkbenchApp) -> None:
        """Collect what has come, once after each time that somebody did something; all of it in a longer rest."""
        now_s = self._clock()
        self._disturbed_s = now_s if app.busy else max(self._disturbed_s, app.touched_s)
        untouched_s, rest_s = now_s - app.touched_s, now_s - self._disturbed_s
        is_time = now_s - self._collected_s > RUN_S if app.busy else rest_s > REST_S
        if self._disturbed_s > self._collected_s and untouched_s > REST_S and is_time:
            gc.collect()
            self._aside += len(gc.get_objects(generation=2))  # Python's own count of what is frozen goes through it
            gc.freeze()
            self._collected_s = now_s
        elif self._aside > MOST_ASIDE and rest_s > LONG_REST_S:
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._aside = 0
