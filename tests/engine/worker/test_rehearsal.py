"""A dry run tells whether it came to its end."""

from __future__ import annotations

import pytest
import torch
from triton import knobs
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from engine import wire
from engine.worker.rehearsal import Rehearsal

COMMAND = wire.Rehearse(id="a", case="one", arguments=(wire.ScalarSpec(value=1),), storages=(16,))


@pytest.fixture
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> Rehearsal:
    """One in this process, which takes back afterwards what it changes in Triton for good."""
    monkeypatch.setattr(JITFunction, "run", JITFunction.run)
    monkeypatch.setattr(Autotuner, "do_bench", None, raising=False)
    with knobs.runtime.scope():
        return Rehearsal(torch.device("cpu"))


def test_an_entry_that_returns_has_not_stumbled(rehearsal: Rehearsal) -> None:
    assert rehearsal.call(lambda number: number, COMMAND) == wire.Rehearsed(id="a", launches=(), stumbled=False)


def test_an_entry_that_raises_has_stumbled(rehearsal: Rehearsal) -> None:
    assert rehearsal.call(lambda number: 1 / (number - 1), COMMAND) == wire.Rehearsed(
        id="a", launches=(), stumbled=True
    )
