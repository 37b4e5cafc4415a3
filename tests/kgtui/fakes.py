"""Doubles at the seams of the screen: an engine that replays events, a store in memory, three operators.

The doubles keep to `kgtui.ports.protocols`; nothing here starts a process or opens a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from engine.errors import StoreError, UsageError
from engine.model import (
    Artefact,
    Candidate,
    Case,
    CaseResult,
    CompiledKernel,
    Cost,
    DType,
    Finding,
    Launch,
    Location,
    Outcome,
    OutOfBounds,
    OutputReport,
    Plan,
    Problem,
    ProblemDefinition,
    Severity,
    Stage,
    Stream,
    Tier,
    Tolerance,
    Verdict,
    WrongElement,
)
from engine.model.commands import CancelRun
from engine.model.events import (
    CaseFinished,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelDisassembled,
    KernelLaunched,
    KernelPorted,
    LogWritten,
    OtherLoaded,
    PortDisassembled,
    PortingFinished,
    PortingStarted,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
)
from engine.problem_source import ProblemDescription
from engine.run.cancelling import RunsInProgress
from kgtui.history.store_admin import StoreAdmin
from kgtui.ports.file_events import Saved, WatchTrouble
from kgtui.ports.protocols import BestRun, LastRun, PastRun, RecentFile, StoreNotice
from kgtui.ports.requests import RunRequest
from kgtui.settings.preferences import Preferences, setting_line
from problems.catalogue import Catalogue
from sessions import open_memory_store

NOW = datetime(2026, 3, 14, 15, 9, tzinfo=UTC)
SOURCE = b'''import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    """One row a program."""
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    numerator = tl.exp(x)
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * cols + offsets, y, mask=mask)


def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty_like(x)
    softmax_kernel[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
    return y
'''
PTX = """.version 8.7
.target sm_90a
.visible .entry softmax_kernel(
    .param .u64 .ptr .global .align 1 softmax_kernel_param_0
)
{
    .reg .b32 %r<40>;
    .loc 1 9 25
    mov.u32 %r1, %ctaid.x;
    .loc 1 12 17
    ld.global.b32 { %r2 }, [ %rd1 + 0 ];
    .loc 1 14 22
    ex2.approx.f32 %r3, %r2;
    ret;
}
"""


def softmax_problem() -> Problem:
    """Row softmax with eight cases in two tiers, and one too heavy to be in a plan."""
    shapes = ((1, 781), (4, 1), (127, 128), (128, 127))
    smoke = [
        _case(rows, cols, dtype, Tier.SMOKE) for rows, cols in shapes[:2] for dtype in (DType.FLOAT32, DType.BFLOAT16)
    ]
    full = [
        _case(rows, cols, dtype, Tier.FULL) for rows, cols in shapes[2:] for dtype in (DType.FLOAT32, DType.FLOAT16)
    ]
    heavy = [_case(4096, 131072, DType.FLOAT32, Tier.BENCH)]
    return _problem(
        "aten::softmax",
        "softmax",
        "reduction",
        (*smoke, *full, *heavy),
        "softmax(x: Tensor, dim: int) -> Tensor",
        "y[i, j] = exp(x[i, j] - max_i) / sum_j exp(x[i, j] - max_i)",
    )


def catalogue() -> tuple[Problem, ...]:
    """Three operators of three sources."""
    return (
        softmax_problem(),
        _problem(
            "vllm::rms_norm",
            "rms_norm",
            "normalization",
            (_case(8, 64, DType.BFLOAT16, Tier.SMOKE),),
            "rms_norm(out: Tensor, input: Tensor, weight: Tensor, epsilon: float) -> None",
            "out = input / rms(input) * weight",
            mutates=("out",),
        ),
        _problem(
            "cublas::cublasSaxpy_v2",
            "cublasSaxpy_v2",
            "blas",
            (_case(1, 1000, DType.FLOAT32, Tier.SMOKE),),
            "cublasSaxpy_v2(n: int, alpha: float, x: Tensor, y: Tensor) -> None",
            "y = alpha * x + y",
            mutates=("y",),
        ),
    )


REFERENCE_FILE = Path(__file__).with_name("reference_operator.py")


def described(problem: Problem) -> ProblemDescription:
    """The problem as its file describes it, or would if it had one."""
    if problem.source == Catalogue().id:
        return Catalogue().describe(problem.name)
    return ProblemDescription(
        source=problem.source,
        name=problem.name,
        entry=problem.entry,
        signature=problem.signature,
        summary=problem.summary,
        category=problem.category,
        formula=problem.summary,
        contract="",
        file=REFERENCE_FILE,
        dtypes=tuple(dict.fromkeys(case.dtype for case in problem.cases)),
    )


def descriptions() -> tuple[ProblemDescription, ...]:
    """The operators of `catalogue` as their files would describe them."""
    return tuple(map(described, catalogue()))


class Problems:
    """An index of the operators that `catalogue` returns, and sentences on broken files."""

    def __init__(self, catalogue: Callable[[], tuple[Problem, ...]] = catalogue, broken: tuple[str, ...] = ()) -> None:
        self._catalogue = catalogue
        self._broken = broken

    def descriptions(self) -> tuple[tuple[ProblemDescription, ...], tuple[str, ...]]:
        by_name = {problem.name: described(problem) for problem in self._catalogue()}
        return tuple(by_name.values()), self._broken

    def find(self, name: str) -> Problem:
        for problem in reversed(self._catalogue()):
            if problem.name == name:
                return problem
        raise UsageError(f"there is no operator called {name!r}")


def _case(rows: int, cols: int, dtype: DType, tier: Tier) -> Case:
    return Case(name=f"{rows}x{cols} {dtype.short}", dtype=dtype, tier=tier, params={"rows": rows, "cols": cols})


def _never(*_: object) -> None:
    raise AssertionError("the screen must not call a problem's tensor functions")


def _problem(
    name: str,
    entry: str,
    category: str,
    cases: tuple[Case, ...],
    signature: str,
    summary: str,
    mutates: tuple[str, ...] = (),
) -> Problem:
    return ProblemDefinition(
        name=name,
        entry=entry,
        signature=signature,
        summary=summary,
        category=category,
        cases=cases,
        make_inputs=_never,
        reference=_never,
        eager=_never,
        tolerance=lambda case: Tolerance(relative=1e-5, absolute=1e-6),
        cost=lambda case: Cost(flops=5 * case.size("rows") * case.size("cols"), bytes_read=3124, bytes_written=3124),
        returns=0 if mutates else 1,
        mutates=mutates,
    ).problem("toy_problems")


WRONG_TAIL = OutputReport(
    name="return",
    outcome=Outcome.WRONG_VALUE,
    message="127 of 16,256 elements are out of tolerance",
    shape=(127, 128),
    dtype="float32",
    mismatched=127,
    total=16256,
    nonfinite_got=127,
    nonfinite_expected=0,
    max_absolute_error=3.1e-2,
    max_relative_error=0.98,
    max_ulp_error=262144.0,
    worst=WrongElement(index=(3, 127), expected="0.031622776", got="nan"),
    first_wrong=(0, 127),
    last_wrong=(126, 127),
    error_map=tuple("." * 31 + sign for sign in "999999#99999999#"),
)


def passed(case: Case, seed: int = 7) -> CaseResult:
    """A case that passed."""
    return CaseResult(
        case=case.name, tier=case.tier, outcome=Outcome.PASS, elapsed_s=0.004, calls=2, seed=seed,
        outputs=(OutputReport(name="return", outcome=Outcome.PASS, shape=(1, 1), dtype=case.dtype, total=1,
                              max_absolute_error=2.4e-7, max_relative_error=1.1e-6, max_ulp_error=2.0),),
    )  # fmt: skip


def wrong(case: Case, report: OutputReport = WRONG_TAIL) -> CaseResult:
    """A case whose last column is wrong."""
    return CaseResult(
        case=case.name,
        tier=case.tier,
        outcome=Outcome.WRONG_VALUE,
        elapsed_s=0.006,
        calls=2,
        seed=11,
        message="127 of 16,256 elements differ, worst at [3, 127]",
        location=Location(line=12),
        outputs=(report,),
    )


def out_of_bounds(case: Case) -> CaseResult:
    """A case that read past the end of a tensor."""
    return CaseResult(
        case=case.name, tier=case.tier, outcome=Outcome.RUNTIME_ERROR, elapsed_s=0.002, calls=1, seed=3,
        message="load out of bounds", location=Location(line=12),
        out_of_bounds=OutOfBounds(access="load", kernel="softmax_kernel", tensor="x_ptr", index=16256, elements=16256,
                                  program=(126, 0, 0), location=Location(line=12)),
    )  # fmt: skip


def softmax_launch() -> Launch:
    """The one specialisation of the kernel."""
    return Launch(
        kernel="softmax_kernel",
        signature={"x_ptr": "*fp32", "y_ptr": "*fp32", "cols": "i32"},
        constants={"BLOCK": "128"},
        divisible_by_16=("x_ptr", "y_ptr"),
        num_warps=4,
        num_stages=3,
        grid=(127,),
        line=7,
    )


def compiled() -> CompiledKernel:
    """That specialisation built for sm_90."""
    return CompiledKernel(
        launch=softmax_launch(),
        target="sm_90",
        outcome=Outcome.PASS,
        elapsed_s=0.21,
        registers=40,
        spill_bytes=0,
        shared_bytes=16,
        artefacts=(
            Artefact(kind="ttir", digest="a" * 64, bytes=80),
            Artefact(kind="ptx", digest="b" * 64, bytes=len(PTX)),
        ),
    )


def run_events(
    candidate: Candidate,
    plan: Plan,
    results: Sequence[CaseResult],
    *,
    findings: Sequence[Finding] = (),
    stop_after: int | None = None,
) -> list[Event]:
    """The events of a run that judges `results`; `stop_after` cuts the stream while it verifies."""
    events: list[Event] = [
        RunStarted(
            at_s=0.0,
            problem=plan.problem.name,
            digest=candidate.digest,
            device=plan.device,
            device_name="Triton interpreter",
            target=plan.target,
            cases=len(plan.cases),
        ),
        StageStarted(at_s=0.001, stage=Stage.PARSE),
        StageFinished(at_s=0.004, stage=Stage.PARSE, outcome=Outcome.PASS, elapsed_s=0.003),
        StageStarted(at_s=0.004, stage=Stage.STATIC),
        *(FindingRaised(at_s=0.01, finding=finding) for finding in findings),
        StageFinished(at_s=0.012, stage=Stage.STATIC, outcome=Outcome.PASS, elapsed_s=0.008),
        StageStarted(at_s=0.012, stage=Stage.LOAD),
        LogWritten(at_s=0.05, stream=Stream.STDOUT, text="loaded [BLOCK] with 形状 🚀"),
        StageFinished(at_s=0.06, stage=Stage.LOAD, outcome=Outcome.PASS, elapsed_s=0.048),
        StageStarted(at_s=0.06, stage=Stage.VERIFY, total=len(plan.cases)),
        KernelLaunched(at_s=0.06, launch=softmax_launch(), case=plan.cases[0].name if plan.cases else None),
    ]
    shown = results if stop_after is None else results[:stop_after]
    for number, result in enumerate(shown, start=1):
        events.append(CaseFinished(at_s=0.06 + 0.01 * number, number=number, total=len(plan.cases), result=result))
    if stop_after is not None:
        return events
    good = sum(result.outcome is Outcome.PASS for result in results)
    bad = next((result for result in results if result.outcome is not Outcome.PASS), None)
    outcome = bad.outcome if bad else Outcome.PASS
    events += [
        StageFinished(
            at_s=0.2, stage=Stage.VERIFY, outcome=outcome, elapsed_s=0.14, location=bad.location if bad else None
        ),
        StageStarted(at_s=0.2, stage=Stage.COMPILE, total=1),
        KernelCompiled(at_s=0.41, number=1, total=1, kernel=compiled()),
        StageFinished(at_s=0.42, stage=Stage.COMPILE, outcome=Outcome.PASS, elapsed_s=0.22),
    ]
    flag = next((finding for finding in findings if finding.severity in (Severity.SUSPECT, Severity.PROOF)), None)
    flagged = flag is not None and bad is None
    if bad:
        sentence = f"{len(results) - good} of {len(results)} cases failed, first {bad.case}: {bad.message}"
    elif flag:
        sentence = f"right on {good} of {len(results)} cases, but not credible: {flag.message}"
    else:
        sentence = f"right on {good} of {len(results)} cases"
    verdict = Verdict(
        outcome=outcome,
        sentence=sentence,
        passed=good,
        total=len(results),
        flagged=flagged,
        location=bad.location if bad else None,
    )
    sass = Artefact(kind="sass", digest="c" * 64, bytes=100)
    return [*events, RunFinished(at_s=0.42, verdict=verdict), KernelDisassembled(at_s=0.9, number=1, artefact=sass)]


Script = Callable[[Candidate, Plan], Iterable[Event]]


def all_pass(candidate: Candidate, plan: Plan) -> list[Event]:
    """Every case passes."""
    return run_events(candidate, plan, [passed(case) for case in plan.cases])


def some_fail(candidate: Candidate, plan: Plan) -> list[Event]:
    """Two cases of width 128 are wrong, the rest passes."""
    results = [wrong(case) if "x128" in case.name else passed(case) for case in plan.cases]
    return run_events(candidate, plan, results)


def suspicious(candidate: Candidate, plan: Plan) -> list[Event]:
    """Every case passes, and a check saw something."""
    findings = (
        Finding(
            check="library call",
            severity=Severity.SUSPECT,
            location=Location(line=22),
            message="torch.softmax computes the answer; the kernel's own result is not used",
        ),
        Finding(check="handler", severity=Severity.HINT, message="a try in [softmax]", location=Location(line=19)),
    )
    return run_events(candidate, plan, [passed(case) for case in plan.cases], findings=findings)


def stops_half_way(candidate: Candidate, plan: Plan) -> list[Event]:
    """Three cases are done, then nothing comes until the run is cancelled."""
    results = [wrong(case) if "x128" in case.name else passed(case) for case in plan.cases]
    return run_events(candidate, plan, results, stop_after=5)


def never_begins(candidate: Candidate, plan: Plan) -> list[Event]:
    """Nothing comes until the run is cancelled."""
    return []


@dataclass
class FakeEngine:
    """Replays a script; one whose stream has no verdict waits until it is cancelled."""

    script: Script = all_pass
    device_name: str = "Triton interpreter"
    judged: list[tuple[Candidate, Plan]] = field(default_factory=list)
    compared: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    cancelled: int = 0
    ported: list[tuple[Candidate, tuple[str, ...]]] = field(default_factory=list)
    ports_only: int | None = None
    starts: bool = True
    started: bool = False
    closed: bool = False
    runs: RunsInProgress = field(default_factory=RunsInProgress)

    async def start(self) -> None:
        if not self.starts:
            await asyncio.Event().wait()
        self.started = True

    async def aclose(self) -> None:
        self.closed = True

    def send(self, command: CancelRun) -> None:
        self.runs.cancel(command)

    async def evaluate(
        self, candidate: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        self.judged.append((candidate, plan))
        finished = False
        with self.runs.open(run_id) as cancelled:
            for event in self.script(candidate, plan):
                finished = finished or isinstance(event, RunFinished)
                yield event
            if finished or run_id is None:
                return
            await cancelled.wait()
        self.cancelled += 1
        verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=0, total=len(plan.cases))
        yield RunFinished(at_s=0.2, verdict=verdict)

    async def compare(
        self, candidate: Candidate, other: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        self.compared.append((candidate, other))
        async for event in self.evaluate(candidate, plan, run_id=run_id):
            if isinstance(event, RunFinished):
                yield OtherLoaded(at_s=event.at_s, digest=other.digest)
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
        self.ported.append((candidate, tuple(targets)))
        events = ported(launches, targets, after_s)
        with self.runs.open(run_id) as cancelled:
            for event in events[: self.ports_only]:
                yield event
            if self.ports_only is None or run_id is None:
                return
            await cancelled.wait()
        self.cancelled += 1
        yield PortingFinished(at_s=after_s + 2, outcome=Outcome.CANCELLED, message="cancelled")


def ported(launches: Sequence[Launch], targets: Sequence[str], after_s: float) -> list[Event]:
    """Every launch builds for every target but gfx950."""
    events: list[Event] = [PortingStarted(at_s=after_s, targets=tuple(targets), launches=len(launches))]
    total = len(targets) * len(launches)
    for number, (target, launch) in enumerate(((t, one) for t in targets for one in launches), start=1):
        good = replace(compiled(), launch=launch, target=target, registers=30 + number)
        bad = CompiledKernel(
            launch=launch,
            target=target,
            outcome=Outcome.COMPILE_ERROR,
            elapsed_s=0.1,
            location=Location(line=13),
            message="failed to translate module to [LLVM IR]: no such instruction",
        )
        kernel = bad if target == "gfx950" else good
        events.append(KernelPorted(at_s=after_s + 0.1 * number, number=number, total=total, kernel=kernel))
    sass = Artefact(kind="sass", digest="c" * 64, bytes=100)
    return [
        *events,
        PortDisassembled(at_s=after_s + 1, number=1, artefact=sass),
        PortingFinished(at_s=after_s + 1, outcome=Outcome.PASS),
    ]


@dataclass
class MemoryRecording:
    """Keeps runs in a list; fails on demand."""

    orders: list[RunRequest] = field(default_factory=list)
    events_by_run: dict[int, list[Event]] = field(default_factory=dict)
    recent: tuple[RecentFile, ...] = ()
    fastest: BestRun | None = None
    answers: list[tuple[int, int]] = field(default_factory=list)
    refuses: str = ""
    closed: bool = False

    def open_or_raise(self) -> None:
        """What opening the file of a real store may do."""
        self._check()

    def begin(self, order: RunRequest) -> int:
        self._check()
        self.orders.append(order)
        self.events_by_run[len(self.orders)] = []
        return len(self.orders)

    def record(self, number: int, events: Sequence[Event]) -> None:
        self._check()
        self.events_by_run[number] += events

    def cached(self, order: RunRequest) -> int | None:
        self._check()
        for number in range(len(self.orders), 0, -1):
            known, events = self.orders[number - 1], self.events_by_run[number]
            finished = _finished(events)
            if finished and finished.verdict.outcome is not Outcome.CANCELLED and replace(known, again=False) == order:
                return number
        return None

    def answered(self, number: int) -> None:
        self._check()
        self.answers.append((number, len(self.orders)))

    def failed_cases(self, order: RunRequest) -> tuple[str, ...]:
        return ()

    def events(self, number: int) -> tuple[Event, ...]:
        return tuple(self.events_by_run[number])

    def source(self, digest: str) -> bytes:
        return next(order.content for order in self.orders if order.candidate.digest == digest)

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        numbers = [n for n in range(len(self.orders), 0, -1) if self.orders[n - 1].problem.name == problem]
        return tuple(self._past(number) for number in numbers[:limit])

    def best(self, order: RunRequest) -> BestRun | None:
        return self.fastest if order.benchmark else None

    def last_runs(self) -> dict[str, LastRun]:
        names = {order.problem.name for order in self.orders}
        found = {}
        for name in names:
            runs = self.runs(name, limit=999)
            judged = [run for run in runs if not run.picked and run.outcome not in (None, Outcome.CANCELLED)]
            again = [number for number, newest in self.answers if not judged or newest >= judged[0].number]
            last = next((run for run in runs if run.number in again[-1:]), (judged or list(runs))[0])
            found[name] = LastRun(run=last, runs=len(runs), touched_at=runs[0].started_at)
        return found

    def recent_files(self, *, limit: int) -> tuple[RecentFile, ...]:
        return self.recent[:limit]

    @cached_property
    def archive(self) -> StoreAdmin:
        """A store of its own, in memory and empty."""
        return StoreAdmin(open_memory_store(), remove_artefact=lambda digest: None)

    def listen(self, notice: StoreNotice) -> None:
        """Its memory is never replaced."""

    def close(self) -> None:
        self.closed = True

    def _check(self) -> None:
        if self.refuses:
            raise StoreError(self.refuses)

    def _past(self, number: int) -> PastRun:
        order, events = self.orders[number - 1], self.events_by_run[number]
        finished = _finished(events)
        verdict = finished.verdict if finished else None
        return PastRun(
            number=number,
            problem=order.problem.name,
            digest=order.candidate.digest,
            filename=order.path.name,
            device=order.device,
            target=order.target,
            started_at=NOW - timedelta(minutes=7 * (len(self.orders) - number)),
            outcome=verdict.outcome if verdict else None,
            flagged=verdict.flagged if verdict else False,
            passed=verdict.passed if verdict else None,
            total=verdict.total if verdict else None,
            elapsed_s=finished.at_s if finished else None,
            picked=bool(order.cases),
        )


def recent_file(
    path: Path, *, problem: str = "aten::softmax", outcome: Outcome = Outcome.PASS, started_at: datetime = NOW
) -> RecentFile:
    """A file that was judged, and what it came to."""
    run = PastRun(
        number=3,
        problem=problem,
        digest="d",
        filename=path.name,
        device="cpu",
        target=None,
        started_at=started_at,
        outcome=outcome,
    )
    return RecentFile(path=path, run=run)


def _finished(events: Sequence[Event]) -> RunFinished | None:
    return next((event for event in events if isinstance(event, RunFinished)), None)


@dataclass
class FakeWatcher:
    """Reports what a test tells it to."""

    path: Path
    on_save: Callable[[Saved], None]
    on_trouble: Callable[[WatchTrouble], None]
    known_digest: str | None = None
    running: bool = False
    followed: tuple[Path, ...] = ()

    def start(self) -> None:
        self.running = True

    def follow(self, siblings: Iterable[Path]) -> None:
        self.followed = tuple(siblings)

    def stop(self) -> None:
        self.running = False

    def save(self, content: bytes) -> None:
        """Another program wrote the file."""
        digest = Candidate(source=content, problem="").digest
        self.on_save(
            Saved(path=self.path.absolute(), changed=self.path.absolute(), content=content, digest=digest, at_s=0.0)
        )


def read_artefact(digest: str) -> bytes:
    """The code that `compiled` names."""
    if digest == "b" * 64:
        return PTX.encode()
    return b'module {\n  tt.func @softmax_kernel() {\n    tt.return loc(#loc1)\n  }\n}\n#loc1 = loc("/k/k.py":16:4)\n'


async def diagnose(size: tuple[int, int], preferences: Preferences) -> tuple[str, ...]:
    """A machine without a GPU, on which one measure is missing."""
    return (
        "system       Linux 6.1 x86_64, 8 CPUs",
        "device       cpu 0: Triton interpreter on [8] CPUs",
        "             no GPU was found: kernels are verified on the CPU, and nothing is timed",
        "version      python 3.11.2",
        "version      torch 2.13.0",
        "confinement  dies with its parent",
        "confinement  NOT IN FORCE: no network",
        f"terminal     xterm, {size[0]}x{size[1]}, colours: 256, encoding utf-8",
        "path         sessions: /home/somebody/.local/share/kgtui/sessions.db",
        *(f"setting      {setting_line(one)}" for one in preferences.chosen if one.key in ("theme", "ascii")),
    )
