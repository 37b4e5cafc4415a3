"""The proof on a GPU, measured: which cases of honest kernels are proven, why others are not, and what that takes.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.replay [--device cuda] [--files NAME ...] [--saves 3] [--limit 60] [--travel]
        [--machine]

Below each row are the steps of the run, in seconds from its begin: `--files add mm softmax_autotune --travel` is the
short call.  With `--travel` the proof file of each run is replayed on the same device, with `--machine` by the machine
on the CPU: how many outputs have the same bits on both.  With `--device cpu` the same replays are made by the machine.
An error of one file is a row of the table, which is printed last; everything else that was said goes to $OUT/replay.log
with OUT in the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.inspection.plan import benchmark_plan
from engine.model import Launch, Outcome, Stage, Tier
from engine.model.benchmark import Interval
from engine.model.events import CaseBenchmarked, CaseFinished, CaseProven, LayerChecked, StageFinished
from engine.model.plan import BenchmarkPlan
from engine.protocol.proof.tape import Launched, Tape, TapedArgument, TapedNumber, TapedStorage, TapedView
from engine.replay.main import Replayer
from engine.run.kernel_source import TapedKernels
from engine.static.source import directives
from engine.timing import kernel_times
from problems.index import open_index
from tests.benchmarks.gpu.bench_inspector import CORPUS, SAMPLE, Inspected, inspected, reported
from tests.benchmarks.gpu.proof_steps import STEPS, replayed_file, watch

FILES = (
    "add",
    "add_",
    "sum",
    "sum_atomics",
    "cumsum",
    "mm",
    "mm_split_k",
    "softmax_autotune",
    "rms_norm_two_launches",
    "fused_add_rms_norm_autotune",
    "scatter",
    "gather_rows",
    "mm_descriptor_cache",
    "mm_descriptors_in_a_list",
    "rms_norm_graph_by_pointer",
    "silu_cuda_graph",
)
"""Honest kernels: pointwise, in place, reductions, atomics, scans, tl.dot, tuners, several launches, graphs."""
TIMED = ("add", "mm", "softmax_autotune", "rms_norm_two_launches", "mm_descriptor_cache", "silu_cuda_graph")
_ELEMENTS = 6


@dataclass(frozen=True, kw_only=True)
class Row:
    """One file: its verdict, how many of its cases are proven, and the seconds from the last case to the last proof."""

    name: str
    verdict: str
    cases: int = 0
    proven: int = 0
    proof_s: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The row as it is printed, and a line for each reason."""
        took = f"{self.proof_s:6.2f} s" if self.proof_s is not None else "       -"
        head = f"{self.name:32.32} {self.verdict:14.14} {self.proven:4} of {self.cases:4} {took}"
        return "\n".join((head, *(f"      {reason[:200]}" for reason in self.reasons)))


def one_launch(device: str) -> str:
    """What a replayer of this process answers to a tape of one launch, in words."""
    ttir = (Path(__file__).parent / "kernels" / "double.ttir").read_text()
    with tempfile.TemporaryDirectory() as folder:
        arena, outputs = Path(folder, "arena"), Path(folder, "out")
        arena.write_bytes(np.arange(_ELEMENTS, dtype=np.float32).tobytes())
        spec = protocol.ArenaSpec(
            storages=(protocol.StorageSpec(offset=0, bytes=4 * _ELEMENTS),), bytes=4 * _ELEMENTS, path=str(arena)
        )
        replayer = Replayer(limits_reading=False, backend=backend(device))
        names = ("x", "y", "n")
        held = replayer.carry_out(protocol.HoldKernel(id="h", name="k", ttir=ttir, arguments=names))
        if device != "cpu":
            held = replayer.carry_out(binary_of(ttir, Path(folder)))
        command = protocol.ReplayTape(
            id="r", tape=double_tape(), kernels=("k",), arena=spec, outputs=str(outputs), max_output_bytes=1 << 20,
            most_bytes=1 << 20,
        )  # fmt: skip
        began = time.perf_counter()
        replayed = replayer.carry_out(command)
        took_s = time.perf_counter() - began
        values = np.frombuffer(outputs.read_bytes()[: 4 * _ELEMENTS], np.float32).tolist() if outputs.exists() else None
    return f"held: {held}\nreplayed in {took_s:.2f} s: {replayed}\nvalues: {values}, expected 0, 2, 4, 6, 8, 10"


