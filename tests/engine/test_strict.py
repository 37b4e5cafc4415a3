"""The strict rules have a sentence for what they refuse, and see all of PyTorch that computes."""

from __future__ import annotations

import pytest

from engine.checks import checks, name_of
from engine.reading import Reading
from engine.strict import WHITELIST, outside_whitelist, rules

TORCH = "import torch\ndef f(x: torch.Tensor):\n    "


def test_every_rule_is_a_sentence_of_a_check_or_of_the_whitelist() -> None:
    assert set(rules()) <= {name_of(check) for check in checks()} | {WHITELIST}
    assert [sentence for sentence in rules().values() if not sentence.endswith(".")] == []


def test_a_check_that_breaks_no_published_rule_refuses_nothing() -> None:
    assert "prints_verdict" not in rules()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n = x.max().item()\n    return launch(x, n)", ".max() of a tensor computes"),
        ("return launch(torch.cumsum(x, 0))", "torch.cumsum computes"),
        ("return launch(x + 1)", "arithmetic on tensors computes"),
    ],
)
def test_what_bookkeeping_computes_is_outside_the_whitelist_too(text: str, said: str) -> None:
    assert said in [finding.message for finding in outside_whitelist(Reading.of(TORCH + text))]


@pytest.mark.parametrize(
    "text", ["return torch.empty_like(x).view(-1)", "return launch(x.to(torch.half), x.numel() * 2)"]
)
def test_what_allocates_views_and_casts_is_on_the_whitelist(text: str) -> None:
    assert list(outside_whitelist(Reading.of(TORCH + text))) == []
