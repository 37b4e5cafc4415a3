"""The loop on a real GPU: save to verdict with a warm spare, the corpus, and where the time goes.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.bench_loop [--device cuda] [--saves 20] [--corpus honest wrong]

Each save moves the kernels by a line, so that all of them are compiled again, unless the row says that they are not.
The same script measures the CPU with `--device cpu`.

Prints the device, the versions, and a table last.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import itertools
import math
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import BenchmarkPlan, Candidate, Plan, Stage, Tier, Verdict
from engine.model.benchmark import CaseBenchmark, Span
from engine.model.events import (
    CaseBenchmarked,
    CaseEstimated,
    CaseFinished,
    FindingRaised,
    KernelCompiled,
    ProfileTaken,
    RunFinished,
    StageFinished,
    StageStarted,
)
from engine.static.source import directives
from problems.index import open_index

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "kgtui" / "samples" / "softmax.py"
_LINES = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class Save:
    """Seconds after the save until each of these was known.

    `first_case_s` is the first case that launched a kernel, `estimate_s` the first interval, after the first rounds of
    a case, `interval_s` the first case that was timed whole; None when none was asked for.  `spares_s` is when the
    spares begun before the proof were ready, for a save that replaces this one, None if the run ended before;
    `warm_again_s` when all were ready after the run had ended.
    """

    first_case_s: float
    verified_s: float
    verdict_s: float
    estimate_s: float | None = None
    interval_s: float | None = None
    spares_s: float | None = None
    warm_again_s: float = 0.0
    verdict: Verdict
    kernels: int
    spans: tuple[Span, ...]


async def judge(engine: Engine, content: bytes, problem_name: str, *, target: str | None, timed: int = 0) -> Save:
    """One save, judged on all SMOKE and FULL cases, and timed on the first `timed` cases for that."""
    problem = open_index().find(problem_name)
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device=engine.device.platform, target=target)
    if timed:
        cases = tuple(case for case in problem.cases if case.tier is Tier.BENCH)[:timed]
        plan = dataclasses.replace(plan, benchmark=BenchmarkPlan(cases=cases))
    started = time.perf_counter()
    first_case_s = verified_s = 0.0
    estimate_s: float | None = None
    interval_s: float | None = None
    warm: asyncio.Task[float] | None = None
    kernels = 0
    spans: tuple[Span, ...] = ()
    events = engine.evaluate(Candidate(source=content, problem=problem_name), plan)
    try:
        async for event in events:
            now_s = time.perf_counter() - started
            if isinstance(event, CaseFinished):
                has_elements = any(output.total for output in event.result.outputs)
                first_case_s = first_case_s or (now_s if has_elements else 0.0)
                verified_s = now_s
            elif isinstance(event, CaseEstimated):
                estimate_s = estimate_s or now_s
            elif isinstance(event, CaseBenchmarked):
                if event.benchmark.timing is not None and event.benchmark.timing.device_us is not None:
                    interval_s = interval_s or now_s
                show(event.benchmark)
            elif isinstance(event, FindingRaised):
                print(f"    {event.finding.severity} {event.finding.check}: {event.finding.message[:200]}")
            elif isinstance(event, StageStarted) and event.stage is Stage.PROVE:
                warm = asyncio.create_task(warm_at(engine))  # spares are begun when all kernels are compiled
            elif isinstance(event, KernelCompiled):
                kernels += 1
            elif isinstance(event, ProfileTaken):
                spans = event.spans
            elif isinstance(event, RunFinished):
                return Save(
                    first_case_s=first_case_s,
                    verified_s=verified_s,
                    verdict_s=now_s,
                    verdict=event.verdict,
                    kernels=kernels,
                    spans=spans,
                    estimate_s=estimate_s,
                    interval_s=interval_s,
                    spares_s=await warm - started if warm is not None else None,
                )
            elif isinstance(event, StageFinished) and event.message:
                print(f"    {event.stage}: {event.message}")
    finally:
        await events.aclose()
    raise RuntimeError("the run ended without a verdict")


async def warm_at(engine: Engine) -> float:
    """The time by the clock of this process at which every spare is ready."""
    await engine.wait_until_warm()
    return time.perf_counter()


async def bench_saves(
    engine: Engine, saves: int, *, target: str | None, timed: int = 0, edits_kernels: bool = True
) -> list[Save]:
    """The sample saved again and again, changed a little each time, with a warm spare each time.

    With `edits_kernels` the lines of every kernel change, so that no binary of the save before is used again.
    """
    done: list[Save] = []
    for number in range(saves):
        kernels = b"\n" * next(_LINES) if edits_kernels else b""
        content = kernels + SAMPLE.read_bytes() + f"\n# save {number} {target} {timed}\n".encode()
        started = time.perf_counter()
        save = await judge(engine, content, "aten::softmax", target=target, timed=timed)
        await engine.wait_until_warm()
        done.append(dataclasses.replace(save, warm_again_s=time.perf_counter() - started))
    return done


def show(benchmark: CaseBenchmark) -> None:
    """One timed case in a line."""
    timing = benchmark.timing
    if timing is None or timing.device_us is None:
        print(f"    timed {benchmark.case}: {benchmark.outcome} {benchmark.message}")
        return
    device, call = timing.device_us, timing.call_us
    print(
        f"    timed {benchmark.case}: device {device.value:.2f} us [{device.low:.2f}, {device.high:.2f}]"
        f" call {call.value if call else float('nan'):.1f} us, {benchmark.calls} calls, {benchmark.verified} verified,"
        f" {benchmark.slots} slots, {benchmark.elapsed_s:.2f} s, {timing.method},"
        f" floor {benchmark.floor.percent if benchmark.floor else None} %"
    )
    for comparison in benchmark.comparisons:
        ratio = comparison.speedup
        print(
            f"      x{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] of {comparison.baseline}:"
            f" {comparison.standing}, resolution {comparison.resolution:.4f}"
        )
    for side in (timing, *benchmark.baselines):
        print(f"      {side.side}: graph {side.graph_us} stream {side.stream_us} notes {side.notes}")


async def run_corpus(engine: Engine, kinds: tuple[str, ...]) -> None:
    """Every file of these kinds on this device, one line each."""
    for kind in kinds:
        for path in sorted((ROOT / "tests" / "corpus" / kind).rglob("*.py")):
            stated = directives(path.read_text(errors="replace"))
            save = await judge(engine, path.read_bytes(), stated["op"], target=engine.device.target)
            right = save.verdict.outcome.value in stated["expect"].split("|")
            word = "ok  " if right else "DIFF"
            print(
                f"{word} {kind}/{path.name:40} {save.verified_s:6.2f} s verified {save.verdict_s:6.2f} s verdict"
                f" {save.verdict.outcome.value}: {save.verdict.sentence[:150]}",
                flush=True,
            )


async def main() -> None:
    """Start an engine on the GPU, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--corpus", nargs="*", default=[], metavar="KIND", help="judge these files first")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--timed", type=int, default=0, metavar="N", help="also save with a benchmark of N cases")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        store = ArtefactStore(folder=Path(folder))
        async with Engine(device=arguments.device, artefacts=store, environment=os.environ) as engine:
            started_s = time.perf_counter() - started
            await engine.wait_until_warm()
            print(f"{engine.device.name}, {engine.versions}; started {started_s:.2f} s,", end=" ")
            print(f"all warm {time.perf_counter() - started:.2f} s after the start")
            print("confinement:", ", ".join(engine.confinement))
            await run_corpus(engine, tuple(arguments.corpus))
            target = engine.device.target or "sm_90"
            report_memory()
            report("verify only", await bench_saves(engine, arguments.saves, target=None))
            report(f"and compiled for {target}", await bench_saves(engine, arguments.saves, target=target))
            saves = await bench_saves(engine, arguments.saves, target=target, edits_kernels=False)
            report("the same with kernels as they were", saves)
            if arguments.timed:
                await engine.measure_peaks()
                for timed in sorted({1, arguments.timed}):
                    label = f"compiled, and timed on {timed} cases"
                    report(label, await bench_saves(engine, arguments.saves, target=target, timed=timed))