def binary_of(ttir: str, folder: Path) -> protocol.HoldBinary:
    """The command that has a replayer hold the binary of the module `k` for the first GPU."""
    import torch

    from engine.compiler.ttir import compile_ttir

    major, minor = torch.cuda.get_device_capability(0)
    options = protocol.CompileOptions.of(double_tape().specialisations[0])
    request = protocol.BinaryRequest(kernel="double", ttir=ttir, options=options, target=f"sm_{major}{minor}")
    return protocol.HoldBinary(id="b", kernel="k", options=options, binary=compile_ttir(request, folder))


def backend(device: str):
    """What replays tapes on this device; None in host memory."""
    if device == "cpu":
        return None
    from engine.replay.device.backend import DeviceBackend

    return DeviceBackend(f"{device}:0")


def double_tape() -> Tape:
    """y = 2 x by one launch, of a vector in the arena."""
    launch = Launch(
        kernel="double", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
    )
    x, y = (
        TapedView(storage=number, dtype="float32", offset_bytes=0, shape=(_ELEMENTS,), strides=(1,))
        for number in (0, 1)
    )
    values = {"x": x, "y": y, "n": TapedNumber(value=_ELEMENTS)}
    arguments = tuple(TapedArgument(name=name, value=value) for name, value in values.items())
    size = 4 * _ELEMENTS
    return Tape(
        storages=(TapedStorage(bytes=size, argument=0), TapedStorage(bytes=size)),
        specialisations=(launch,),
        steps=(Launched(specialisation=0, grid=(1, 1, 1), arguments=arguments),),
        returned=(y,),
    )


def row_of(one: Inspected) -> Row:
    """What the events of one run say of its proof."""
    proofs = [event.proof for event in one.events if isinstance(event, CaseProven)]
    reasons = Counter(f"{proof.gap}: {proof.reason}" for proof in proofs if not proof.proven)
    cases, proven = one.after(CaseFinished), one.after(StageFinished, Stage.PROVE)
    layers = [
        f"layer {event.report.layer}: {event.report.coverage} {event.report.why}"
        for event in one.events
        if isinstance(event, LayerChecked) and event.report.by == "replay" and not proofs
    ]
    first = {proof.reason: proof.case for proof in reversed(proofs) if not proof.proven}
    lines = [
        f"{count} x {reason} (first {first[reason.partition(': ')[2]]})" for reason, count in reasons.most_common(4)
    ]
    ended = [] if one.verdict.outcome is Outcome.PASS else [f"verdict: {one.verdict.sentence}"]
    grave = [f"finding {found.check}: {found.message}" for found in one.findings if one.verdict.flagged][:3]
    return Row(
        name=one.name,
        verdict=reported(one),
        cases=len(proofs),
        proven=sum(proof.proven for proof in proofs),
        proof_s=proven - cases if proven is not None and cases is not None else None,
        reasons=(STEPS.line(one), *ended, *lines, *layers, *grave, *times_of(one)),
    )


def times_of(one: Inspected) -> list[str]:
    """A line for each timed case: both times with their intervals, and what is to be said of the second."""
    lines = []
    for benchmark in (event.benchmark for event in one.events if isinstance(event, CaseBenchmarked)):
        device_us = benchmark.timing.device_us if benchmark.timing is not None else None
        times = (f"{name} {spread(time)}" for name, time in (("device", device_us), ("kernel", benchmark.kernel_us)))
        note = benchmark.kernel_note or benchmark.message
        lines.append(f"{benchmark.case}: {', '.join(times)}, {benchmark.elapsed_s:.2f} s {note}")
    return lines


