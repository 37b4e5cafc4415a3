"""How long a candidate's own autotuner may measure: briefly while it is verified, as it likes before it is timed.

While cases are verified a tuner's choice matters to nobody, and Triton's own measuring takes longer than
all the rest.  Before a benchmark every choice is forgotten, so that what is timed was tuned in earnest.
No choice is kept on disk, whatever the candidate asks for: what was tuned briefly would come back from there.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import triton.testing
from triton.runtime.autotuner import Autotuner

# Triton's tuner is not typed: what passes through is Any throughout this file.

_WARM_UP_MS, _MEASURE_MS = 0.5, 2.0


class Tuning:
    """Watches every tuner of this process from now on."""

    def __init__(self) -> None:
        self._brief = True
        self._tuners: weakref.WeakSet[Any] = weakref.WeakSet()
        self._watch()

    def in_earnest(self) -> None:
        """Forget every choice made so far, and measure as the candidate wants it from now on."""
        if self._brief:
            self._brief = False
            for tuner in self._tuners:
                tuner.cache.clear()

    def briefly(self) -> None:
        """Measure briefly again and keep every choice: nobody waits for a time any more."""
        self._brief = True

    def _watch(self) -> None:
        make, bench = Autotuner.__init__, Autotuner.do_bench
        usual: Callable[[Any], Any] = getattr(bench, "func", None) or bench.fget

        def remember(tuner: Any, *args: Any, **kwargs: Any) -> None:
            make(tuner, *args, **kwargs)
            tuner.cache_results = False
            self._tuners.add(tuner)

        def measure(tuner: Any) -> Callable[..., Any]:
            return _briefly if self._brief else usual(tuner)

        functools.update_wrapper(remember, make)
        Autotuner.__init__ = remember
        Autotuner.do_bench = property(measure)


def _briefly(kernel_call: Callable[[], Any], quantiles: Any = None) -> Any:
    return triton.testing.do_bench(kernel_call, warmup=_WARM_UP_MS, rep=_MEASURE_MS, quantiles=quantiles)