def report_memory() -> None:
    """Peak resident and proportional memory of this process and of every process below it."""
    for pid in (os.getpid(), *below(os.getpid())):
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        share_kib = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
        peak_mib = int(status["VmHWM"].split()[0]) // 1024
        role = "parent" if pid == os.getpid() else status["Name"].strip()
        print(f"  {role:24} peak resident {peak_mib:6} MiB, proportional now {share_kib // 1024:6} MiB")


def below(root: int) -> list[int]:
    """All processes that descend from `root`, parents first."""
    found: list[int] = []
    for child in Path(f"/proc/{root}/task/{root}/children").read_text().split():
        found += [int(child), *below(int(child))]
    return found


def report(label: str, saves: list[Save]) -> None:
    """Median, 95th percentile and extremes of each figure in seconds, and the profile of the last save."""
    print(f"{len(saves)} saves of the sample, {saves[0].verdict.total} cases, {label}, warm spare:")
    for name in ("first_case_s", "verified_s", "estimate_s", "interval_s", "verdict_s", "spares_s", "warm_again_s"):
        values = sorted(value for save in saves if (value := getattr(save, name)) is not None)
        if not values:
            continue
        p95 = values[math.ceil(0.95 * len(values)) - 1]
        median = statistics.median(values)
        print(f"  {name:14} median {median:.3f}  p95 {p95:.3f}  min {values[0]:.3f}  max {values[-1]:.3f}")
    for span in saves[-1].spans:
        place = f"{span.began_s:.3f} to {span.ended_s:.3f}"
        print(f"    {span.name:24} {span.count:4} x  busy {span.busy_s:7.3f} s  {place}")
    print(f"  outcomes {sorted({save.verdict.outcome.value for save in saves})}, {saves[-1].kernels} specialisations")


if __name__ == "__main__":
    asyncio.run(main())
