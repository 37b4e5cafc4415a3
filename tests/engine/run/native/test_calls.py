"""A call that asks for an extension is made again once that is built, and ends with the reason where it is not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from engine import protocol
from engine.model import Outcome
from engine.processes.candidate_session import CandidateSession
from engine.profile import Profile
from engine.run.native.calls import asked
from engine.verdict.decide import Stop

REQUEST = protocol.ExtensionRequest(name="mine", sources=())
CALL = protocol.Call(
    id="i", case="c", arguments=(), arena=protocol.ArenaSpec(path="/a", storages=(), bytes=256), outputs="/o",
    max_output_bytes=1, poison=0,
)  # fmt: skip
CALLED = protocol.Called(id="i", returned=(), launches=(), elapsed_s=0.0)
NEEDED = protocol.Failed(id="i", kind=protocol.FailureKind.EXTENSION, message="m", extension=REQUEST)
REFUSED = Stop(outcome=Outcome.COMPILE_ERROR, message="no")


@dataclass
class FakeSession:
    """Stands for a CandidateSession; `done` is what was asked of it."""

    replies: list[protocol.AnyReply]
    done: list[str] = field(default_factory=list)

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        self.done.append("call")
        return self.replies.pop(0)

    async def clear(self) -> None:
        self.done.append("clear")

    async def load(self) -> None:
        self.done.append("load")


async def reply_of(session: FakeSession, stop: Stop | None) -> protocol.AnyReply | Stop:
    async def build(request: protocol.ExtensionRequest) -> Stop | None:
        session.done.append(f"build {request.name}")
        return stop

    profile = Profile(lambda: 0.0, started=0.0)
    return await asked(cast(CandidateSession, session), CALL, deadline_s=1.0, build=build, profile=profile)


async def test_a_call_is_made_again_after_its_extension_is_built() -> None:
    session = FakeSession([NEEDED, CALLED])
    assert await reply_of(session, None) == CALLED
    assert session.done == ["call", "build mine", "clear", "load", "call"]


async def test_a_call_ends_where_its_extension_is_not_built() -> None:
    session = FakeSession([NEEDED])
    assert await reply_of(session, REFUSED) == REFUSED
    assert session.done == ["call", "build mine"]
