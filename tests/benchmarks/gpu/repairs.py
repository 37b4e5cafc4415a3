"""What was repaired on a GPU, checked in minutes: exit codes, honest kernels, tuners, and where a save's time goes.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.repairs [--device cuda] [--parts honest gemm loop exits truth compilers] [--saves 5]

The same script runs on the CPU with `--device cpu`, where nothing is timed.  Each part has a limit of its own, and its
error is a row of the table that is printed last.  With OUT in the environment the rows are also written to
$OUT/repairs.jsonl, and everything that the parts said to $OUT/repairs.log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.inspection.plan import benchmark_plan
from engine.model import Stage
from engine.model.benchmark import Span
from engine.model.events import (
    CaseBenchmarked,
    CaseFinished,
    FindingRaised,
    KernelCompiled,
    StageFinished,
)
from engine.processes import process_pool
from engine.processes.candidate_session import CandidateSession
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.run import pipeline
from engine.static.source import directives
from problems.index import open_index
from tests.benchmarks.gpu import bench_inspector, bench_loop
from tests.benchmarks.gpu.bench_inspector import CORPUS, SAMPLE, Inspected, inspected, reported

HERE = Path(__file__).parent
GEMM = HERE / "kernels" / "mm_30_configurations.py"
COMMAND_S, AT_ONCE = 60.0, 4
UNSUPPORTED = "# kgtui: op=aten::silu\nimport a_package_that_nobody_has\n\n\ndef silu(self):\n    return self\n"
EXITS: Mapping[str, tuple[str, int]] = {
    "passing": (str(SAMPLE), 0),
    "failing": (str(CORPUS / "wrong" / "add_ignores_alpha.py"), 1),
    "flagged": (str(CORPUS / "cheats" / "framework_computes" / "plain_torch_and_a_decoy.py"), 4),
    "unsupported": ("unsupported.py", 3),
}
"""By its kind the kernel file, and the exit code that every command should end with for it."""
TUNED = {"passing": ("--set", "TILE=1024,2048")}
"""What `kgtui tune` is to try; other files are told whether they can be tuned at all."""
HONEST = (
    "rms_norm_heuristics",
    "rms_norm_heuristics",
    "rms_norm_heuristics",
    "cublas_sgemm_split_k",
    "silu_generated_module",
    "fused_add_rms_norm_autotune",
    "softmax_autotune",
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    part: str
    what: str
    value: str
    is_right: bool | None = None

    @property
    def text(self) -> str:
        """The row as it is printed."""
        mark = {True: "ok  ", False: "DIFF", None: "    "}[self.is_right]
        return f"{mark} {self.part:10} {self.what:46} {self.value}"


@dataclass(kw_only=True)
class Table:
    """The rows so far, each written as soon as it is known."""

    rows: list[Row] = field(default_factory=list)
    lines: TextIO | None = None
    log: TextIO | None = None

    def add(self, part: str, what: str, value: str, is_right: bool | None = None) -> None:
        """One more row."""
        row = Row(part=part, what=what, value=value, is_right=is_right)
        self.rows.append(row)
        print(row.text, flush=True)
        if self.lines is not None:
            document = {"part": part, "what": what, "value": value, "is_right": is_right}
            self.lines.write(json.dumps(document) + "\n")
            self.lines.flush()

    def say(self, text: str) -> None:
        """Something for the log alone."""
        if self.log is not None:
            self.log.write(f"{text}\n")
            self.log.flush()


# ------------------------------------------------------------ exit codes


async def exits(table: Table, options: argparse.Namespace) -> None:
    """Every command that judges, for each kind of kernel; and what needs a kept run, for the failing one."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "unsupported.py").write_text(UNSUPPORTED)
        environment = {**os.environ, "KGTUI_HOME": f"{folder}/home", "XDG_CACHE_HOME": f"{folder}/cache"}
        run_in = Runner(folder=folder, environment=environment, device=options.device, table=table)
        run_in.tell(("inspect", "--sample", "--no-store"), "inspect --sample", 0)
        kinds = tuple(EXITS.items())
        jobs = [
            ((command, file, "--no-store"), f"{command} {kind}", code)
            for command in ("check", "targets")
            for kind, (file, code) in kinds
        ]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            await asyncio.gather(*(asyncio.wrap_future(pool.submit(run_in.tell, *job)) for job in jobs))
        for command in ("inspect", "bench"):  # alone: they time, and a shared device disturbs that
            for kind, (file, code) in kinds:
                run_in.tell((command, file, "--no-store"), f"{command} {kind}", code)
        for kind, given in TUNED.items():
            run_in.tell(("tune", EXITS[kind][0], *given, "--no-store"), f"tune {kind}", 0)
        run_in.tell(("check", EXITS["failing"][0]), "check failing, kept", 1)
        run_in.tell(("export-case", "1"), "export-case of the kept run", 0)
        run_in.tell(("sessions", "list", "--runs"), "sessions list --runs", 0)
        run_in.tell(("doctor",), "doctor", 0)


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs commands and writes a row for each."""

    folder: str
    environment: Mapping[str, str]
    device: str
    table: Table

    def tell(self, arguments: tuple[str, ...], what: str, expected: int) -> None:
        """Run one command; its exit code against the expected one, with its last words where they differ."""
        judges = arguments[0] not in ("export-case", "sessions", "doctor")
        command = [sys.executable, "-m", "kgtui", *arguments, *(("--device", self.device) if judges else ())]
        started = time.perf_counter()
        try:
            ended = subprocess.run(
                command,
                cwd=self.folder,
                env=dict(self.environment),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=COMMAND_S,
                check=False,
            )
            code, said = ended.returncode, f"{ended.stdout}\n{ended.stderr}"
        except subprocess.TimeoutExpired as error:
            code, said = None, f"{error.stdout!r} {error.stderr!r}"
        took_s = time.perf_counter() - started
        last = " | ".join(line for line in said.splitlines() if line.strip())[-600:] if code != expected else ""
        self.table.add("exits", what, f"exit code {code}, expected {expected}, {took_s:.1f} s {last}", code == expected)
        self.table.say(f"=== {' '.join(arguments)}: {code}\n{said[-6000:]}")


# ------------------------------------------------------------ with an engine in this process


@contextlib.asynccontextmanager
async def engine_on(device: str) -> AsyncIterator[Engine]:
    """A warm engine."""
    with tempfile.TemporaryDirectory() as folder:
        async with Engine(
            device=device, artefacts=ArtefactStore(folder=Path(folder)), environment=os.environ
        ) as engine:
            await engine.wait_until_warm()
            yield engine


async def honest(table: Table, options: argparse.Namespace) -> None:
    """Honest kernels that were flagged; each must pass without a suspicion."""
    async with engine_on(options.device) as engine:
        table.add(
            "machine", engine.device.name, f"driver {engine.device.driver}, {engine.versions}, {os.cpu_count()} cores"
        )
        for number, name in enumerate(HONEST):
            content = (CORPUS / "honest" / f"{name}.py").read_bytes() + f"\n# {number}\n".encode()
            one = await inspected(engine, f"{name}.py", content, directives(content.decode())["op"], limit_s=60.0)
            note(table, name, one)
            grave = [
                f"{found.check}: {found.message}" for found in one.findings if found.severity in bench_inspector.GRAVE
            ]
            right = reported(one) == "pass" and not grave
            reasons = "; ".join((*grave, *one.unchecked)) or one.verdict.sentence
            table.add("honest", name, f"{reported(one)} in {one.seconds:.2f} s: {reasons}", right)


def note(table: Table, name: str, one: Inspected) -> None:
    """All that was said of one inspection, for the log."""
    table.say(f"=== {name}: {reported(one)} {one.seconds:.2f} s: {one.verdict.sentence}")
    for event in one.events:
        if isinstance(event, FindingRaised | CaseBenchmarked) or (isinstance(event, StageFinished) and event.message):
            table.say(f"    {event}"[:1500])
    for span in one.spans:
        table.say(f"    {span.name:24} {span.count:4} x busy {span.busy_s:.3f} s {span.began_s:.3f}-{span.ended_s:.3f}")


def show_spans(table: Table, part: str, label: str, spans: Sequence[Span]) -> None:
    """A row for each stage of a profile."""
    for span in spans:
        when = f"{span.began_s:.3f} to {span.ended_s:.3f}"
        table.add(part, f"{label}: {span.name}", f"{span.count} x, busy {span.busy_s:.3f} s, {when}")


async def gemm(table: Table, options: argparse.Namespace) -> None:
    """A product with an autotuner of 30 configurations, verified alone and then inspected as the command does it."""
    problem = open_index().find("aten::mm")
    async with engine_on(options.device) as engine:
        await engine.measure_peaks()
        for label, plan in (
            ("verified", None),
            ("inspected", benchmark_plan(problem, None)),
            ("again", benchmark_plan(problem, None)),
        ):
            content = GEMM.read_bytes() + f"\n# {label}\n".encode()
            one = await inspected(engine, GEMM.name, content, "aten::mm", benchmark=plan, limit_s=90.0)
            note(table, f"gemm {label}", one)
            judged_s = one.after(CaseFinished) or 0.0
            timed = [event.benchmark for event in one.events if isinstance(event, CaseBenchmarked)]
            kernels = sum(isinstance(event, KernelCompiled) for event in one.events)
            probed_s = one.after(StageFinished, Stage.PROBE) or 0.0
            table.add("gemm", f"{label}: all cases judged", f"{judged_s:.2f} s, goal 3 s", judged_s <= 3.0)
            table.add(
                "gemm",
                f"{label}: verdict",
                f"{one.seconds:.2f} s, goal 15 s: {one.verdict.sentence[:150]}",
                one.seconds <= 15.0,
            )
            table.add(
                "gemm", f"{label}: kernels, cases timed, probes done", f"{kernels}, {len(timed)}, {probed_s:.2f} s"
            )
            show_spans(table, "gemm", label, one.spans)
            for benchmark in timed:
                notes = benchmark.timing.notes if benchmark.timing is not None else ()
                table.add(
                    "gemm",
                    f"{label}: {benchmark.case}",
                    f"{benchmark.outcome} {benchmark.elapsed_s:.2f} s {benchmark.message} {notes}",
                )


async def loop(table: Table, options: argparse.Namespace) -> None:
    """Saves of the sample: without a target, as it was before, with one, and timed; with the spans of the last."""
    async with engine_on(options.device) as engine:
        target = engine.device.target
        waits = waiting_for_spares()
        await saves(table, engine, "verify only", options.saves, waits)
        with let_clean_ups_run_on():
            await saves(table, engine, "verify only, clean-ups not awaited", options.saves, waits)
        await saves(table, engine, f"with {target}", options.saves, waits, target=target)
        if target is not None:
            await engine.measure_peaks()
            await saves(table, engine, "timed", options.saves, waits, target=target, timed=1)


async def saves(
    table: Table, engine: Engine, label: str, count: int, waits: list[str], *, target: str | None = None, timed: int = 0
) -> None:
    """The figures of so many saves, and the profile of the last one."""
    waits.clear()
    await engine.wait_until_warm()
    made = calls_of_workers()
    done = await bench_loop.bench_saves(engine, count, target=target, timed=timed)
    for name in ("first_case_s", "verified_s", "interval_s", "verdict_s", "warm_again_s"):
        values = [value for save in done if (value := getattr(save, name)) is not None]
        if values:
            table.add("loop", f"{label}: {name}", bench_inspector.row("", values).strip())
    table.add("loop", f"{label}: outcome", done[-1].verdict.sentence[:120], done[-1].verdict.outcome.value == "pass")
    show_spans(table, "loop", label, done[-1].spans)
    for name, seconds in (("waited for", [each for each, _ in made]), ("as the worker says", [own for _, own in made])):
        figures = bench_inspector.row("", [1e3 * one for one in seconds]).strip()
        table.add("loop", f"{label}: ms of a call, {name}", figures)
    firsts = ", ".join(f"{1e3 * each:.1f}/{1e3 * own:.1f}" for each, own in made[:9])
    table.add("loop", f"{label}: first calls in ms, waited for/own", firsts)
    table.add("loop", f"{label}: slowest waits for a spare", ", ".join(sorted(waits, reverse=True)[:4]) or "none")


def calls_of_workers() -> list[tuple[float, float]]:
    """A list that every call of a candidate is added to from now on: seconds as waited for, and as the worker says."""
    ask, made = CandidateSession.ask, []

    async def timed(session: CandidateSession, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        began = time.perf_counter()
        reply = await ask(session, command, deadline_s=deadline_s)
        if isinstance(reply, protocol.Called):
            made.append((time.perf_counter() - began, reply.elapsed_s))
        return reply

    CandidateSession.ask = timed  # type: ignore[method-assign]  # measured from outside, so that the product stays as it is
    return made


def waiting_for_spares() -> list[str]:
    """A list that every wait for a warm process is added to from now on: seconds and what it was."""
    take, waited = WarmPool.take, []

    async def timed(spare: WarmPool) -> PooledProcess:
        began = time.perf_counter()
        process = await take(spare)
        waited.append(f"{time.perf_counter() - began:.3f} s {process.child.kind}")
        return process

    WarmPool.take = timed  # type: ignore[method-assign]  # measured from outside, so that the product stays as it is
    return waited


def let_clean_ups_run_on() -> contextlib.AbstractContextManager[object]:
    """Context in which runs end before their processes are gone."""

    async def shielded(task: asyncio.Task[None]) -> None:
        await asyncio.shield(task)

    return patch.object(pipeline, "to_its_end", shielded)


async def compilers(table: Table, options: argparse.Namespace) -> None:
    """The same saves with fewer compilers: what more of them gain, and what it costs to keep them warm."""
    for count in (4, 8):
        with patch.object(process_pool, "most_compilers", lambda *, interpreted, count=count: count):
            async with engine_on(options.device) as engine:
                await saves(table, engine, f"{count} compilers", 3, [], target=engine.device.target)


async def truth(table: Table, options: argparse.Namespace) -> None:
    """The part of bench_clock.py that did not start."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.benchmarks.gpu.truth",
        "times",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    if process.returncode:
        table.add("truth", "truth.py times", err.decode(errors="replace").strip()[-600:], False)
        return
    for one in json.loads(out):
        figures = f"{one['device_us']:.2f} us, do_bench {one['do_bench_us']:.2f} us, {one['kernels']} kernels"
        table.add("truth", one["name"], figures, one["kernels"] >= 1)


