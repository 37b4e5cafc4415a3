"""The clock on a real GPU: its truth, what it calls a difference, and which cheats it sees.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.bench_clock [--parts truth self slower cheats] [--limit-s 180]

truth   fourteen kernels of torch and Triton by our clock, by ncu on the very same calls, and by do_bench;
self    a kernel compared with itself again and again: how many intervals cover 1.0;
slower  the same kernel made 3 % slower, or as little more as rows allow: how often it is called slower;
cheats  candidates that cheat at the clock, each with its verdict, its findings and the evidence.

Each part has the same time limit, and says so when it is over.  Prints the tables last.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import BenchmarkPlan, Candidate, Finding, Plan, Problem, Severity, Tier, Verdict
from engine.model.benchmark import CaseBenchmark, Comparison, Standing
from engine.model.events import CaseBenchmarked, FindingRaised, RunFinished
from engine.static.source import directives
from problems.catalogue import Catalogue
from problems.index import open_index

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TRUTH = (sys.executable, "-m", "tests.benchmarks.gpu.truth")
SOFTMAX = HERE / "kernels" / "softmax_rows.py"
CHEATS = ROOT / "tests" / "corpus" / "cheats_gpu"
OPERATOR, CASE = "aten::softmax", "4096x781 f32"
EXTRA_ROWS = (128, 192, 256, 288, 320, 352, 384, 416, 448, 480, 512, 640)
WANTED_SLOWDOWN = 1.03
PER_RUN = 5  # comparisons that share two workers; the next ones get new workers
NCU = (
    "ncu", "--csv", "--page", "raw", "--print-units", "base", "--metrics", "gpu__time_duration.sum",
    "--clock-control", "none", "--cache-control", "none", "--nvtx", "--nvtx-include", "timed/",
)  # fmt: skip
_MICROSECONDS = {"nsecond": 1e-3, "ns": 1e-3, "usecond": 1.0, "us": 1.0, "msecond": 1e3, "ms": 1e3}


@dataclass(kw_only=True)
class Observed:
    """What a run told."""

    verdict: Verdict | None = None
    findings: list[Finding] = field(default_factory=list)
    benchmarks: list[CaseBenchmark] = field(default_factory=list)

    @property
    def comparisons(self) -> list[Comparison]:
        return [comparison for benchmark in self.benchmarks for comparison in benchmark.comparisons]


# ------------------------------------------------------------ truth


async def truth(limit_s: float) -> list[str]:
    """Our clock against ncu and do_bench, a row a kernel."""
    ours = json.loads(await output_of(*TRUTH, "times", limit_s=limit_s))
    watched = await output_of(*NCU, *TRUTH, "--under-ncu", limit_s=limit_s)
    return truth_table(ours, ncu_durations_us(watched))


def ncu_durations_us(text: str) -> list[float]:
    """The duration of every kernel that ncu reports in its raw CSV page, in the order of their launch."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    if len(rows) < 2 or "gpu__time_duration.sum" not in rows[0]:
        raise RuntimeError(f"ncu reported no durations; its output: {text[-1500:]}")
    unit = rows[0]["gpu__time_duration.sum"]
    return [float(row["gpu__time_duration.sum"].replace(",", "")) * _MICROSECONDS[unit] for row in rows[1:]]


def truth_table(ours: list[dict[str, Any]], kernels_us: list[float]) -> list[str]:
    """Medians a call; ncu's is the sum over the kernels of a call."""
    expected = sum(one["kernels"] * one["calls"] for one in ours)
    if expected != len(kernels_us):
        raise RuntimeError(f"ncu saw {len(kernels_us)} kernels, our clock {expected}: the calls were not the same")
    lines = [f"{'kernel':32} {'ours us':>10} {'ncu us':>10} {'diff us':>8} {'ours %':>7} {'do_bench us':>12} {'%':>7}"]
    deviations: list[float] = []
    at = 0
    for one in ours:
        per_call, calls = one["kernels"], one["calls"]
        sums = [sum(kernels_us[at + per_call * call : at + per_call * (call + 1)]) for call in range(calls)]
        at += per_call * calls
        ncu_us = statistics.median(sums)
        device_us, benched_us = one["device_us"], one["do_bench_us"]
        deviation = 100 * (device_us / ncu_us - 1)
        if ncu_us > 5:
            deviations.append(abs(deviation))
        lines.append(
            f"{one['name']:32} {device_us:10.2f} {ncu_us:10.2f} {device_us - ncu_us:8.2f} {deviation:6.1f}%"
            f" {benched_us:12.2f} {100 * (benched_us / ncu_us - 1):6.1f}%"
        )
    median = statistics.median(deviations)
    lines.append(f"median deviation of our clock above 5 us: {median:.2f} % over {len(deviations)} kernels")
    return lines


