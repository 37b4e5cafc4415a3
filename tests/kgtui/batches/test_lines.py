"""Words on a batch: counts and the remaining time."""

from __future__ import annotations

import pytest

from kgtui.batches.lines import duration_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89.4, "89 s"), (90, "2 min"), (3569, "59 min"), (3600, "1 h 0 min"), (6000, "1 h 40 min")],
)
def test_remaining_time_has_one_or_two_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
