"""Calls that ask for an extension are made again once that is built, and end with the reason where it is not."""

from __future__ import annotations

from engine import protocol
from engine.model import Outcome
from engine.run.native.calls import with_extensions
from engine.verdict.decide import Stop

REQUEST = protocol.ExtensionRequest(name="mine", sources=())
LACKING = Stop(outcome=Outcome.UNSUPPORTED, message="not built")
REFUSED = Stop(outcome=Outcome.COMPILE_ERROR, message="no")


NEEDED = protocol.Failed(id="i", kind=protocol.FailureKind.EXTENSION, message="m", extension=REQUEST)


class Case:
    """A case whose first call lacks an extension where `lacks`; `done` is what was asked of it."""

    def __init__(self, *, lacks: bool, refusal: Stop | None = None) -> None:
        self.failed: protocol.Failed | None = NEEDED if lacks else None
        self.done: list[str] = []
        self._refusal = refusal

    async def run(self) -> Stop | None:
        return await with_extensions(self, Case._calls, build=self._build, restart=Case._restart)

    async def _calls(self) -> Stop | None:
        self.done.append("calls")
        return LACKING if self.failed is not None else None

    async def _build(self, request: protocol.ExtensionRequest) -> Stop | None:
        self.done.append(f"build {request.name}")
        return self._refusal

    async def _restart(self) -> None:
        self.done.append("restart")
        self.failed = None


async def test_calls_are_repeated_after_extension_is_built() -> None:
    case = Case(lacks=True)
    assert await case.run() is None
    assert case.done == ["calls", "build mine", "restart", "calls"]


async def test_calls_fail_without_built_extension() -> None:
    case = Case(lacks=True, refusal=REFUSED)
    assert await case.run() is REFUSED
    assert case.done == ["calls", "build mine"]


async def test_calls_that_lack_nothing_are_made_once() -> None:
    case = Case(lacks=False)
    assert await case.run() is None
    assert case.done == ["calls"]
