"""A layer that was not checked says why, and one that was has nothing to excuse."""

from __future__ import annotations

import pytest

from engine.model.layers import Coverage, Layer, LayerReport


@pytest.mark.parametrize("coverage", [one for one in Coverage if one is not Coverage.CHECKED])
def test_unchecked_layer_needs_a_reason(coverage: Coverage) -> None:
    with pytest.raises(ValueError, match="cannot have the reason ''"):
        LayerReport(layer=Layer.STATIC, by="checks", coverage=coverage)


def test_a_layer_that_was_checked_has_no_reason() -> None:
    with pytest.raises(ValueError, match="checks: a layer that is checked cannot have the reason 'why'"):
        LayerReport(layer=Layer.STATIC, by="checks", coverage=Coverage.CHECKED, why="why")