def spread(time_us: Interval | None) -> str:
    """A time with its interval."""
    return f"{time_us.value:.3f} us [{time_us.low:.3f}, {time_us.high:.3f}]" if time_us is not None else "none"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the kernel clock took for a case, in seconds: in all, and of it for the tape and its kernels."""

    case: str
    total_s: float
    prepared_s: float
    calls: int

    @property
    def text(self) -> str:
        """The row as it is printed."""
        return f"{self.case:40.40} {self.total_s:6.2f} s, of it {self.prepared_s:5.2f} s to prepare; {self.calls} calls"


COSTS: list[Cost] = []


def watch_costs() -> None:
    """Have every measurement of launches alone noted with the seconds that it takes."""
    measured, side = kernel_times.measured, TapedKernels.side
    prepared_s: list[float] = []

    async def preparing(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        try:
            return await side(*args, **kwargs)
        finally:
            prepared_s.append(time.perf_counter() - began)

    async def noted(source: Any, exchange: Any, case: Any, *args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        facts = await measured(source, exchange, case, *args, **kwargs)
        calls = sum(half.calls for halves in facts.rounds for half in halves)
        total_s = time.perf_counter() - began
        COSTS.append(Cost(case=case.name, total_s=total_s, prepared_s=sum(prepared_s), calls=calls))
        prepared_s.clear()
        return facts

    kernel_times.measured, TapedKernels.side = noted, preparing


async def judged(
    engine: Engine, path: Path, operator: str, *, timed: bool, limit_s: float, log: TextIO,
    store: ArtefactStore, travels: Sequence[Engine] = (),
) -> Row:  # fmt: skip
    """A row for one file; whatever goes wrong is one, too.  Its proof file in the store is replayed by `travels`."""
    try:
        benchmark = _timed_cases(operator) if timed and engine.device.platform != "cpu" else None
        content = path.read_bytes() + f"\n# {time.time_ns()}\n".encode()
        await engine.wait_until_warm()
        STEPS.clear()
        one = await inspected(engine, path.name, content, operator, benchmark=benchmark, limit_s=limit_s)
        row = row_of(one)
        for other in travels:
            row = replace(row, reasons=(*row.reasons, await replayed_file(other, store, one, operator)))
    except Exception as error:
        log.write(traceback.format_exc())
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        return Row(name=path.name, verdict="error", reasons=(words,))
    for event in one.events:
        if isinstance(event, CaseProven | LayerChecked):
            log.write(f"{path.name} {event}\n")
    for span in one.spans:
        log.write(f"{path.name} span {span.name} {span.count} x {span.busy_s:.3f} s\n")
    log.flush()
    return row


def _timed_cases(operator: str) -> BenchmarkPlan | None:
    problem = open_index().find(operator)
    plan = benchmark_plan(problem, None)
    cases = tuple(case for case in problem.cases if case.tier is Tier.BENCH)[:2]
    return BenchmarkPlan(cases=cases) if plan is None else BenchmarkPlan(cases=cases, baselines=plan.baselines)


async def main() -> None:
    """One launch in this process, the sample several times, each file once; then the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--files", nargs="*", default=FILES, metavar="NAME")
    parser.add_argument("--saves", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="of one file")
    parser.add_argument("--travel", action="store_true", help="replay each proof file on this device too")
    parser.add_argument("--machine", action="store_true", help="replay each proof file on the CPU too")
    arguments = parser.parse_args()
    out = os.environ.get("OUT")
    rows: list[Row] = []
    launched = ""
    watch_costs()
    watch()
    log_path = Path(out, "replay.log") if out else Path(os.devnull)
    with tempfile.TemporaryDirectory() as folder, log_path.open("a") as log:
        store = ArtefactStore(folder=Path(folder))
        async with contextlib.AsyncExitStack() as stack:
            engine = await stack.enter_async_context(_engine_on(arguments.device, store))
            travels = [engine] if arguments.travel else []
            if arguments.machine:
                travels.append(await stack.enter_async_context(_engine_on("cpu", store)))
            await engine.wait_until_warm()
            print(f"{engine.device.name}, driver {engine.device.driver}, {engine.versions}", flush=True)
            for number in range(arguments.saves):
                timed = number == arguments.saves - 1
                rows.append(
                    await judged(
                        engine, SAMPLE, "aten::softmax", timed=timed, limit_s=arguments.limit, log=log,
                        store=store, travels=travels,
                    )
                )  # fmt: skip
                print(rows[-1].text, flush=True)
            for path in _paths(arguments.files):
                operator = directives(path.read_text(errors="replace"))["op"]
                timed = path.stem in TIMED
                rows.append(
                    await judged(
                        engine, path, operator, timed=timed, limit_s=arguments.limit, log=log,
                        store=store, travels=travels,
                    )
                )  # fmt: skip
                print(rows[-1].text, flush=True)
        try:
            launched = one_launch(arguments.device)
        except Exception:
            launched = "\n".join(traceback.format_exc().splitlines()[-8:])
    print(
        "\n== one launch, in this process", launched, "\n== proofs", *(row.text for row in rows), sep="\n", flush=True
    )
    total, proven = sum(row.cases for row in rows), sum(row.proven for row in rows)
    print("== the kernel clock, at most 0.3 s a case", *(cost.text for cost in COSTS), sep="\n")
    print(f"all: {proven} of {total} cases proven; flagged: {[row.name for row in rows if row.verdict == 'flagged']}")


def _engine_on(device: str, store: ArtefactStore) -> Engine:
    return Engine(device=device, artefacts=store, environment=os.environ)


def _paths(names: Sequence[str]) -> list[Path]:
    found = [CORPUS / "honest" / f"{name}.py" for name in names]
    missing = [path.stem for path in found if not path.exists()]
    if missing:
        sys.exit(f"no honest kernels of these names: {missing}")
    return found


if __name__ == "__main__":
    asyncio.run(main())
