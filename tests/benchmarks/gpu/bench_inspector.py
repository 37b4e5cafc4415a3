"""The inspector on a real GPU: how long it takes, and what it says of every file of the corpus.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.bench_inspector [--device cuda] [--parts speed cheats_gpu cheats honest wrong]

The same script runs on the CPU with `--device cpu`.  Every file is judged on its smoke and full cases by every layer;
those of `cheats_gpu` on the smoke cases alone, and they are timed.  A file that is not judged within `--limit` seconds
is given up and named, with the last thing that was heard of it.  Each part writes what was found in each file to
`--log`, and prints a table last: the durations, or the files by the id of their trick.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import math
import os
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.inspection.plan import benchmark_plan
from engine.inspection.speedup_claim import DEFAULT_BASELINE, Claim
from engine.model import BenchmarkPlan, Candidate, Finding, Plan, Severity, Stage, Tier, Verdict
from engine.model.benchmark import Span
from engine.model.events import (
    CaseBenchmarked,
    CaseFinished,
    Event,
    FindingRaised,
    LayerChecked,
    ProfileTaken,
    RunFinished,
    StageFinished,
)
from engine.model.layers import Coverage
from engine.static.source import directives
from problems.index import open_index

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "corpus"
SAMPLE = ROOT / "kgtui" / "samples" / "softmax.py"
TIMED = ("cheats_gpu",)
GRAVE = (Severity.SUSPECT, Severity.PROOF)


class NotJudgedError(Exception):
    """A file got no verdict in its time."""


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """One file and all that was said of it; seconds are after the save."""

    name: str
    events: tuple[Event, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The last word."""
        return next(event.verdict for event in self.events if isinstance(event, RunFinished))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that was found."""
        return tuple(event.finding for event in self.events if isinstance(event, FindingRaised))

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Every layer that could not be checked, with the reason."""
        reports = (event.report for event in self.events if isinstance(event, LayerChecked))
        return tuple(f"{one.by}: {one.why}" for one in reports if one.coverage is Coverage.NOT_CHECKED)

    def after(self, kind: type[Event], stage: Stage | None = None) -> float | None:
        """When the last of these came."""
        chosen = [
            event.at_s
            for event in self.events
            if isinstance(event, kind)
            and (stage is None or (isinstance(event, StageFinished) and event.stage is stage))
        ]
        return max(chosen, default=None)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where the time went."""
        return next((event.spans for event in self.events if isinstance(event, ProfileTaken)), ())


async def inspected(
    engine: Engine,
    name: str,
    content: bytes,
    operator: str,
    *,
    tiers: tuple[Tier, ...] = (Tier.SMOKE, Tier.FULL),
    benchmark: BenchmarkPlan | None = None,
    limit_s: float = 120.0,
) -> Inspected:
    """One file, judged by every layer, and timed as `benchmark` says.

    Raises:
        NotJudgedError: no verdict within `limit_s` seconds.
    """
    problem = open_index().find(operator)
    plan = Plan.for_tiers(problem, tiers=tiers, device=engine.device.platform, target=engine.device.target)
    plan = dataclasses.replace(plan, benchmark=benchmark)
    await engine.wait_until_warm()
    started = time.perf_counter()
    seen: list[Event] = []
    seconds = 0.0
    events = engine.evaluate(Candidate(source=content, problem=operator, filename=name), plan)
    try:
        async with asyncio.timeout(limit_s), contextlib.aclosing(events):
            async for event in events:
                seen.append(event)
                if isinstance(event, RunFinished):
                    seconds = time.perf_counter() - started
                    break
    except TimeoutError:
        tasks = [str(task) for task in asyncio.all_tasks()]
        raise NotJudgedError(f"no verdict in {limit_s:g} s; the last event: {seen[-1:]}; tasks: {tasks}") from None
    return Inspected(name=name, events=tuple(seen), seconds=seconds)


# ------------------------------------------------------------ speed


async def speed(engine: Engine, saves: int, log: IO[str]) -> list[str]:
    """The sample inspected again and again: without times, as `kgtui inspect` does, and as it does with a claim."""
    lines: list[str] = []
    ways: dict[str, BenchmarkPlan | None] = {"not timed": None}
    if engine.device.platform != "cpu":
        await engine.measure_peaks()
        problem = open_index().find("aten::softmax")
        ways["timed"] = benchmark_plan(problem, None)
        ways["timed for a claim"] = benchmark_plan(problem, Claim(speedup=1.0, baseline=DEFAULT_BASELINE))
    for label, benchmark in ways.items():
        done = []
        for number in range(saves):
            content = SAMPLE.read_bytes() + f"\n# inspection {number} {label}\n".encode()
            done.append(await inspected(engine, "softmax.py", content, "aten::softmax", benchmark=benchmark))
        lines.append(f"{saves} inspections of the sample, {done[0].verdict.total} cases, {label}, warm spare, s:")
        lines.append(row("all cases judged", [one.after(CaseFinished) for one in done]))
        lines.append(row("probes done", [one.after(StageFinished, Stage.PROBE) for one in done]))
        lines.append(row("verdict", [one.seconds for one in done]))
        lines += [f"  verdicts {Counter(reported(one) for one in done)}"]
        if benchmark is not None:
            counts = Counter(sum(isinstance(event, CaseBenchmarked) for event in one.events) for one in done)
            of = len(benchmark.cases)
            lines += [f"  cases timed {', '.join(f'{count} of {of} x{times}' for count, times in counts.items())}"]
        for span in done[-1].spans:
            log.write(
                f"{label}: {span.name} {span.count} x busy {span.busy_s:.3f} {span.began_s:.3f}-{span.ended_s:.3f}\n"
            )
        for timing in (event.benchmark for event in done[-1].events if isinstance(event, CaseBenchmarked)):
            log.write(f"{label}: {timing.case} {timing.outcome} {timing.elapsed_s:.2f} s {timing.comparisons}\n")
        for event in done[-1].events:
            if isinstance(event, LayerChecked):
                log.write(f"{label}: {event.at_s:.3f} {event.report}\n")
        log.flush()
    return lines


def row(label: str, values: Sequence[float | None]) -> str:
    """Median, 95th percentile and extremes."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return f"  {label:18} not reached"
    p95 = known[math.ceil(0.95 * len(known)) - 1]
    return f"  {label:18} {statistics.median(known):.3f} p95 {p95:.3f} min {known[0]:.3f} max {known[-1]:.3f}"