PARTS: Mapping[str, tuple[Callable[[Table, argparse.Namespace], Awaitable[None]], float]] = {
    "honest": (honest, 90.0),
    "gemm": (gemm, 120.0),
    "loop": (loop, 120.0),
    "exits": (exits, 180.0),
    "truth": (truth, 60.0),
    "compilers": (compilers, 60.0),
}


USUAL = ("honest", "gemm", "loop", "exits", "truth")


async def run(table: Table, options: argparse.Namespace) -> None:
    """Each part within its limit, and all of them within eight minutes."""
    ends = time.perf_counter() + options.limit
    for name in options.parts:
        part, limit_s = PARTS[name]
        began = time.perf_counter()
        try:
            async with asyncio.timeout(min(limit_s, max(1.0, ends - began))):
                await part(table, options)
        except Exception as error:  # one part that fails must not end the others
            last = traceback.format_exc()
            table.say(last)
            table.add(name, "the part itself", f"{type(error).__name__}: {error}"[:600], False)
        table.add(name, "took", f"{time.perf_counter() - began:.1f} s")


def main() -> int:
    """Do the parts, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=USUAL)
    parser.add_argument("--saves", type=int, default=5)
    parser.add_argument("--limit", type=float, default=470.0, metavar="S", help="of all parts together")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        table = Table()
        if folder := os.environ.get("OUT"):
            table.lines = stack.enter_context((Path(folder) / "repairs.jsonl").open("w"))
            table.log = stack.enter_context((Path(folder) / "repairs.log").open("w"))
        asyncio.run(run(table, options))
    print("\n== the table", *(row.text[:230] for row in table.rows), sep="\n")
    return 1 if any(row.is_right is False for row in table.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
