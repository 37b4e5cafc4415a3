"""The tape of a call whose new tensors have guard zones is that of a call without: zones are not the candidate's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import SimpleNamespace

import msgspec
import pytest
import torch

from engine.loading.poison import Poison
from engine.protocol.proof.tape import Tape, read_tape
from engine.worker.launches.recorder import _Launch
from engine.worker.monitor.device.guard_zones import GuardZones
from engine.worker.monitor.operators.ledger import Ledger
from engine.worker.taping.recorder import TapeRecorder
from tests.engine.worker.taping.test_graphs import double_kernel

CPU = torch.device("cpu")
KEPT = SimpleNamespace(made=torch.empty(0))


def launch(recorder: TapeRecorder, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    values = {"x": x, "y": y, "n": x.numel()}
    with recorder.launching(_Launch(function=double_kernel.fn, sizes=(1, 1, 1), values=values, options={})):
        return y


def into_new_memory(recorder: TapeRecorder, x: torch.Tensor) -> torch.Tensor:
    return launch(recorder, x, torch.empty_like(x))


def through_several_tensors(recorder: TapeRecorder, x: torch.Tensor) -> torch.Tensor:
    scratch = launch(recorder, x, torch.zeros(4, 8)[1:].view(-1)[:8])
    return launch(recorder, scratch, x.new_full((8,), 2.0)).clone()


def through_kept_memory(recorder: TapeRecorder, x: torch.Tensor) -> torch.Tensor:
    if not KEPT.made.numel():
        KEPT.made = torch.ones(8)
    return launch(recorder, KEPT.made, torch.empty(8))


def through_enlarged_memory(recorder: TapeRecorder, x: torch.Tensor) -> torch.Tensor:
    return launch(recorder, x, torch.empty(2).resize_(1 << 14)[:8])


def tape_of(entry: Callable[[TapeRecorder, torch.Tensor], torch.Tensor], *, guarded: bool) -> Tape:
    """The tape of the second call of the entry."""
    recorder = TapeRecorder()
    ledger = Ledger(recorder)
    given = torch.arange(8.0)
    KEPT.made = torch.empty(0)
    text = b""
    for _ in range(2):
        zones = GuardZones(0xFF, CPU)
        with (
            zones if guarded else contextlib.nullcontext(), Poison(0xFF), ledger.of_call("case", (given,)),
            recorder.of_call((given.view(torch.uint8),), __file__),
        ):  # fmt: skip
            text = recorder.tape((entry(recorder, given),))
        zones.check()
    return read_tape(text)


@pytest.mark.parametrize("entry", [into_new_memory, through_several_tensors, through_kept_memory])
def test_tape_of_a_guarded_call_is_that_of_a_call_without_zones(
    entry: Callable[[TapeRecorder, torch.Tensor], torch.Tensor],
) -> None:
    guarded, plain = (msgspec.structs.replace(tape_of(entry, guarded=one), addresses=()) for one in (True, False))
    assert guarded == plain
    assert (guarded.incomplete, len(guarded.storages) > 1) == ("", True)


def test_enlarged_memory_is_on_the_tape_of_a_guarded_call_as_a_whole() -> None:
    guarded, plain = (tape_of(through_enlarged_memory, guarded=guarded) for guarded in (True, False))
    assert guarded.storages == plain.storages  # its content is what was there before
