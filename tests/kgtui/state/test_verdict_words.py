"""A verdict in one or two words."""

from __future__ import annotations

import pytest

from engine.model import Outcome
from kgtui.state.format.glyphs import verdict_words


@pytest.mark.parametrize(
    ("outcome", "flagged", "passed", "proven", "words"),
    [
        (Outcome.PASS, False, 50, 50, "proven"),
        (Outcome.PASS, False, 50, 49, "pass"),
        (Outcome.PASS, False, 50, None, "pass"),
        (Outcome.PASS, False, 0, 0, "pass"),
        (Outcome.PASS, True, 50, 50, "flagged"),
        (Outcome.WRONG_VALUE, False, 3, 3, "wrong value"),
        (Outcome.PASS, False, None, None, "pass"),
    ],
)
def test_verdict_is_proven_when_each_passed_case_is(outcome, flagged, passed, proven, words):
    assert verdict_words(outcome, flagged=flagged, passed=passed, proven=proven) == words
