"""Limits in money, tokens and time that stop a batch before they are exceeded.

The highest possible cost of a request is reserved before it is sent, and replaced by its actual cost.  A request that
does not fit waits while others are in flight, since their reservations may be too high; then it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.errors import KgtuiError, UsageError
from sessions.candidates.generation_rows import Limits

_MICROUSD = {"usd": 1_000_000, "ct": 10_000, "cent": 10_000}
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_TOKENS = ("tok", "tokens")


class BudgetReachedError(KgtuiError):
    """The next request could exceed the budget."""


@dataclass(frozen=True, kw_only=True)
class Amount:
    """Money and tokens of one request; money is None if the price is unknown."""

    microusd: int | None
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Costs of a batch so far, without reservations; `unpriced` answers have no known cost."""

    microusd: int = 0
    tokens: int = 0
    unpriced: int = 0


class Budget:
    """The budget of one batch; used on one event loop.

    `clock` is monotonic; `spent` and `worked_s` are the costs and the time of a resumed batch so far.
    """

    def __init__(
        self, limits: Limits, *, clock: Callable[[], float], spent: Spent | None = None, worked_s: float = 0.0
    ) -> None:
        self.limits = limits
        self.spent = spent or Spent()
        self._clock = clock
        self._began_s = clock() - worked_s
        self._reserved: list[Amount] = []
        self._settled = asyncio.Condition()

    @property
    def in_flight(self) -> int:
        """Number of reservations."""
        return len(self._reserved)

    @property
    def elapsed_s(self) -> float:
        """Time of the batch in this process, and in those before it was resumed."""
        return self._clock() - self._began_s

    async def reserve(self, worst: Amount) -> None:
        """Reserve the worst case; waits while requests in flight may leave room for it.

        Raises:
            BudgetReachedError: it does not fit even when nothing is in flight.
            UsageError: the budget is in money and no price is known.
        """
        if self.limits.microusd is not None and worst.microusd is None:
            raise UsageError(
                "the price of this model is unknown, so a budget in money cannot be enforced: add it to prices.toml "
                "(`kgtui manual models`), or limit tokens instead, such as 200000tok"
            )
        async with self._settled:
            while reason := self._excess(worst):
                if not self._reserved or self._is_late:
                    raise BudgetReachedError(reason)
                await self._settled.wait()
            self._reserved.append(worst)

    async def settle(self, reserved: Amount, actual: Amount | None) -> None:
        """Replace a reservation by the actual usage; None for a request that was not charged.

        If the cost is unknown, the whole reservation counts.
        """
        async with self._settled:
            self._reserved.remove(reserved)
            if actual is not None:
                known = actual.microusd is not None
                microusd = actual.microusd if actual.microusd is not None else reserved.microusd or 0
                self.spent = Spent(
                    microusd=self.spent.microusd + microusd,
                    tokens=self.spent.tokens + actual.tokens,
                    unpriced=self.spent.unpriced + (not known),
                )
            self._settled.notify_all()

    @property
    def _is_late(self) -> bool:
        return self.limits.seconds is not None and self.elapsed_s >= self.limits.seconds

    def _excess(self, worst: Amount) -> str:
        """Why this request could exceed the budget; empty if it cannot."""
        limits = self.limits
        if self._is_late:
            return f"the time budget of {limits.seconds:g} s is used up"
        microusd = self.spent.microusd + sum(one.microusd or 0 for one in self._reserved) + (worst.microusd or 0)
        if limits.microusd is not None and microusd > limits.microusd:
            return (
                f"the next request could cost up to {usd_text(worst.microusd)}, and {usd_text(self.spent.microusd)} "
                f"of {usd_text(limits.microusd)} are spent"
            )
        tokens = self.spent.tokens + sum(one.tokens for one in self._reserved) + worst.tokens
        if limits.tokens is not None and tokens > limits.tokens:
            return (
                f"the next request could use up to {worst.tokens:,} tokens, and {self.spent.tokens:,} of "
                f"{limits.tokens:,} are used"
            )
        return ""


def parse_budget(texts: tuple[str, ...], *, option: str = "--budget ") -> Limits:
    """Limits such as "2usd", "50ct", "200000tok", "30min"; each kind at most once.  Errors name the `option`.

    Raises:
        UsageError: a text is not of this form, a limit is not above 0, or there are two of a kind.
    """
    limits = Limits()
    for text in texts:
        limits = _with(limits, text.strip().lower(), option)
    return limits


def usd_text(microusd: int | None) -> str:
    """Money as text: at least cents, more digits for small amounts; "unknown" for None."""
    if microusd is None:
        return "unknown"
    usd = microusd / 1_000_000
    digits = 2 if usd == 0 or usd >= 1 else 4 if usd >= 0.01 else 6
    return f"${usd:.{digits}f}"


def _with(limits: Limits, text: str, option: str) -> Limits:
    """The limits with that of one text."""
    number, unit = text.rstrip("abcdefghijklmnopqrstuvwxyz"), text.lstrip("0123456789.")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12 or unit not in (*_MICROUSD, *_SECONDS, *_TOKENS):
        raise UsageError(f"{option}{text[:40]!r}: expected an amount such as 2usd, 50ct, 200000tok or 30min")
    known: float | None
    if unit in _MICROUSD:
        kind, known, changed = "money", limits.microusd, replace(limits, microusd=round(value * _MICROUSD[unit]))
    elif unit in _SECONDS:
        kind, known, changed = "time", limits.seconds, replace(limits, seconds=value * _SECONDS[unit])
    else:
        kind, known, changed = "tokens", limits.tokens, replace(limits, tokens=int(value))
    if 0 in (changed.microusd, changed.seconds, changed.tokens):
        raise UsageError(f"{option}{text}: a budget of 0 allows no request; leave it out for no limit")
    if known is not None:
        raise UsageError(f"{option}{text}: there is a budget in {kind} already; each kind can be given once")
    return changed
