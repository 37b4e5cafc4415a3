"""A provider with scripted answers, and a verifier that decides by words in the source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from engine.model import Outcome, Problem, Verdict
from engine.model.benchmark import Interval, Summary
from engine.reports.run_record import RunRecord
from kgtui.generation.records import AnswerEnded, Chunk, CompletionRequest, TextArrived
from kgtui.generation.verifying import Watch, ignore_events
from sessions.candidates.generation_rows import Stop, TokenUsage

USAGE = TokenUsage(input_tokens=100, output_tokens=50)


def answer(words: str = "", entry: str = "softmax") -> str:
    """An answer with one file; the words in its comment decide what FakeVerifier makes of it."""
    return f"```python\ndef {entry}(self):\n    return self  # {words}\n```\n"


@dataclass
class ScriptedProvider:
    """Answers from a list, or with the errors in it; `usage` of None is not reported."""

    answers: list[str | BaseException] = field(default_factory=list)
    usage: TokenUsage | None = USAGE
    reported_microusd: int | None = None
    failure: str = ""
    requests: list[CompletionRequest] = field(default_factory=list)
    gate: asyncio.Event | None = None
    """Where set, each answer waits for it after its first word."""

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(said, BaseException):
            raise said
        head, space, rest = said.partition(" ")
        yield TextArrived(text=head)
        if self.gate is not None:
            await self.gate.wait()
        yield TextArrived(text=space + rest)
        yield AnswerEnded(
            stop=Stop.COMPLETE, usage=self.usage, reported_microusd=self.reported_microusd, failure=self.failure
        )

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass
class FakeVerifier:
    """A run for each source: "wrong" in it fails, "cheat" is flagged, "fast N" is N times as fast as eager."""

    number_of: Callable[[], int | None] = lambda: None
    sources: list[bytes] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    async def verify(self, problem: Problem, source: bytes, *, name: str, watch: Watch = ignore_events) -> RunRecord:
        self.sources.append(source)
        self.names.append(name)
        return finished(problem.name, source.decode(), number=self.number_of())


def finished(problem: str, text: str, *, number: int | None) -> RunRecord:
    """A run as FakeVerifier decides it."""
    outcome = Outcome.WRONG_VALUE if "wrong" in text else Outcome.PASS
    flagged = "cheat" in text
    verdict = Verdict(
        outcome=outcome,
        sentence="max error 3.1e-2" if "wrong" in text else "all cases passed",
        passed=0 if "wrong" in text else 1,
        total=1,
        flagged=flagged,
    )
    return RunRecord(
        problem=problem, digest="d", device="cpu", device_name="a device", file="softmax.py", number=number,
        verdict=verdict, summaries=_summaries(text),
    )  # fmt: skip


def _summaries(text: str) -> Sequence[Summary]:
    if "fast" not in text:
        return ()
    value = float(text.partition("fast")[2].split()[0])
    speedup = Interval(value=value, low=value, high=value)
    return (Summary(baseline="eager", speedup=speedup, cases=1, planned=1, fast={}),)
