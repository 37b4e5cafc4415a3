"""A console in a folder of its own, and an engine that tells prepared events."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import Candidate, CaseResult, Launch, Outcome, Plan, Stage, Verdict
from engine.model.commands import CancelRun
from engine.model.events import (
    CaseFinished,
    Event,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
)
from kgtui.cli import main
from kgtui.cli.command_line import parse
from kgtui.cli.commands import bench, check, targets
from kgtui.cli.console import Console

SILU = """# kgtui: op=aten::silu
import torch


def silu(self):
    return self * torch.sigmoid(self)
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended, and what it printed."""

    exit_code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> type[Terminal]:
    return Terminal


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    return place


@pytest.fixture
def console(folder: Path, home: Path) -> Console:
    return Console(
        out=io.StringIO(), err=io.StringIO(), stdin=io.StringIO(), environment={"KGTUI_HOME": str(home)}, folder=folder
    )


@pytest.fixture
def kernel(folder: Path) -> Path:
    path = folder / "silu.py"
    path.write_text(SILU)
    return path


Typed = Callable[..., Ended]


@pytest.fixture
def typed(console: Console) -> Typed:
    """Type a command line."""

    def run(*arguments: object) -> Ended:
        exit_code = main.run([str(argument) for argument in arguments], console)
        return _ended(exit_code, console)

    return run


@dataclass
class PreparedEngine:
    """Starts nothing and tells what it was given; by default that every case passed."""

    outcome: Outcome = Outcome.PASS
    flagged: bool = False
    extra: Sequence[Event] = ()
    timed: Callable[[Plan], Sequence[Event]] = lambda plan: ()
    after: Sequence[Event] = ()
    ported: Sequence[Event] = ()
    asked_for: list[tuple[str, ...]] = field(default_factory=list)
    on_event: Callable[[Event], None] = lambda event: None
    plans: list[Plan] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    times: list[bool] = field(default_factory=list)
    closed: int = 0
    device_name: str = "a device"

    def __call__(
        self,
        *,
        device: str,
        artefacts: ArtefactStore,
        environment: Mapping[str, str],
        warm_target: str | None,
        times: bool = True,
    ) -> PreparedEngine:
        self.artefacts = artefacts
        self.times.append(times)
        return self

    async def __aenter__(self) -> PreparedEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed += 1

    def send(self, command: CancelRun) -> None:
        pass

    async def evaluate(
        self, candidate: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        self.plans.append(plan)
        self.candidates.append(candidate)
        for event in (*self._events(candidate, plan), *self.after):
            self.on_event(event)
            yield event

    async def retarget(
        self,
        candidate: Candidate,
        *,
        entry: str,
        launches: Sequence[Launch],
        targets: Sequence[str],
        after_s: float = 0.0,
        run_id: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        self.asked_for.append(tuple(targets))
        for event in self.ported:
            yield event

    def _events(self, candidate: Candidate, plan: Plan) -> Iterator[Event]:
        yield RunStarted(
            at_s=0.0,
            problem=candidate.problem,
            digest=candidate.digest,
            device=plan.device,
            device_name="a device",
            target=plan.target,
            cases=len(plan.cases),
        )
        yield StageStarted(at_s=0.1, stage=Stage.VERIFY, total=len(plan.cases))
        yield from self.extra
        for number, case in enumerate(plan.cases, start=1):
            result = CaseResult(case=case.name, tier=case.tier, outcome=self.outcome, elapsed_s=0.1, calls=1, seed=1)
            yield CaseFinished(at_s=0.2, number=number, total=len(plan.cases), result=result)
        yield StageFinished(at_s=0.3, stage=Stage.VERIFY, outcome=self.outcome, elapsed_s=0.2)
        yield from self.timed(plan)
        passed = len(plan.cases) if self.outcome is Outcome.PASS else 0
        verdict = Verdict(
            outcome=self.outcome, sentence="as prepared", passed=passed, total=len(plan.cases), flagged=self.flagged
        )
        yield RunFinished(at_s=0.4, verdict=verdict)


@pytest.fixture
def engine() -> PreparedEngine:
    return PreparedEngine()


@pytest.fixture
def checked(console: Console, engine: PreparedEngine) -> Typed:
    """Type `kgtui check`, with the prepared engine."""

    def run(*arguments: object) -> Ended:
        options = parse(["check", *map(str, arguments)]).options
        return _ended(check.run(options, console, engine_factory=engine), console)

    return run


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Device:
    """This machine has one GPU, as far as it is asked."""
    device = Device(platform="cuda", index=0, name="A GPU", target="sm_90")
    monkeypatch.setattr("engine.devices.cuda.detect", lambda: (device,))
    return device


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has no GPU, as far as it is asked."""
    monkeypatch.setattr("engine.devices.cuda.detect", tuple)


@pytest.fixture
def benched(console: Console, engine: PreparedEngine) -> Typed:
    """Type `kgtui bench`, with the prepared engine."""

    def run(*arguments: object) -> Ended:
        options = parse(["bench", *map(str, arguments)]).options
        return _ended(bench.run(options, console, engine_factory=engine), console)

    return run


@pytest.fixture
def targeted(console: Console, engine: PreparedEngine) -> Typed:
    """Type `kgtui targets`, with the prepared engine."""

    def run(*arguments: object) -> Ended:
        options = parse(["targets", *map(str, arguments)]).options
        return _ended(targets.run(options, console, engine_factory=engine), console)

    return run


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user of the machine can reach, unlike pytest's own."""
    place = Path(tempfile.mkdtemp(prefix="kgtui-test-"))
    place.chmod(0o755)
    yield place
    place.chmod(0o755)
    shutil.rmtree(place)


def _ended(exit_code: int, console: Console) -> Ended:
    out, err = console.out, console.err
    assert isinstance(out, io.StringIO)
    assert isinstance(err, io.StringIO)
    ended = Ended(exit_code=exit_code, out=out.getvalue(), err=err.getvalue())
    for stream in (out, err):
        stream.seek(0)
        stream.truncate()
    return ended