# ------------------------------------------------------------ itself, slower


async def itself(engine: Engine, pairs: int, case_s: float) -> list[str]:
    """The kernel against itself."""
    source = SOFTMAX.read_bytes()
    comparisons = await compared(engine, source, source + b"\n# the same again\n", pairs, case_s)
    covering = sum(one.speedup.low <= 1.0 <= one.speedup.high for one in comparisons)
    same = sum(one.standing is Standing.SAME for one in comparisons)
    return [
        *(comparison_line(one) for one in comparisons),
        f"A/A: {covering} of {len(comparisons)} intervals cover 1.0; {same} are called no difference",
    ]


async def slower(engine: Engine, runs: int, case_s: float, limit_s: float) -> list[str]:
    """The kernel against one that computes some rows twice."""
    found = json.loads(await output_of(*TRUTH, "slowdowns", *map(str, EXTRA_ROWS), limit_s=limit_s))
    enough = {rows: slowdown for rows, slowdown in found.items() if slowdown >= WANTED_SLOWDOWN}
    if not enough:
        raise RuntimeError(f"no number of extra rows makes it {WANTED_SLOWDOWN} times as slow: {found}")
    rows, slowdown = min(enough.items(), key=lambda item: item[1])
    source = SOFTMAX.read_bytes()
    slow = source.replace(b"EXTRA_ROWS = 0", f"EXTRA_ROWS = {rows}".encode())
    comparisons = await compared(engine, slow, source, runs, case_s)
    called = sum(one.standing is Standing.SLOWER for one in comparisons)
    return [
        *(comparison_line(one) for one in comparisons),
        f"made slower by {100 * (slowdown - 1):.2f} % ({rows} of 4096 rows twice): "
        f"called slower in {called} of {len(comparisons)}",
    ]


async def compared(engine: Engine, source: bytes, other: bytes, count: int, case_s: float) -> list[Comparison]:
    """So many comparisons of `source` with `other`, with new workers every few."""
    found: list[Comparison] = []
    while len(found) < count:
        number = min(PER_RUN, count - len(found))
        run = plan(engine, (CASE,) * number, case_s=case_s)
        await engine.wait_until_warm()
        events = engine.compare(candidate(source), candidate(other), run)
        observed = await observe(events)
        if len(observed.comparisons) < number:
            raise RuntimeError(f"{len(observed.comparisons)} of {number} comparisons: {reported(observed)}")
        found += observed.comparisons
    return found


def comparison_line(one: Comparison) -> str:
    speedup = one.speedup
    return (
        f"  {speedup.value:.4f} [{speedup.low:.4f}, {speedup.high:.4f}] resolution {100 * one.resolution:.2f} %"
        f" {one.standing.value}"
    )


# ------------------------------------------------------------ cheats


async def cheats(engine: Engine) -> list[str]:
    """Every cheat, with what gave it away."""
    lines: list[str] = []
    caught = 0
    paths = sorted(CHEATS.glob("*.py"))
    for path in paths:
        stated = directives(path.read_text())
        await engine.wait_until_warm()
        problem = Catalogue().load(open_index().resolve(stated["op"]))
        timed = CASE if problem.name == OPERATOR else next(c.name for c in problem.cases if c.tier is Tier.BENCH)
        cheat = Candidate(source=path.read_bytes(), problem=problem.name, filename=path.name)
        events = engine.evaluate(cheat, plan(engine, (timed,), case_s=2.0, problem=problem))
        observed = await observe(events)
        checks = {found.check for found in observed.findings if found.severity in (Severity.SUSPECT, Severity.PROOF)}
        outcome = observed.verdict.outcome.value if observed.verdict is not None else "no verdict"
        expected = outcome in stated["expect"].split("|")
        flagged = observed.verdict is not None and observed.verdict.flagged
        right = expected and (outcome != "pass" or (flagged and not checks.isdisjoint(stated["finding"].split("|"))))
        caught += right
        lines += [f"{'caught' if right else 'MISSED'} {path.name}: {reported(observed)}"]
        lines += [f"    {finding.severity.value} {finding.check}: {finding.message}" for finding in observed.findings]
    lines.append(f"{caught} of {len(paths)} cheats were caught")
    return lines


