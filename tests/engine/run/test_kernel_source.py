"""The tape of a timed case goes from the candidate's worker to a replayer, or a reason comes back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from engine import protocol
from engine.devices import Device
from engine.model import Case, DType, Tier
from engine.protocol.proof.tape import Tape
from engine.run.kernel_source import TapedKernels
from engine.run.proving.kernels import LoweredKernel, NotLoweredError
from engine.run.proving.replayer import PersistentReplayer
from engine.timing.kernel_times import NotTimedError
from tests.engine.replay.tapes import BYTES, DOUBLE, launched, tape, vector

CASE = Case(name="6 f32", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
LAYOUT = protocol.SlotLayout(
    handle="ab", bytes=1 << 20, first=0, stride=4096, slots=2,
    storages=(protocol.StorageSpec(offset=256, bytes=BYTES),), outputs=protocol.StorageSpec(offset=512, bytes=BYTES),
)  # fmt: skip
ARRANGED = protocol.Arranged(id="a", arguments=(), layouts=(LAYOUT,), slot_bytes=4096, l2_bytes=1 << 20)


class Session:
    """A worker that leaves a tape, or fails."""

    def __init__(self, shared: Path, recorded: Tape | None) -> None:
        self.shared, self.recorded = shared, recorded

    async def ask(self, command: Any, *, deadline_s: float) -> protocol.AnyReply:
        if self.recorded is None:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="it raised")
        Path(command.tape).write_bytes(msgspec.json.encode(self.recorded))
        return protocol.Done(id=command.id)


class Kernels:
    """Lowers every launch to the same kernel, or to none."""

    def __init__(self, refused: str = "") -> None:
        self.refused = refused

    async def of_tape(self, recorded: Tape) -> tuple[LoweredKernel, ...]:
        if self.refused:
            raise NotLoweredError(self.refused)
        return (LoweredKernel(name="k", ttir=DOUBLE, arguments=("x", "y", "n")),)


class Child:
    """A replayer that carries out everything but what it `refuses`."""

    alive, fault = True, None

    def __init__(self, refuses: type[Any] | None = None) -> None:
        self.refuses = refuses
        self.asked: list[Any] = []

    async def ask(self, command: Any, *, deadline_s: float) -> protocol.AnyReply:
        self.asked.append(command)
        if self.refuses is not None and isinstance(command, self.refuses):
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="not here")
        return protocol.Done(id=command.id)


def source(folder: Path, recorded: Tape | None, *, refused: str = "", child: Child | None = None) -> TapedKernels:
    async def take() -> Any:
        workspace = SimpleNamespace(shared=folder, folder=folder)
        return SimpleNamespace(child=child or Child(), workspace=workspace)

    pool: Any = SimpleNamespace(replayer=SimpleNamespace(take=take))
    session: Any = Session(folder, recorded)
    processes: Any = SimpleNamespace(kernels=Kernels(refused), replayer=PersistentReplayer(pool))
    device = Device(platform="cuda", index=0, name="H100")
    return TapedKernels(session=session, processes=processes, device=device)


RECORDED = tape(launched(vector(0), vector(1)))


async def test_replayer_gets_kernels_and_tape(tmp_path: Path) -> None:
    child = Child()
    side = await source(tmp_path, RECORDED, child=child).side(CASE, ARRANGED)
    assert [type(command) for command in child.asked] == [protocol.HoldKernel, protocol.TimeTape]
    assert (child.asked[-1].tape, child.asked[-1].sizes) == (RECORDED, (BYTES,))
    await side.ask(protocol.CloseSlots(id="c"), deadline_s=1.0)
    assert isinstance(child.asked[-1], protocol.CloseSlots)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("recorded", "refused", "refuses", "words"),
    [
        (None, "", None, "the call was not recorded: it raised"),
        (msgspec.structs.replace(RECORDED, incomplete="a graph"), "", None, "the call was not recorded: a graph"),
        (RECORDED, "no TTIR", None, "no TTIR"),
        (RECORDED, "", protocol.HoldKernel, "not here"),
        (RECORDED, "", protocol.TimeTape, "not here"),
    ],
    ids=["call", "incomplete", "lowering", "module", "tape"],
)
async def test_cases_that_cannot_be_timed_have_a_reason(
    tmp_path: Path, recorded: Tape | None, refused: str, refuses: type[Any] | None, words: str
) -> None:
    with pytest.raises(NotTimedError, match=words):
        await source(tmp_path, recorded, refused=refused, child=Child(refuses)).side(CASE, ARRANGED)
