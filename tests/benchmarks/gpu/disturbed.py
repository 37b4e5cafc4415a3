"""Honest kernels judged on a GPU while something disturbs: processes that are killed, other benchmarks, busy cores.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.disturbed [--device cuda] [--parts deaths beside busy] [--rounds 2]

`deaths` kills the engine's processes of each kind at each stage, timing included.  `beside` runs four `kgtui bench` at
the same time on one device, and `busy` runs one beside two busy loops for each core.  Every verdict should be that of
an undisturbed run: a pass without a suspicion.  A table is printed last; the exit code is 1 if a row differs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

from engine.engine import Engine
from engine.model import BenchmarkPlan, Candidate, Outcome, Plan, Severity, Stage, Tier
from engine.model.events import CaseBenchmarked, RunFinished, StageStarted
from problems.index import open_index
from tests.benchmarks.gpu.repairs import Table, engine_on
from tests.engine.process_tree import children_of, fork_servers_of

SAMPLE = Path(__file__).parents[3] / "kgtui" / "samples" / "softmax.py"
KINDS = ("kgtui-judge", "kgtui-worker", "kgtui-compiler", "kgtui-forkserv")
STAGES = (Stage.LOAD, Stage.VERIFY, Stage.COMPILE, Stage.BENCHMARK)
RUN_S, BENCH_S, AT_ONCE = 60.0, 140.0, 4


async def deaths(table: Table, options: argparse.Namespace) -> None:
    """Every kind of process at every stage; in the timing stage also a moment after it began."""
    async with engine_on(options.device) as engine:
        await engine.measure_peaks()
        for kind in KINDS:
            for stage in STAGES:
                await one_death(table, engine, kind, stage, after_s=0.0)
            await one_death(table, engine, kind, Stage.BENCHMARK, after_s=0.5)
        await one_death(table, engine, "none", Stage.LOAD, after_s=0.0)


async def one_death(table: Table, engine: Engine, kind: str, stage: Stage, *, after_s: float) -> None:
    """A run of the sample, timed on one case, in which all processes of this kind are killed once."""
    problem = open_index().find("aten::softmax")
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE,), device=engine.device.platform, target=engine.device.target)
    if engine.device.platform != "cpu":
        benched = next(case for case in problem.cases if case.tier is Tier.BENCH)
        plan = dataclasses.replace(plan, benchmark=BenchmarkPlan(cases=(benched,)))
    await engine.wait_until_warm()
    killed: list[int] = []
    timed: list[str] = []
    ended = ""
    began = time.perf_counter()
    source = SAMPLE.read_bytes() + f"\n# {kind} {stage} {after_s} {began}\n".encode()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(RUN_S):
            async for event in engine.evaluate(Candidate(source=source, problem=problem.name), plan):
                if isinstance(event, StageStarted) and event.stage is stage:
                    kill_later(engine, kind, after_s, killed)
                if isinstance(event, CaseBenchmarked):
                    timed.append(f"{event.benchmark.outcome} {event.benchmark.message}".strip())
                if isinstance(event, RunFinished):
                    right = event.verdict.outcome is Outcome.PASS and not event.verdict.flagged
                    ended = f"{'pass' if right else event.verdict.sentence}"
    seconds = time.perf_counter() - began
    value = f"{ended or 'no verdict'} in {seconds:.1f} s, killed {len(killed)}, timed: {', '.join(timed) or 'nothing'}"
    what = f"{kind} at {stage}" + (f" + {after_s:g} s" if after_s else "")
    table.add("deaths", what, value, ended == "pass" and all(each == "pass" for each in timed))


def kill_later(engine: Engine, kind: str, after_s: float, killed: list[int]) -> None:
    """Kill every process of this kind that exists after so many seconds; their ids go to `killed`."""

    def kill() -> None:
        killed.extend(pid for pid in processes_of(engine) if name_of(pid) == kind)
        for pid in killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    if after_s:
        asyncio.get_running_loop().call_later(after_s, kill)
    else:
        kill()


def processes_of(engine: Engine) -> Iterator[int]:
    """The fork servers, and what they started."""
    for fork_server in fork_servers_of(engine):
        yield fork_server
        with contextlib.suppress(OSError):
            yield from children_of(fork_server)


def name_of(pid: int) -> str:
    """The name of a process, "" if it has gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


async def beside(table: Table, options: argparse.Namespace) -> None:
    """Benchmarks of the sample at the same time, each its own process with its own engine."""
    for number in range(options.rounds):
        ended = await asyncio.gather(*(bench(options.device) for _ in range(AT_ONCE)))
        for one, (code, findings, seconds) in enumerate(ended):
            value = f"exit code {code} in {seconds:.1f} s {findings}"
            table.add("beside", f"round {number + 1}, bench {one + 1} of {AT_ONCE}", value, code == 0 and not findings)


async def busy(table: Table, options: argparse.Namespace) -> None:
    """One benchmark beside two busy loops for each core."""
    async with busy_loops(2 * (os.cpu_count() or 1)):
        for number in range(options.rounds):
            code, findings, seconds = await bench(options.device)
            value = f"exit code {code} in {seconds:.1f} s {findings}"
            table.add("busy", f"round {number + 1}", value, code == 0 and not findings)


@contextlib.asynccontextmanager
async def busy_loops(count: int) -> AsyncIterator[None]:
    """So many processes that compute without end."""
    loops = [await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass") for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
        await asyncio.gather(*(loop.wait() for loop in loops))


async def bench(device: str) -> tuple[int | None, str, float]:
    """The exit code of one `kgtui bench`, its grave findings in words, and seconds."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "KGTUI_HOME": f"{home}/home", "XDG_CACHE_HOME": f"{home}/cache"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kgtui", "bench", str(SAMPLE), "--no-store", "--json", "--device", device),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), BENCH_S)
        except TimeoutError:
            return None, f"no end in {BENCH_S:g} s", time.perf_counter() - began
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return process.returncode, grave_in(out, err), time.perf_counter() - began


def grave_in(out: bytes, err: bytes) -> str:
    """The checks that suspect or prove something, by how often; the last words where there is no document."""
    try:
        document = json.loads(out)
    except ValueError:
        return err.decode(errors="replace").strip()[-300:]
    findings = document.get("findings", []) if isinstance(document, dict) else []
    grave = Counter(
        f"{found['check']}: {found['message']}"
        for found in findings
        if found["severity"] in (Severity.SUSPECT.value, Severity.PROOF.value)
    )
    return "; ".join(f"{words} ({count}x)" for words, count in grave.items())


PARTS: Mapping[str, tuple[Callable[[Table, argparse.Namespace], Awaitable[None]], float]] = {
    "deaths": (deaths, 240.0),
    "beside": (beside, 240.0),
    "busy": (busy, 300.0),
}


def main() -> int:
    """Do the parts, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    table = Table()
    asyncio.run(run(table, options))
    print("\n== the table", *(row.text[:400] for row in table.rows), sep="\n")
    return 1 if any(row.is_right is False for row in table.rows) else 0


async def run(table: Table, options: argparse.Namespace) -> None:
    """Each part within its limit."""
    for name in options.parts:
        part, limit_s = PARTS[name]
        try:
            async with asyncio.timeout(limit_s):
                await part(table, options)
        except Exception as error:  # one part that fails must not end the others
            table.add(name, "the part itself", f"{type(error).__name__}: {error}"[:600], False)


if __name__ == "__main__":
    sys.exit(main())