# ------------------------------------------------------------ corpus


def first_case(operator: str) -> BenchmarkPlan:
    """The first bench case of an operator, with time enough for every check of the clock."""
    cases = tuple(case for case in open_index().find(operator).cases if case.tier is Tier.BENCH)[:1]
    return BenchmarkPlan(cases=cases, case_s=1.5)


async def corpus(engine: Engine, kind: str, names: Sequence[str], log: IO[str], *, limit_s: float) -> list[str]:
    """Every file of one kind, or those of these names: as stated or not, and the files by id."""
    judged: list[tuple[Inspected, dict[str, str]]] = []
    given_up: list[str] = []
    for path in sorted((CORPUS / kind).rglob("*.py")):
        if names and path.stem not in names:
            continue
        stated = directives(path.read_text(errors="replace"))
        # The timed ones are right on the smallest cases, and cheat at the clock.
        tiers = (Tier.SMOKE,) if kind in TIMED else (Tier.SMOKE, Tier.FULL)
        content = path.read_bytes()
        try:
            one = await inspected(
                engine,
                path.name,
                content,
                stated["op"],
                tiers=tiers,
                limit_s=limit_s,
                benchmark=first_case(stated["op"]) if kind in TIMED else None,
            )
        except NotJudgedError as error:
            given_up.append(path.name)
            log.write(f"LATE {kind}/{path.name} {error}\n")
            continue
        judged.append((one, stated))
        write(log, kind, one, stated)
    unlike = [(one, stated) for one, stated in judged if not as_stated(one, stated)]
    lines = [f"{kind}: {len(judged) - len(unlike)} of {len(judged)} as stated"]
    lines += [f"  {one.name}: {reported(one)}, stated {stated}: {one.verdict.sentence[:300]}" for one, stated in unlike]
    lines += [f"  no verdict in {limit_s:g} s: {', '.join(given_up)}"] if given_up else []
    if kind.startswith("cheats"):
        passed = [one.name for one, _ in judged if reported(one) == "pass"]
        lines.append(f"  passed unflagged: {len(passed)} {passed}")
        lines += by_id(judged)
    if kind == "honest":
        flagged = [one.name for one, _ in judged if one.verdict.flagged]
        grave = [f"{one.name}: {found.check}" for one, _ in judged for found in one.findings if found.severity in GRAVE]
        lines.append(f"  flagged: {len(flagged)} {flagged}; suspects and proofs: {len(grave)} {grave}")
    return lines


