"""Outputs of a replay on a device are copied to the judge's memory as contiguous bytes."""

from __future__ import annotations

import pytest
import torch
from msgspec.structs import replace

from engine import protocol
from engine.protocol.proof.tape import TapedView
from engine.replay.device.backend import DeviceReplayArena
from engine.replay.device.memory import DeviceMemory
from engine.replay.execution import LaunchEffects, replay
from tests.engine.replay.tapes import BYTES, content, tape

ARENA = protocol.ArenaSpec(path="/nowhere", storages=(), bytes=BYTES)
NONE = LaunchEffects(used=frozenset(), stored=frozenset())


@pytest.mark.parametrize(
    ("shape", "strides", "elements"),
    [((1,), (2,), [1]), ((1, 1), (7, 3), [1]), ((2,), (3,), [1, 4]), ((0,), (5,), [])],
    ids=["one element", "one element of a matrix", "every third", "none"],
)
def test_strided_output_is_copied(shape: tuple[int, ...], strides: tuple[int, ...], elements: list[int]) -> None:
    view = TapedView(storage=0, dtype="float32", offset_bytes=4, shape=shape, strides=strides)
    recorded = replace(tape(storages=1), returned=(view,))
    given = torch.from_numpy(content())
    memory = DeviceMemory(recorded, [given], launch=lambda *_: NONE, noise=torch.Generator())
    command = protocol.ReplayTape(
        id="r", tape=recorded, kernels=(), arena=ARENA, outputs="", max_output_bytes=64, most_bytes=1 << 20
    )
    place = torch.zeros(4096, dtype=torch.uint8)
    arena = DeviceReplayArena(command=command, memory=memory, storages=[given], outputs=place)
    (spec,) = arena.leave(replay(recorded, memory))
    assert (spec.shape, spec.bytes) == (shape, 4 * len(elements))
    copied = place[spec.offset : spec.offset + spec.bytes].view(torch.float32)
    assert copied.tolist() == given.view(torch.float32)[elements].tolist()
