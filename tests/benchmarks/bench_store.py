"""How long a page, a question and an event take in a store of 100,000 runs.

Run it by hand: `python -m tests.benchmarks.bench_store [RUNS]`.  It fills a file in a temporary folder, asks, prints
the median and the 95th percentile of each question, and removes the file.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from engine.model import Candidate, CaseResult, Outcome, Stage, Stream, Tier, Verdict
from engine.model.events import (
    CaseFinished,
    Event,
    LogWritten,
    RunFinished,
    RunStarted,
    StageFinished,
)
from sessions import RunFilter, RunKey, Store, open_store

RUNS = 100_000
SESSIONS = 200
PROBLEMS = 210
FILES = 400
CASES = 100
REPEATS = 200
PAGE = 50


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        began_s = time.perf_counter()
        with open_store(path, clock=_ticking_clock()) as store:
            fill(store, runs=runs)
        print(f"filled {runs} runs in {time.perf_counter() - began_s:.0f} s, {path.stat().st_size >> 20} MiB")
        report("open and close", lambda: open_store(path).close())
        with open_store(path) as store:
            ask_everything(store, runs=runs)


def ask_everything(store: Store, *, runs: int) -> None:
    """Time each question on its own, at random places where it has any."""
    chance = random.Random(0)
    last_day = store.run(runs).started_at - timedelta(days=1)
    report("first page", lambda: store.runs(limit=PAGE))
    report("page anywhere", lambda: store.runs(before_id=chance.randint(PAGE, runs), limit=PAGE))
    report("page of a session", lambda: store.runs(RunFilter(session=chance.randint(1, SESSIONS)), limit=PAGE))
    report("page of a problem", lambda: store.runs(RunFilter(problem=_problem(chance.randrange(PROBLEMS))), limit=PAGE))
    report("page of the last day", lambda: store.runs(RunFilter(since=last_day), limit=PAGE))
    report("page of an outcome", lambda: store.runs(RunFilter(outcome=Outcome.WRONG_VALUE), limit=PAGE))
    report("text found nowhere", lambda: store.runs(RunFilter(text="nowhere"), limit=PAGE), repeats=20)
    report("summary of all problems", store.last_by_problem, repeats=20)
    report("recent files", store.recent_files, repeats=20)
    report("page of sessions", lambda: store.sessions(limit=PAGE), repeats=20)
    report("best of a problem", lambda: store.best(_problem(chance.randrange(PROBLEMS))))
    report("failed cases", lambda: store.failed_cases(_problem(7), path=_file(7)))
    report("cached run", lambda: _find_cached(store, chance.randrange(runs)))
    report("replay of a run", lambda: list(store.events(chance.randint(1, runs))))
    session_id = store.begin_session("timed")
    report("begin a run", lambda: _begin(store, session_id, 3))
    run_id = _begin(store, session_id, 3)
    numbers = itertools.count(1)
    report("record a case", lambda: store.record(run_id, _case(next(numbers))), repeats=5000)
    report("record a log line", lambda: store.record(run_id, LOGGED), repeats=5000)


def fill(store: Store, *, runs: int) -> None:
    """Runs of four events each, every seventh of them failed, spread over sessions, problems and files."""
    for number in range(runs):
        if number % (runs // SESSIONS) == 0:
            session_id = store.begin_session(f"session {number}", environment={"torch": "2.13.0"})
        run_id = _begin(store, session_id, number)
        for event in _events(number):
            store.record(run_id, event)


def report(name: str, ask: Callable[[], object], *, repeats: int = REPEATS) -> None:
    """Print the median and the 95th percentile of `repeats` calls."""
    samples_us = []
    for _ in range(repeats):
        began_ns = time.perf_counter_ns()
        ask()
        samples_us.append((time.perf_counter_ns() - began_ns) / 1000)
    samples_us.sort()
    print(f"{name:26} p50 {samples_us[repeats // 2]:9.0f} us   p95 {samples_us[repeats * 95 // 100]:9.0f} us")


LOGGED = LogWritten(at_s=1.0, stream=Stream.STDOUT, text="a line that the candidate printed\n")


def _events(number: int) -> Iterator[Event]:
    outcome = Outcome.WRONG_VALUE if number % 7 == 0 else Outcome.PASS
    yield RunStarted(
        at_s=0.0, problem=_problem(number), digest="", device="cpu", device_name="CPU", target="sm_90", cases=1
    )
    yield _case(number, outcome=outcome)
    yield StageFinished(at_s=0.4, stage=Stage.VERIFY, outcome=outcome, elapsed_s=0.3)
    passed = int(outcome is Outcome.PASS)
    yield RunFinished(
        at_s=0.5, verdict=Verdict(outcome=outcome, sentence=f"{passed} of 1 cases passed", passed=passed, total=1)
    )


def _case(number: int, *, outcome: Outcome = Outcome.PASS) -> CaseFinished:
    result = CaseResult(
        case=f"{number % CASES}x781 f32", tier=Tier.SMOKE, outcome=outcome, elapsed_s=0.01, calls=2, seed=number
    )
    return CaseFinished(at_s=0.3, number=1, total=1, result=result)


def _begin(store: Store, session_id: int, number: int) -> int:
    return store.begin_run(
        session_id, _candidate(number), device="cpu", target="sm_90", tiers=(Tier.SMOKE,), path=_file(number)
    )


def _find_cached(store: Store, number: int) -> object:
    key = RunKey(
        digest=_candidate(number).digest,
        problem=_problem(number),
        device="cpu",
        target="sm_90",
        tiers=(Tier.SMOKE,),
        session=1,
    )
    return store.find_cached(key)


def _candidate(number: int) -> Candidate:
    source = f"# version {number // 3}\n".encode() + b"def kernel(x): ...\n" * 50
    return Candidate(source=source, problem=_problem(number))


def _problem(number: int) -> str:
    return f"aten::operator_{number % PROBLEMS}"


def _file(number: int) -> Path:
    return Path(f"/home/user/kernels/kernel_{number % FILES}.py")


def _ticking_clock() -> Callable[[], datetime]:
    ticks = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks))


if __name__ == "__main__":
    main()
