"""A verifier whose judge and worker are played: each answers at once, and what they were asked is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.model import (
    Candidate,
    Case,
    CaseResult,
    DType,
    Limits,
    Outcome,
    OutputReport,
    Plan,
    Tier,
    events,
)
from engine.model.native import Extension, ExtensionKind
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.run.native.building import NativeCode
from engine.run.stages.verification import Verifier
from engine.run.stages.verify_stage import VerifyingStage
from engine.verdict.decide import Stop
from tests.engine.toy_problem import toy_problem

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}) for name in "abcd")
A, B, C, D = CASES
PROBLEM = toy_problem(*CASES)
CANDIDATE = Candidate(source=b"", problem="toy::twice")
DIGEST = "d" * 64
ARENA = protocol.ArenaSpec(handle="0f" * 64, block_bytes=4096, storages=(), bytes=1024)


class Setting:
    """A verifier whose judge and worker are played here, on a device, or on the CPU without a `target`.

    `asked` is what they were, a word each, and `hashed` the calls whose outputs are hashed; `wrong` are the comparisons
    that come out wrong, and `breaks` the calls at which the worker dies, as numbers of a case's calls: "b2" is the
    second of case b.  `prepared_at` are the places of cases in the judge.
    """

    def __init__(self, employ: Employ, *, target: str | None = "sm_90", has_native_code: bool = False) -> None:
        self.asked: list[str] = []
        self.observed: list[str] = []
        self.tapes: list[str] = []
        self.explained: list[str] = []
        self.hashed: list[str] = []
        self.wrong: set[str] = set()
        self.breaks: set[str] = set()
        self.on_ask: Callable[[str], bool] = lambda word: True
        self.emitted = EventEmitter(lambda: 0.0, started=0.0)
        self.results: list[CaseResult] = []
        self.fork_server, self.process_pool = employ(self._play, target=target)
        self.process_pool.share_no_more("no shared memory here")
        self.session = CandidateSession(
            LoadRequest(candidate=CANDIDATE, entry="f"),
            spare=self.process_pool.worker,
            limits=Limits(case_s=60.0),
            on_log=lambda *_: None,
        )
        plan = Plan(problem=PROBLEM, cases=CASES, device="cuda", target=None)
        profile = Profile(lambda: 0.0, started=0.0)
        native = NativeCode(
            candidate=CANDIDATE, target=target, extensions=self.process_pool.extensions,
            artefacts=ArtefactStore(folder=Path("/nonexistent")), emitter=self.emitted, profile=profile,
        )  # fmt: skip
        if has_native_code:
            native.read([Extension(kind=ExtensionKind.INLINE, name="twice", line=1)])
        self.verifier = Verifier(
            plan=plan,
            process_pool=self.process_pool,
            session=self.session,
            profile=profile,
            emitter=self.emitted,
            native=native,
            on_launch=lambda *_: None,
        )
        self._case_at: dict[int, str] = {}
        self._calls: Counter[str] = Counter()
        self.prepared_at: dict[str, int] = {}
        self._taken: dict[str, str] = {}

    @property
    def worker(self) -> int:
        """The pid of the worker that was forked last."""
        return self.fork_server.pids_of("worker")[-1]

    async def verify(self, case: Case) -> CaseResult:
        return await self.verifier.end(await self.verifier.begin(case))

    async def run(self, *cases: Case) -> Stop | None:
        stage = VerifyingStage(
            cases=cases,
            verifier=self.verifier,
            session=self.session,
            emitter=self.emitted,
            results=self.results,
        )
        return await stage.run()

    async def events(self) -> list[events.Event]:
        self.emitted.close()
        return [event async for event in self.emitted.stream()]

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Load):
            return protocol.Loaded(id=command.id)
        word, reply = self._answer(command)
        self.asked.append(word)
        if word in self.breaks:
            self.fork_server.die(self.worker)
            return None
        return reply if self.on_ask(word) else None

    def _answer(self, command: protocol.AnyCommand) -> tuple[str, protocol.AnyReply]:
        match command:
            case protocol.Prepare():
                self._case_at[command.place], self._calls[command.case] = command.case, 0
                self.prepared_at[command.case] = command.place
                return f"prepare {command.case}", protocol.Prepared(
                    id=command.id, arguments=(), arena=ARENA, elapsed_s=0.0
                )
            case protocol.Call():
                self._calls[command.case] += 1
                name = f"{command.case}{self._calls[command.case]}"
                self.observed += [name] if command.observe else []
                self.tapes += [command.tape] if command.tape else []
                called = protocol.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)
                return name, called
            case protocol.Compare():
                name = self._call_at(command.place)
                self.explained += [name] if command.explain else []
                self.hashed += [name] if command.hash_outputs else []
                return f"compare {name}", self._compared(command.id, name, seed=None)
            case protocol.TakeSnapshot():
                self._taken[command.id] = self._call_at(command.place)
                self.explained += [self._taken[command.id]] if command.explain else []
                self.hashed += [self._taken[command.id]] if command.hash_outputs else []
                return f"take {self._taken[command.id]}", protocol.Done(id=command.id)
            case protocol.CompareSnapshot():
                name = self._taken.pop(command.taken)
                return f"conclude {name}", self._compared(command.id, name, seed=5 if command.ends else None)
            case protocol.Refill():
                return "refill", protocol.Done(id=command.id)
            case protocol.Release():
                return f"release {self._case_at[command.place]}", protocol.Released(id=command.id, seed=4)
        raise AssertionError(f"unexpected command {command}")

    def _call_at(self, place: int) -> str:
        return f"{self._case_at[place]}{self._calls[self._case_at[place]]}"

    def _compared(self, identifier: str, name: str, *, seed: int | None) -> protocol.Compared:
        outcome = Outcome.WRONG_VALUE if name in self.wrong else Outcome.PASS
        report = OutputReport(name="return", outcome=outcome, message=f"{name} is {outcome}", total=4)
        return protocol.Compared(
            id=identifier, reports=(report,), repeated=None, mutated=None, seed=seed,
            outputs_digest=DIGEST if name in self.hashed else None,
        )  # fmt: skip


def hold_until(setting: Setting, call: str, other: str) -> None:
    """Have the worker answer `call` only when `other` has been asked."""
    held: list[bytes] = []
    play = setting._play

    def hold(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        reply = play(kind, command)
        assert reply is not None
        if setting.asked[-1:] == [call] and other not in setting.asked:
            held.append(protocol.encode(reply))
            return None
        if setting.asked[-1:] == [other] and held:
            setting.fork_server.say(setting.worker, held.pop())
        return reply

    setting.fork_server.answer = hold
