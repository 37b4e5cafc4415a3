"""The flag of oneDNN is off in the context, and as before afterwards, also after an error."""

from __future__ import annotations

import pytest
import torch

from engine.judge.inputs.onednn import without_onednn


@pytest.mark.parametrize("before", [True, False])
def test_flag_is_restored_after_error(before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", before)
    with pytest.raises(ValueError, match="in the context"), without_onednn():
        assert not torch.backends.mkldnn.enabled
        raise ValueError("in the context")
    assert torch.backends.mkldnn.enabled == before


def test_product_of_infinity_is_infinite() -> None:
    left = torch.full((17, 33), 2.0, dtype=torch.bfloat16)
    left[0, 5] = torch.inf
    with without_onednn():
        product = left @ torch.ones((33, 20), dtype=torch.bfloat16)
    assert bool((product[0] == torch.inf).all())
