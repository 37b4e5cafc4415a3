"""Kernels of tapes: lowered by a compiler, and compared with those that a worker executed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from engine import protocol
from engine.errors import DeadlineError
from engine.processes.candidate_session import LoadError
from engine.run.proving.kernels import LoweredKernel, LoweredKernels, NotLoweredError, are_others
from tests.engine.replay.tapes import launch_record

if TYPE_CHECKING:
    from engine.processes.candidate_session import CandidateSession

MODULE = 'module { tt.return loc(#loc1) }\n#loc1 = loc("/tmp/5/candidate/k.py":3:1)\n'


def kernel(ttir: str = MODULE, arguments: tuple[str, ...] = ("x", "n")) -> LoweredKernel:
    return LoweredKernel(name="k", ttir=ttir, arguments=arguments)


@pytest.mark.parametrize(
    ("executed", "differs"),
    [
        (kernel(), False),
        (kernel(MODULE.replace("/tmp/5/candidate/", "")), False),
        (kernel(MODULE.replace("k.py", "other.py")), True),
        (kernel(MODULE.replace("tt.return", "tt.load")), True),
        (kernel(arguments=("x", "y")), True),
    ],
    ids=["same", "another folder", "another file", "another operation", "other arguments"],
)
def test_kernels_differ_in_all_but_folders(executed: LoweredKernel, *, differs: bool) -> None:
    assert are_others((kernel(), executed), (kernel(), kernel())) is differs


class _Stalling:
    """A compiler that does not lower anything in time; `asked` are its commands, `loads` counts its processes."""

    def __init__(self) -> None:
        self.asked: list[protocol.AnyCommand] = []
        self.loads = 0
        self.occupied = False

    async def load(self) -> None:
        self.loads += 1
        self.occupied = True

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        self.asked.append(command)
        raise DeadlineError("the compiler timed out")

    async def clear(self) -> None:
        self.occupied = False


async def test_no_kernel_is_lowered_after_two_took_too_long() -> None:
    session = _Stalling()
    kernels = LoweredKernels(session=cast("CandidateSession", session), target="sm_90")
    reasons = []
    for line in (1, 2, 2, 3):
        with pytest.raises(NotLoweredError) as raised:
            await kernels.of_launch(replace(launch_record("k"), line=line))
        reasons.append(str(raised.value))
    slow, not_tried = "no TTIR of k after 20 s", "no TTIR of k: not tried, as 2 others took more than 20 s"
    assert reasons == [slow, slow, slow, not_tried]
    assert (len(session.asked), session.loads, session.occupied) == (2, 2, False)


STATE = "f0" * 32


class _Lowering:
    """A compiler that lowers every kernel, but those of the name "closure"; `asked` are its commands."""

    occupied = True

    def __init__(self) -> None:
        self.asked: list[protocol.Lower] = []

    async def ask(self, command: protocol.Lower, *, deadline_s: float) -> protocol.AnyReply:
        self.asked.append(command)
        if command.launch.kernel == "closure":
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message="made by the entry")
        shared = "shared module" if command.shares else ""
        return protocol.Lowered(id=command.id, ttir="module", arguments=("x",), shared=shared)


async def test_shared_kernel_is_lowered_once() -> None:
    session = _Lowering()
    kernels = LoweredKernels(session=cast("CandidateSession", session), target="sm_90")
    assert await kernels.shared_text(launch_record("k"), STATE) == "shared module"
    assert (await kernels.of_launch(launch_record("k"))).ttir == "module"
    assert [command.shares for command in session.asked] == [STATE]


async def test_kernel_that_cannot_be_lowered_is_tried_once() -> None:
    session = _Lowering()
    kernels = LoweredKernels(session=cast("CandidateSession", session), target="sm_90")
    with pytest.raises(NotLoweredError, match="made by the entry"):
        await kernels.shared_text(launch_record("closure"), STATE)
    with pytest.raises(NotLoweredError, match="made by the entry"):
        await kernels.of_launch(launch_record("closure"))
    assert len(session.asked) == 1


class _Unloadable:
    """A compiler in which the candidate does not load."""

    occupied = False
    loads = 0

    async def load(self) -> None:
        self.loads += 1
        raise LoadError(protocol.Failed(id="i", kind=protocol.FailureKind.RAISED, message="no GPU"))


async def test_file_that_does_not_load_in_a_compiler_is_loaded_once() -> None:
    session = _Unloadable()
    kernels = LoweredKernels(session=cast("CandidateSession", session), target="sm_90")
    for line in (1, 2):
        with pytest.raises(NotLoweredError, match="the file does not load in a compiler: no GPU"):
            await kernels.of_launch(replace(launch_record("k"), line=line))
    assert session.loads == 1
