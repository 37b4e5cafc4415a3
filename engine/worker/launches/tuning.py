"""Choices of a candidate's autotuner: the first configuration that runs in verification, a measured one in timing.

While cases are verified a tuner's choice has no effect on the result, and Triton's own measuring takes longer than the
rest: hundreds of launches, and for `restore_value` as many copies, which a ledger would count as work of torch. Of many
configurations the smallest comes first, for it compiles soonest and fits everywhere.  Before a benchmark every choice
is forgotten, so that the timed choice was tuned by measurement, within a budget: when it is used up, the rest of a grid
is not tried, and a note reports that.  No choice is kept on disk, even if the candidate requests it: a choice made
without measuring would be read back from there.
"""

from __future__ import annotations

import functools
import math
import time
import weakref
from collections.abc import Callable
from typing import Any

from triton.runtime.autotuner import Autotuner

# Triton's tuner is not typed: what passes through is Any throughout this file.

_CHOSEN, _OTHERS = [0.0, 0.0, 0.0], [math.inf, math.inf, math.inf]  # the three quantiles that a tuner requests


FEW_CONFIGURATIONS = 4
"""Up to this number are tried in the candidate's own order."""
_LEAST_REP_MS, _MOST_REP_MS, _WARM_UP_MS = 10.0, 100.0, 5
_clock = time.perf_counter  # bound before a candidate can replace it


class Tuning:
    """Controls every tuner of this process from now on.

    `on_choice` gets the function of a tuner that chose without measuring, and the number of its configurations.
    """

    def __init__(self, on_choice: Callable[[Callable[..., Any], int], None] = lambda function, count: None) -> None:
        self._on_choice = on_choice
        self._brief = True
        self._budget_s, self._spent_s = math.inf, 0.0
        self._tried = self._left_out = 0
        self._tuners: weakref.WeakSet[Any] = weakref.WeakSet()
        self._chosen: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()
        self._watch()

    def start_measuring(self, budget_s: float = math.inf) -> None:
        """Forget every choice, and measure with the candidate's own settings from now on, for at most `budget_s`."""
        self._budget_s, self._spent_s = budget_s, 0.0
        self._tried = self._left_out = 0
        if self._brief:
            self._brief = False
            self.forget()

    def forget(self) -> None:
        """Forget every choice made so far."""
        for tuner in self._tuners:
            tuner.cache.clear()

    @property
    def note(self) -> str:
        """Number of configurations not tried since measuring began; "" if none was left out."""
        if not self._left_out:
            return ""
        of = self._tried + self._left_out
        return f"its autotuner tried {self._tried} of {of} configurations within {self._budget_s:g} s"

    def stop_measuring(self) -> None:
        """Choose without measuring and keep every choice: no more times are needed."""
        self._brief = True

    def _watch(self) -> None:
        make, bench, prune = Autotuner.__init__, Autotuner.do_bench, Autotuner.prune_configs
        usual: Callable[[Any], Any] = getattr(bench, "func", None) or bench.fget

        def remember(tuner: Any, *args: Any, **kwargs: Any) -> None:
            make(tuner, *args, **kwargs)
            tuner.cache_results = False
            self._tuners.add(tuner)

        def measure(tuner: Any) -> Callable[..., Any]:
            if self._brief:
                return functools.partial(self._try, tuner)
            return functools.partial(self._measure, tuner, self._bench_of(tuner, usual))

        def ordered(tuner: Any, kwargs: dict[str, Any]) -> Any:
            found = prune(tuner, kwargs)
            return sorted(found, key=_size) if self._brief and len(found) > FEW_CONFIGURATIONS else found

        functools.update_wrapper(remember, make)
        Autotuner.prune_configs = ordered
        Autotuner.__init__ = remember
        Autotuner.do_bench = property(measure)

    def _bench_of(self, tuner: Any, usual: Callable[[Any], Any]) -> Callable[..., Any]:
        """The candidate's own benchmark function; Triton's is shortened if the budget requires it."""
        bench: Callable[..., Any] = usual(tuner)
        if getattr(tuner, "_do_bench", None) is not None or not math.isfinite(self._budget_s):
            return bench
        rep_ms = 1e3 * self._budget_s / (2 * max(1, len(tuner.configs)))
        if rep_ms >= _MOST_REP_MS:
            return bench
        return functools.partial(bench, warmup=_WARM_UP_MS, rep=max(_LEAST_REP_MS, rep_ms))

    def _measure(
        self, tuner: Any, bench: Callable[..., Any], kernel_call: Callable[[], Any], quantiles: Any = None
    ) -> Any:
        """Measure one configuration, unless the budget is used up and another one of the same choice was measured."""
        asked = (id(getattr(tuner, "nargs", None)), len(tuner.cache))
        if self._spent_s >= self._budget_s and self._chosen.get(tuner) == asked:
            self._left_out += 1
            return list(_OTHERS)
        began_s = _clock()
        try:
            found = bench(kernel_call, quantiles=quantiles)
        finally:
            self._spent_s += _clock() - began_s
        self._tried += 1
        self._chosen[tuner] = asked
        return found

    def _try(self, tuner: Any, kernel_call: Callable[[], Any], quantiles: Any = None) -> list[float]:
        """Call the configurations of one choice until one does not raise: it gets the shortest time, and no other runs.

        A tuner keeps every choice, so all configurations of one choice come with the same arguments and number of
        choices.
        """
        asked = (id(getattr(tuner, "nargs", None)), len(tuner.cache))
        if self._chosen.get(tuner) == asked:
            return list(_OTHERS)
        kernel_call()
        self._chosen[tuner] = asked
        self._on_choice(tuner.base_fn, len(tuner.configs))
        return list(_CHOSEN)


def _size(config: Any) -> int:
    """The product of a configuration's block sizes and stages: a measure of its code size and resources."""
    blocks = (value for value in config.kwargs.values() if type(value) is int and value > 0)
    return math.prod(blocks) * max(1, int(config.num_stages or 1))
