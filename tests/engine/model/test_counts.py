"""Counts in texts for users."""

from __future__ import annotations

import pytest

from engine.model.counts import counted


@pytest.mark.parametrize(("number", "words"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1200, "1,200 cases")])
def test_count_has_noun_in_its_number(number, words):
    assert counted(number, "case") == words
