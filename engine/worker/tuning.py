"""How a candidate's own autotuner chooses: the first that runs while it is verified, as it likes before it is timed.

While cases are verified a tuner's choice matters to nobody, and Triton's own measuring takes longer than all the
rest: hundreds of launches, and for `restore_value` as many copies, which a ledger would take for work of torch.
Before a benchmark every choice is forgotten, so that what is timed was tuned in earnest.  No choice is kept on disk,
whatever the candidate asks for: what was chosen without measuring would come back from there.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable
from typing import Any

from triton.runtime.autotuner import Autotuner

# Triton's tuner is not typed: what passes through is Any throughout this file.

_CHOSEN, _OTHERS = [0.0, 0.0, 0.0], [math.inf, math.inf, math.inf]  # the quantiles that a tuner asks for


class Tuning:
    """Watches every tuner of this process from now on."""

    def __init__(self) -> None:
        self._brief = True
        self._tuners: weakref.WeakSet[Any] = weakref.WeakSet()
        self._chosen: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()
        self._watch()

    def in_earnest(self) -> None:
        """Forget every choice made so far, and measure as the candidate wants it from now on."""
        if self._brief:
            self._brief = False
            for tuner in self._tuners:
                tuner.cache.clear()

    def briefly(self) -> None:
        """Choose without measuring again and keep every choice: nobody waits for a time any more."""
        self._brief = True

    def _watch(self) -> None:
        make, bench = Autotuner.__init__, Autotuner.do_bench
        usual: Callable[[Any], Any] = getattr(bench, "func", None) or bench.fget

        def remember(tuner: Any, *args: Any, **kwargs: Any) -> None:
            make(tuner, *args, **kwargs)
            tuner.cache_results = False
            self._tuners.add(tuner)

        def measure(tuner: Any) -> Callable[..., Any]:
            return functools.partial(self._try, tuner) if self._brief else usual(tuner)

        functools.update_wrapper(remember, make)
        Autotuner.__init__ = remember
        Autotuner.do_bench = property(measure)

    def _try(self, tuner: Any, kernel_call: Callable[[], Any], quantiles: Any = None) -> list[float]:
        """Call the configurations of one choice until one does not raise: that one is the fastest, and no other runs.

        A tuner keeps every choice, so that all of one are asked for under the same arguments and as many choices.
        """
        asked = (id(getattr(tuner, "nargs", None)), len(tuner.cache))
        if self._chosen.get(tuner) == asked:
            return list(_OTHERS)
        kernel_call()
        self._chosen[tuner] = asked
        return list(_CHOSEN)