def reported(observed: Observed) -> str:
    """The verdict, and what became of the timed cases."""
    verdict = observed.verdict
    word = "no verdict" if verdict is None else f"{verdict.outcome.value}{' (flagged)' if verdict.flagged else ''}"
    sentence = verdict.sentence if verdict is not None else ""
    timed = "; ".join(f"{one.case} {one.outcome.value}: {one.message or 'timed'}" for one in observed.benchmarks)
    return f"{word}: {sentence} | benchmark: {timed or 'not reached'}"


# ------------------------------------------------------------ what they share


def candidate(source: bytes, filename: str = "softmax_rows.py") -> Candidate:
    return Candidate(source=source, problem=OPERATOR, filename=filename)


def plan(engine: Engine, cases: tuple[str, ...], *, case_s: float, problem: Problem | None = None) -> Plan:
    """Verify the smoke cases, then time these."""
    problem = problem or Catalogue().load(open_index().resolve(OPERATOR))
    usual = Plan.for_tiers(problem, tiers=(Tier.SMOKE,), device=engine.device.platform, target=None)
    timed = BenchmarkPlan(cases=tuple(map(problem.case, cases)), baselines=(), case_s=case_s)
    return replace(usual, benchmark=timed)


async def observe(events: Any) -> Observed:  # Any: an async generator of every kind of event
    """Everything of a run that the tables need."""
    observed = Observed()
    try:
        async for event in events:
            match event:
                case CaseBenchmarked():
                    observed.benchmarks.append(event.benchmark)
                case FindingRaised():
                    observed.findings.append(event.finding)
                case RunFinished():
                    observed.verdict = event.verdict
                    break
    finally:
        await events.aclose()
    return observed


async def output_of(*command: str, limit_s: float) -> str:
    """What a program writes to its standard output; it is killed when the limit is over.

    Raises:
        RuntimeError: it failed, or took too long; with what it said last.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(), limit_s)
    except BaseException:
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise
    if process.returncode:
        said = f"{stdout.decode(errors='replace')[-1500:]}\n{stderr.decode(errors='replace')[-1500:]}"
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {said}")
    return stdout.decode(errors="replace")


async def main() -> None:
    """Start an engine on the GPU, do the parts, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", default=["truth", "self", "slower", "cheats"])
    parser.add_argument("--pairs", type=int, default=40, help="comparisons of the kernel with itself")
    parser.add_argument("--runs", type=int, default=20, help="comparisons with the slower kernel")
    parser.add_argument("--case-s", type=float, default=1.0, help="seconds for one comparison")
    parser.add_argument("--limit-s", type=float, default=180.0, help="seconds for one part")
    arguments = parser.parse_args()
    tables: dict[str, list[str]] = {}
    if "truth" in arguments.parts:  # before there is an engine, whose processes would share the device
        await part(tables, "truth", lambda: truth(arguments.limit_s), arguments.limit_s)
    if set(arguments.parts) - {"truth"}:
        await with_an_engine(tables, arguments)
    for name, lines in tables.items():
        print(f"\n== {name}", *lines, sep="\n")


async def with_an_engine(tables: dict[str, list[str]], arguments: argparse.Namespace) -> None:
    """The parts that judge candidates."""
    with tempfile.TemporaryDirectory() as folder:
        store = ArtefactStore(folder=Path(folder))
        async with Engine(device="cuda", artefacts=store, environment=os.environ) as engine:
            await engine.wait_until_warm()
            print(f"{engine.device.name}, driver {engine.device.driver}, {engine.versions}", flush=True)
            works: dict[str, Callable[[], Awaitable[list[str]]]] = {
                "self": lambda: itself(engine, arguments.pairs, arguments.case_s),
                "slower": lambda: slower(engine, arguments.runs, arguments.case_s, arguments.limit_s),
                "cheats": lambda: cheats(engine),
            }
            for name, work in works.items():
                if name in arguments.parts:
                    await part(tables, name, work, arguments.limit_s)


async def part(
    tables: dict[str, list[str]], name: str, work: Callable[[], Awaitable[list[str]]], limit_s: float
) -> None:
    """One part's table; a part that fails or takes too long says so, and the others go on."""
    started = time.perf_counter()
    try:
        async with asyncio.timeout(limit_s):
            tables[name] = await work()
    except TimeoutError:
        tables[name] = [f"stopped after {limit_s:g} s"]
    except Exception as error:  # the edge of a part: whatever it is, the others are still of interest
        tables[name] = [f"failed: {type(error).__name__}: {error}"]
    print(f"{name}: {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
