"""Storages of a tape have the bytes that the candidate asked for, also where an earlier call put zones behind them."""

from __future__ import annotations

import torch

from engine.protocol.proof.tape import Given, TapedView, read_tape
from engine.worker.monitor.device.guard_zones import GuardZones
from engine.worker.taping.recorder import TapeRecorder

CPU = torch.device("cpu")


def test_memory_of_verified_call_is_taped_without_its_zone() -> None:
    with GuardZones(0xFF, CPU) as zones:
        counters = torch.zeros(4, dtype=torch.int32)
    zones.check()
    recorder = TapeRecorder()
    with recorder.of_call((), __file__):
        recorder.taken((counters,))
        tape = read_tape(recorder.tape((counters,)))
    (step,) = tape.steps
    assert isinstance(step, Given)
    assert (step.data, [storage.bytes for storage in tape.storages]) == (bytes(16), [16])
    assert tape.returned == (TapedView(storage=0, dtype="int32", offset_bytes=0, shape=(4,), strides=(1,)),)