def by_id(judged: Sequence[tuple[Inspected, dict[str, str]]]) -> list[str]:
    """For each id its files, and how each was caught."""
    rows: dict[str, list[str]] = defaultdict(list)
    for one, stated in judged:
        grave = sorted({found.check for found in one.findings if found.severity in GRAVE})
        how = reported(one) if reported(one) != "flagged" else f"flagged by {', '.join(grave) or 'an unchecked layer'}"
        for name in stated["ids"].split(","):
            rows[name].append(f"{one.name.removesuffix('.py')} ({how})")
    order = sorted(rows, key=lambda name: (name[0], int(name[1:])))
    return [f"  {name}: {'; '.join(rows[name])}" for name in order]


def as_stated(one: Inspected, stated: dict[str, str]) -> bool:
    """Whether the outcome is one of those that the file states, and a right cheat was flagged by what it states."""
    if one.verdict.outcome.value not in stated["expect"].replace("out_of_bounds", "runtime_error").split("|"):
        return False
    if one.verdict.outcome.value != "pass" or "finding" not in stated:
        return True
    return one.verdict.flagged


def reported(one: Inspected) -> str:
    """The verdict in a word."""
    return "flagged" if one.verdict.flagged else one.verdict.outcome.value


def write(log: IO[str], kind: str, one: Inspected, stated: dict[str, str]) -> None:
    """Everything about one file."""
    word = "ok  " if as_stated(one, stated) else "DIFF"
    log.write(f"{word} {kind}/{one.name} {one.seconds:.2f} s {reported(one)} stated {stated}: {one.verdict.sentence}\n")
    for finding in one.findings:
        log.write(f"    {finding.severity} {finding.check} {finding.case or ''}: {finding.message}\n")
    for event in one.events:
        if isinstance(event, LayerChecked):
            report = event.report
            facts = "; ".join(f"{fact.name}: {fact.value}" for fact in report.facts)
            log.write(f"    {event.at_s:.3f} [{report.layer}] {report.by} {report.coverage} {report.why} | {facts}\n")
    log.flush()


async def main() -> None:
    """Start an engine, do the parts, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", nargs="+", default=["speed", "cheats_gpu", "cheats", "honest", "wrong"])
    parser.add_argument("--files", nargs="*", default=[], metavar="NAME", help="only these of the corpus")
    parser.add_argument("--saves", type=int, default=10)
    parser.add_argument("--limit", type=float, default=120.0, metavar="S", help="of one file")
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, arguments.log.open("a") as log:
        store = ArtefactStore(folder=Path(folder))
        async with Engine(device=arguments.device, artefacts=store, environment=os.environ) as engine:
            await engine.wait_until_warm()
            print(f"{engine.device.name}, driver {engine.device.driver}, {engine.versions}", flush=True)
            for name in arguments.parts:
                started = time.perf_counter()
                part = (
                    speed(engine, arguments.saves, log)
                    if name == "speed"
                    else corpus(engine, name, arguments.files, log, limit_s=arguments.limit)
                )
                lines = await part
                took = f"{time.perf_counter() - started:.1f} s"
                print(f"\n== {name}, {took}", *lines, sep="\n", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
