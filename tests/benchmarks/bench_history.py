"""How long a page of History takes in a store of 100,000 runs, with and without filters.

Run it by hand: `python -m tests.benchmarks.bench_history [RUNS] [FILE]`.  It fills a file (one in a temporary folder
when none is named; one that is there is used as it is), asks each question at many places, and prints the median, the
95th percentile and the longest.
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

from engine.model import Candidate, CaseResult, Outcome, Stage, Tier, Verdict
from engine.model.benchmark import Interval, Summary
from engine.model.events import (
    BenchmarkSummarised,
    CaseFinished,
    Event,
    RunFinished,
    RunStarted,
    StageFinished,
)
from sessions import Result, RunFilter, Store, open_store
from tests.generated import Generation, add_generation

RUNS = 100_000
SESSIONS = 400
PROBLEMS = 210
FILES = 600
REPEATS = 100
PAGE = 100
DEVICES = (("cpu", "Triton interpreter"), ("cuda", "A GPU"))
NAMES = ("softmax", "layer_norm", "matmul", "rope", "silu", "argmax", "cumsum")
FILTERS = {
    "operator": RunFilter(operator="softmax"),
    "operator nobody has": RunFilter(operator="nobody"),
    "file": RunFilter(file="rope_12"),
    "device": RunFilter(device="gpu"),
    "result": RunFilter(result=Result.FLAGGED),
    "outcome nobody has": RunFilter(outcome=Outcome.TAMPERED),
    "tag": RunFilter(tag="tag3"),
    "session": RunFilter(session=7),
    "text": RunFilter(text="tail mask"),
    "text nowhere": RunFilter(text="nowhere"),
    "two words nowhere": RunFilter(text="softmax nowhere"),
}
OUTCOMES = (Outcome.PASS,) * 6 + (Outcome.WRONG_VALUE, Outcome.COMPILE_ERROR, Outcome.PASS, Outcome.TIMEOUT)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder) / "sessions.db"
        if not path.exists():
            began_s = time.perf_counter()
            with open_store(path, clock=_ticking_clock()) as store:
                fill(store, runs=runs)
            print(f"filled {runs} runs in {time.perf_counter() - began_s:.0f} s, {path.stat().st_size >> 20} MiB")
        with open_store(path) as store:
            ask_everything(store)


def ask_everything(store: Store) -> None:
    """Time each question on its own, at random places where it has any."""
    chance = random.Random(0)
    newest = store.runs(limit=1)[0].id

    def anywhere() -> int:
        return chance.randint(PAGE, newest)

    report("newest page", lambda: store.page(limit=PAGE))
    report("oldest page", lambda: store.page(after_id=0, limit=PAGE))
    report("page below", lambda: store.page(before_id=anywhere(), limit=PAGE))
    report("page above", lambda: store.page(after_id=anywhere(), limit=PAGE))
    for name, wanted in FILTERS.items():
        report(f"page: {name}", lambda wanted=wanted: store.page(wanted, before_id=anywhere(), limit=PAGE))  # type: ignore[misc]
        report(f"first page: {name}", lambda wanted=wanted: store.page(wanted, limit=PAGE))  # type: ignore[misc]
    report("totals of all", store.totals)
    report("totals of an operator", lambda: store.totals(FILTERS["operator"]))
    report("totals of a text", lambda: store.totals(FILTERS["text"]))
    report("page of sessions", lambda: store.sessions(limit=PAGE))
    report("the way of a file", lambda: store.milestones(anywhere()))
    report("a run as it was", lambda: list(store.events(anywhere())))
    numbers = iter(chance.sample(range(1, newest), REPEATS))
    report("delete a run", lambda: store.delete_run(next(numbers)))


def report(name: str, ask: Callable[[], object]) -> None:
    """Print the median, the 95th percentile and the longest of some calls."""
    samples_ms = []
    for _ in range(REPEATS):
        began_ns = time.perf_counter_ns()
        ask()
        samples_ms.append((time.perf_counter_ns() - began_ns) / 1e6)
    samples_ms.sort()
    p50_ms, p95_ms, longest_ms = samples_ms[REPEATS // 2], samples_ms[REPEATS * 95 // 100], samples_ms[-1]
    print(f"{name:34} p50 {p50_ms:7.2f} ms   p95 {p95_ms:7.2f} ms   longest {longest_ms:7.2f} ms")


def fill(store: Store, *, runs: int) -> None:
    """Runs of one case each, some timed, tagged, noted or flagged, spread over sessions, operators, files, devices."""
    chance = random.Random(1)
    for number in range(runs):
        if number % max(1, runs // SESSIONS) == 0:
            session_id = store.begin_session(f"session {number}", environment={"torch": "2.13.0"})
            add_generation(store, session_id, _generation(number))
        run_id = store.begin_run(
            session_id,
            _candidate(number),
            device=DEVICES[number % 2][0],
            target="sm_90",
            tiers=(Tier.SMOKE,),
            path=_file(number),
        )
        store.record_all(run_id, tuple(_events(number, chance)))
        if number % 97 == 0:
            store.set_tag(run_id, f"tag{number % 5}")
        if number % 211 == 0:
            store.set_note(run_id, f"try {number} of [bold]the tail mask[/bold]")


def _events(number: int, chance: random.Random) -> Iterator[Event]:
    outcome = OUTCOMES[number % len(OUTCOMES)]
    device, device_name = DEVICES[number % 2]
    yield RunStarted(
        at_s=0.0, problem=_problem(number), digest="", device=device, device_name=device_name, target="sm_90", cases=1
    )
    result = CaseResult(case="1x781 f32", tier=Tier.SMOKE, outcome=outcome, elapsed_s=0.01, calls=2, seed=number)
    yield CaseFinished(at_s=0.3, number=1, total=1, result=result)
    yield StageFinished(at_s=0.4, stage=Stage.VERIFY, outcome=outcome, elapsed_s=0.3)
    if outcome is Outcome.PASS and device == "cuda":
        speedup = 0.5 + number / RUNS + chance.random()
        yield BenchmarkSummarised(
            at_s=0.45,
            summaries=(
                Summary(
                    baseline="eager",
                    speedup=Interval(value=speedup, low=speedup - 0.1, high=speedup + 0.1),
                    cases=1,
                    planned=1,
                    fast={"1.0": 1},
                ),
            ),
        )
    passed = int(outcome is Outcome.PASS)
    verdict = Verdict(
        outcome=outcome,
        sentence=f"right on {passed} of 1 cases",
        passed=passed,
        total=1,
        flagged=number % 50 == 0 and outcome is Outcome.PASS,
    )
    yield RunFinished(at_s=0.5, verdict=verdict)


def _generation(number: int) -> Generation:
    return Generation(
        problem=_problem(number),
        provider="a provider",
        model="a model",
        prompt_tokens=900,
        completion_tokens=2100,
        cost_microusd=41_000,
        source=None,
        elapsed_s=12.0,
    )


def _candidate(number: int) -> Candidate:
    source = f"# version {number // 3}\n".encode() + b"def kernel(x): ...\n" * 50
    return Candidate(source=source, problem=_problem(number))


def _problem(number: int) -> str:
    return f"aten::{NAMES[number % len(NAMES)]}_{number % PROBLEMS}"


def _file(number: int) -> Path:
    return Path(f"/home/user/kernels/{NAMES[number % len(NAMES)]}_{number % FILES}.py")


def _ticking_clock() -> Callable[[], datetime]:
    ticks = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=7 * next(ticks))


if __name__ == "__main__":
    main()
