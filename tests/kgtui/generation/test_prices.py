"""Money against tables worked by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from engine.errors import UsageError
from kgtui.generation.budget import usd_text
from kgtui.generation.prices import Price, PriceList, read_prices, to_microusd
from sessions.candidates.generation_rows import TokenUsage

AT = datetime(2026, 1, 1, tzinfo=UTC)
PRICE = Price(input_usd=Decimal(3), output_usd=Decimal(15), cached_usd=Decimal("0.3"), cache_write_usd=Decimal("3.75"))
OWN = '["openai:mine"]\ninput = 0.5\noutput = 2\ncached = 0.1\n'


@pytest.mark.parametrize(
    ("usage", "microusd"),
    [
        (TokenUsage(input_tokens=0, output_tokens=0), 0),
        (TokenUsage(input_tokens=1_000_000, output_tokens=0), 3_000_000),
        (TokenUsage(input_tokens=0, output_tokens=1_000_000), 15_000_000),
        # 600 x 3 + 400 x 0.3 + 500 x 15 = 1,800 + 120 + 7,500
        (TokenUsage(input_tokens=1000, cached_tokens=400, output_tokens=500), 9_420),
        # 300 x 3 + 400 x 0.3 + 300 x 3.75 + 500 x 15, reasoning among the output
        (
            TokenUsage(
                input_tokens=1000, cached_tokens=400, cache_write_tokens=300, output_tokens=500, reasoning_tokens=500
            ),
            9_645,
        ),
    ],
)
def test_a_price_makes_the_cost_of_a_table(usage, microusd):
    assert PRICE.microusd(usage) == microusd


def test_worst_case_writes_whole_prompt_to_cache():
    # 1,000 x 3.75 + 100 x 15, and one for rounding
    assert PRICE.most_microusd(input_tokens=1000, output_tokens=100) == 5_251


@pytest.mark.parametrize(("usd", "microusd"), [("0.0000004", 0), ("0.0000005", 1), ("1.2345678", 1_234_568)])
def test_money_is_rounded_to_millionths(usd, microusd):
    assert to_microusd(Decimal(usd)) == microusd


def test_a_maintained_price_is_found():
    usage = TokenUsage(input_tokens=1000, cached_tokens=400, output_tokens=500)
    # gpt-4o: 600 x 2.5 + 400 x 1.25 + 500 x 10
    assert PriceList().cost("openai", "gpt-4o", usage, at=AT) == 7_000


def test_unknown_price_gives_none():
    usage = TokenUsage(input_tokens=1, output_tokens=1)
    assert PriceList().price("openai", "no-such-model", at=AT) is None
    assert PriceList().cost("openai", "no-such-model", usage, at=AT) is None
    assert PriceList().cost("no-such-provider", "m", usage, at=AT) is None


def test_maintained_worst_case_covers_cost():
    usage = TokenUsage(input_tokens=300_000, output_tokens=1000)
    price = PriceList().price("anthropic", "claude-sonnet-4-5", at=AT)
    cost = PriceList().cost("anthropic", "claude-sonnet-4-5", usage, at=AT)
    assert price.most_microusd(input_tokens=300_000, output_tokens=1000) >= cost


def test_user_price_has_priority(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(OWN)
    usage = TokenUsage(input_tokens=100, cached_tokens=50, output_tokens=10)
    # 50 x 0.5 + 50 x 0.1 + 10 x 2
    assert read_prices(path).cost("openai", "mine", usage, at=AT) == 50


def test_missing_price_file_uses_maintained_prices(tmp_path):
    assert read_prices(tmp_path / "none.toml").price("openai", "gpt-4o", at=AT) is not None


@pytest.mark.parametrize(
    "text", ["[x", 'a = 1', '["m"]\ninput = 1', '["m"]\ninput = -1\noutput = 1', '["m"]\ninput = "x"\noutput = 1',
             '["m"]\ninput = nan\noutput = 1', '["m"]\ninput = 1\noutput = 1\nother = 1']
)  # fmt: skip
def test_a_broken_price_list_is_refused(tmp_path, text):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"prices\.toml"):
        read_prices(path)


@pytest.mark.parametrize(
    ("microusd", "text"),
    [(None, "unknown"), (0, "$0.00"), (7, "$0.000007"), (12_345, "$0.0123"), (2_500_000, "$2.50")],
)
def test_money_is_shown_with_enough_digits(microusd, text):
    assert usd_text(microusd) == text
