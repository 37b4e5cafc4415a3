"""The replayer of a run gets modules and binaries once, and another one where it has died."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import DeadlineError, EngineError
from engine.processes.builds.binaries import Binaries
from engine.processes.child import Child
from engine.run.proving.binaries import BinaryBuilds
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.replayer import PersistentReplayer
from tests.engine.replay.tapes import DOUBLE, launch_record, launched, tape, vector

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

KERNEL = LoweredKernel(name="k", ttir=DOUBLE, arguments=("x", "y", "n"))
LAUNCH = launch_record()
WIDE = replace(LAUNCH, num_warps=8)
TAPE = tape(launched(vector(0), vector(1)))
BINARY = protocol.KernelBinary(
    name="double",
    code=b"code",
    threads=128,
    shared_bytes=0,
    scratch_bytes=0,
    parameters=(8, 8),
    stages=b"stages",
)


class Device:
    """A replayer and compilers of one run: `commands` are those that the replayers got."""

    def __init__(
        self, employ: Employ, *, refuses: type | None = None, losing: bool = False, is_kept: bool = False
    ) -> None:
        self.commands: list[protocol.AnyCommand] = []
        self.built = 0
        self._refuses, self._losing = refuses, losing
        self.fork_server, pool = employ(self._reply, target="sm_90")
        self.builds = BinaryBuilds(Binaries(pool._start_compiler, most=2), target="sm_90")
        self.pool = pool
        self.replayer = PersistentReplayer(pool, self.builds, is_kept=is_kept)

    @property
    def names(self) -> list[str]:
        return [type(command).__name__ for command in self.commands]

    def _reply(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes:
        if isinstance(command, protocol.BuildBinary):
            self.built += 1
            return b"noise\n" if self._losing else protocol.BinaryBuilt(id=command.id, binary=BINARY)
        self.commands.append(command)
        if self._refuses is not None and isinstance(command, self._refuses):
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="not here")
        return protocol.Done(id=command.id)


async def test_kernels_are_held_once_with_each_options_binary(employ: Employ) -> None:
    device = Device(employ)
    for launch in (LAUNCH, WIDE, LAUNCH):
        assert await device.replayer.hold((KERNEL,), (launch,)) == ""
    assert device.names == ["LimitReading", "HoldKernel", "HoldBinary", "HoldBinary"]
    held = [command for command in device.commands if isinstance(command, protocol.HoldBinary)]
    assert [(one.kernel, one.options.num_warps, one.binary) for one in held] == [
        ("k", 4, BINARY.for_launches),
        ("k", 8, BINARY.for_launches),
    ]
    await device.replayer.close()


async def test_another_replayer_gets_the_built_binaries(employ: Employ) -> None:
    device = Device(employ)
    await device.replayer.hold((KERNEL,), (LAUNCH,))
    await device.replayer.close()
    assert await device.replayer.hold((KERNEL,), (LAUNCH,)) == ""
    assert (device.names.count("HoldBinary"), device.built) == (2, 1)
    await device.replayer.close()


@pytest.mark.parametrize("refused", [protocol.HoldKernel, protocol.HoldBinary])
async def test_reason_is_refusal_of_replayer(employ: Employ, refused: type) -> None:
    device = Device(employ, refuses=refused)
    assert await device.replayer.hold((KERNEL,), (LAUNCH,)) == "not here"
    await device.replayer.close()


async def test_kernel_ending_its_compilers_is_tried_three_times(employ: Employ) -> None:
    device = Device(employ, losing=True)
    launches = [replace(LAUNCH, num_warps=warps) for warps in (1, 2, 4, 8)]
    reasons = [await device.replayer.hold((KERNEL,), (launch,)) for launch in launches]
    assert [reason.partition(":")[0] for reason in reasons] == [
        *["the TTIR of double could not be compiled"] * 3, "the TTIR of double was not compiled"
    ]  # fmt: skip
    assert device.built == 6
    await device.replayer.close()


async def test_replayer_with_malformed_reply_is_ended(employ: Employ) -> None:
    device = Device(employ)
    await device.replayer.hold((KERNEL,), (LAUNCH,))
    device.fork_server.answer = lambda *_: b"noise\n"
    with pytest.raises(EngineError):
        await device.replayer.ask(protocol.CloseSlots(id="c"), deadline_s=5.0)
    device.fork_server.answer = device._reply
    assert await device.replayer.hold((KERNEL,), (LAUNCH,)) == ""
    assert device.names.count("LimitReading") == 2
    await device.replayer.close()


async def test_replayer_that_hangs_is_ended(employ: Employ, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(employ)
    await device.replayer.hold((KERNEL,), (LAUNCH,))

    async def hang(self: Child, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        raise DeadlineError("the replayer timed out")

    with monkeypatch.context() as patched:
        patched.setattr(Child, "ask", hang)
        with pytest.raises(DeadlineError):
            await device.replayer.ask(protocol.CloseSlots(id="c"), deadline_s=5.0)
    assert await device.replayer.hold((KERNEL,), (LAUNCH,)) == ""
    assert device.names.count("LimitReading") == 2
    await device.replayer.close()


async def test_kept_replayer_serves_the_next_run_emptied(employ: Employ) -> None:
    device = Device(employ, is_kept=True)
    for _ in range(2):
        assert await device.replayer.hold((KERNEL,), (LAUNCH,)) == ""
        await device.replayer.close()
    names = ["HoldKernel", "HoldBinary", "DropKernels"]
    assert device.names == ["LimitReading", *names, *names]
    assert device.fork_server.forked.count("replayer") == 1


@pytest.mark.parametrize("refused", [protocol.TimeTape, protocol.DropKernels])
async def test_replayer_that_timed_or_stays_full_is_ended(employ: Employ, refused: type) -> None:
    device = Device(employ, is_kept=True, refuses=refused)
    await device.replayer.hold((KERNEL,), (LAUNCH,))
    if refused is protocol.TimeTape:
        command = protocol.TimeTape(id="t", tape=TAPE, kernels=("k",), arguments=(), sizes=(), most_bytes=1)
        await device.replayer.ask(command, deadline_s=5.0)
    process = device.replayer._process
    assert process is not None
    await device.replayer.close()
    assert not process.child.alive


async def test_replayer_cancelled_in_a_command_is_not_kept(employ: Employ) -> None:
    device = Device(employ, is_kept=True)
    await device.replayer.hold((KERNEL,), (LAUNCH,))
    process, device.fork_server.answer = device.replayer._process, lambda *_: None
    asking = asyncio.create_task(device.replayer.ask(protocol.CloseSlots(id="c"), deadline_s=5.0))
    for _ in range(5):
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert process is not None
    await device.replayer.close()
    assert not process.child.alive
