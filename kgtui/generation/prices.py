"""Prices of tokens: from the maintained tables of genai-prices, or from the user's own file.

An unknown price is None, which is shown as "unknown" and never counted as 0.  Money is in microusd, whole millionths of
a US dollar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

from engine.errors import UsageError
from sessions.candidates.generation_rows import TokenUsage

MICROUSD_PER_USD = 1_000_000
_MTOK = Decimal(1_000_000)
_WRITE_FACTOR = Decimal("1.25")
"""Price of cache writes relative to the input price, for a lifetime of five minutes."""
_KEYS = frozenset({"input", "output", "cached", "cache_write"})


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars for a million tokens; reasoning tokens are charged as output."""

    input_usd: Decimal
    output_usd: Decimal
    cached_usd: Decimal
    cache_write_usd: Decimal

    def microusd(self, usage: TokenUsage) -> int:
        """Cost of these tokens."""
        fresh = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
        usd = (
            fresh * self.input_usd
            + usage.cached_tokens * self.cached_usd
            + usage.cache_write_tokens * self.cache_write_usd
            + usage.output_tokens * self.output_usd
        ) / _MTOK
        return to_microusd(usd)

    def most_microusd(self, *, input_tokens: int, output_tokens: int) -> int:
        """Highest possible cost of a request, with all of its input written to the cache."""
        most_expensive_usd = max(self.input_usd, self.cache_write_usd)
        return to_microusd((input_tokens * most_expensive_usd + output_tokens * self.output_usd) / _MTOK) + 1


class PriceList:
    """Prices by model; those of the user take precedence.  `origin` states where they are from."""

    def __init__(self, own: Mapping[str, Price] | None = None, *, origin: str = "your file") -> None:
        self.origin = origin
        self._own = own or {}

    @property
    def own_models(self) -> tuple[str, ...]:
        """The models with a user's own price."""
        return tuple(self._own)

    def price(self, provider: str, model: str, *, at: datetime) -> Price | None:
        """The price of a model at a time; None if unknown."""
        own = self._own.get(f"{provider}:{model}")
        return own if own is not None else _maintained(provider, model, at=at)

    def cost(self, provider: str, model: str, usage: TokenUsage, *, at: datetime) -> int | None:
        """Cost of an answer; None if the price is unknown."""
        price = self.price(provider, model, at=at)
        if price is None:
            return None
        if f"{provider}:{model}" in self._own:
            return price.microusd(usage)
        return _maintained_cost(provider, model, usage, at=at)


def read_prices(path: Path) -> PriceList:
    """The user's prices; only the maintained ones if there is no file.

    A TOML table for each model: `["openai:my-model"]` with `input`, `output`, and optionally `cached` and
    `cache_write`, in US dollars for a million tokens.

    Raises:
        UsageError: the file cannot be read, or has other content.
    """
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except FileNotFoundError:
        return PriceList()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is not a price list: {error}") from error
    return PriceList({name: _own_price(values, path=path, name=name) for name, values in document.items()})


def to_microusd(usd: Decimal) -> int:
    """The nearest whole millionth; halves go up."""
    return int((usd * MICROUSD_PER_USD).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def _own_price(values: object, *, path: Path, name: str) -> Price:
    wanted = f'{path}: ["{name}"] needs input and output in US dollars for a million tokens'
    if not isinstance(values, dict) or not {"input", "output"} <= values.keys() <= _KEYS:
        raise UsageError(wanted)
    try:
        usd = {key: Decimal(value) for key, value in values.items() if not isinstance(value, bool)}
    except (TypeError, InvalidOperation) as error:
        raise UsageError(wanted) from error
    if any(not value.is_finite() or value < 0 for value in usd.values()) or usd.keys() != values.keys():
        raise UsageError(f"{wanted}, none of them negative")
    return Price(
        input_usd=usd["input"],
        output_usd=usd["output"],
        cached_usd=usd.get("cached", usd["input"]),
        cache_write_usd=usd.get("cache_write", usd["input"]),
    )


def _maintained(provider: str, model: str, *, at: datetime) -> Price | None:
    """The price for small requests, from the cost of a million tokens of each kind."""
    from genai_prices import Usage, calc_price

    try:
        found = calc_price(Usage(input_tokens=1000), model, provider_id=provider, genai_request_timestamp=at)
    except LookupError:
        return None
    price = found.model_price
    input_usd, output_usd = _highest(price.input_mtok), _highest(price.output_mtok)
    if input_usd is None or output_usd is None:
        return None
    cached, written = _highest(price.cache_read_mtok), _highest(price.cache_write_mtok)
    return Price(
        input_usd=input_usd,
        output_usd=output_usd,
        cached_usd=input_usd if cached is None else cached,
        cache_write_usd=input_usd * _WRITE_FACTOR if written is None else written,
    )


def _maintained_cost(provider: str, model: str, usage: TokenUsage, *, at: datetime) -> int | None:
    """Cost of the usage by the library, with the tiers of long prompts."""
    from genai_prices import Usage, calc_price

    counted = Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        found = calc_price(counted, model, provider_id=provider, genai_request_timestamp=at)
    except (LookupError, ValueError):
        return None
    return to_microusd(found.total_price)


def _highest(price: object) -> Decimal | None:
    """The price, or that of its most expensive tier; None if there is none."""
    if price is None:
        return None
    if isinstance(price, Decimal | int | float):
        return Decimal(str(price))
    base, tiers = getattr(price, "base", None), getattr(price, "tiers", ())
    prices = [found for one in (base, *(tier.price for tier in tiers)) if (found := _highest(one)) is not None]
    return max(prices, default=None)
