"""Binaries of TTIR for the replayer, measured without a GPU: one after another, at once, and beside a verification.

    python -m tests.benchmarks.bench_binaries [--target sm_90] [--most 2] [--hostile 500]

The specialisations are those that the sample launches.  With `--hostile` so many mutants of their modules are compiled
too, and what came of them is counted: a compiler that died is no fault, an engine that failed is.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.errors import EngineError
from engine.model import Candidate, Launch, Limits, Plan, Stage, Tier, specialisation
from engine.model.events import KernelLaunched, StageFinished
from engine.processes.builds.binaries import Binaries, LostCompilerError, NotBuiltError
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.process_pool import ProcessPool
from engine.protocol.proof.binaries import BinaryRequest, CompileOptions
from engine.run.proving.binaries import BinaryBuilds
from engine.run.proving.kernels import LoweredKernels
from problems.index import open_index
from tests.engine.machine.reader.test_fuzz import mutated

SAMPLE = Path(__file__).parents[2] / "kgtui" / "samples" / "softmax.py"
_SEED = 20_261_123


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A verification with compiling beside it: seconds from its begin, and the requests that it led to."""

    verified_s: float
    lowered_s: float
    built_s: float
    requests: tuple[BinaryRequest, ...]


async def beside_verification(engine: Engine, pool: ProcessPool, *, target: str, most: int) -> Beside:
    """Judge the sample, and have what it launches compiled as soon as that is known."""
    problem = open_index().find("aten::softmax")
    candidate = Candidate(source=SAMPLE.read_bytes(), problem=problem.name, filename=SAMPLE.name)
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None)
    request = LoadRequest(candidate=candidate, entry=problem.entry, target=target)
    session = CandidateSession(request, spare=pool.compiler, limits=Limits(), on_log=lambda *_: None)
    kernels = LoweredKernels(session=session, target=target)
    builds = BinaryBuilds(Binaries(pool._start_compiler, most=most), target=target)
    requests: list[BinaryRequest] = []
    lowered_s: list[float] = []

    async def prepare(launch: Launch) -> None:
        kernel = await kernels.of_launch(launch)
        lowered_s.append(time.perf_counter() - began)
        options = CompileOptions.of(launch)
        requests.append(BinaryRequest(kernel=launch.kernel, ttir=kernel.ttir, options=options, target=target))
        await builds.of(kernel, launch)

    preparing: dict[tuple[object, ...], asyncio.Task[None]] = {}
    verified_s = 0.0
    began = time.perf_counter()
    async for event in engine.evaluate(candidate, plan):
        if isinstance(event, KernelLaunched) and specialisation(event.launch) not in preparing:
            preparing[specialisation(event.launch)] = asyncio.create_task(prepare(event.launch))
        if isinstance(event, StageFinished) and event.stage is Stage.VERIFY:
            verified_s = time.perf_counter() - began
    await asyncio.gather(*preparing.values())
    built_s = time.perf_counter() - began
    await kernels.close()
    return Beside(verified_s=verified_s, lowered_s=max(lowered_s), built_s=built_s, requests=tuple(requests))


async def seconds_of(binaries: Binaries, requests: Sequence[BinaryRequest]) -> float:
    """How long all of them take."""
    began = time.perf_counter()
    await asyncio.gather(*(binaries.build(request) for request in requests))
    return time.perf_counter() - began


async def outcome_of(building: Awaitable[object]) -> str:
    """What came of a build, in a word or two."""
    try:
        await building
    except LostCompilerError as error:
        return f"compiler lost: {str(error).partition('compiled: ')[2][:80]}"
    except NotBuiltError as error:
        return "not read" if "is not read" in str(error) else "does not compile"
    except EngineError as error:
        return f"ENGINE ERROR: {error}"
    return "built"


async def hostile(pool: ProcessPool, requests: Sequence[BinaryRequest], *, count: int, most: int) -> Counter[str]:
    """What came of so many mutants of the modules."""
    draw = random.Random(_SEED)
    binaries = Binaries(pool._start_compiler, most=most)
    mutants = []
    for _ in range(count):
        chosen = draw.choice(requests)
        text = mutated(chosen.ttir, draw)
        mutants.append(BinaryRequest(kernel=chosen.kernel, ttir=text, options=chosen.options, target=chosen.target))
    return Counter(await asyncio.gather(*(outcome_of(binaries.build(mutant)) for mutant in mutants)))


async def main() -> None:
    """Print each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--most", type=int, default=os.cpu_count() or 2, metavar="N", help="compilers at once")
    parser.add_argument("--hostile", type=int, default=0, metavar="N", help="mutants to compile")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = ArtefactStore(folder=Path(folder))
        async with Engine(device="cpu", artefacts=store, environment=os.environ) as engine:
            await engine.wait_until_warm()
            pool = engine._started_pool()
            beside = await beside_verification(engine, pool, target=arguments.target, most=arguments.most)
            count = len(beside.requests)
            print(f"{count} specialisations for {arguments.target}, {arguments.most} compilers at once")
            print(f"verified after {beside.verified_s:.2f} s, the last TTIR after {beside.lowered_s:.2f} s")
            print(f"all binaries after {beside.built_s:.2f} s", flush=True)
            for most in (1, arguments.most):
                binaries = Binaries(pool._start_compiler, most=most)
                first_s = await seconds_of(binaries, beside.requests)
                again_s = await seconds_of(binaries, beside.requests)
                print(f"{most} at once: {first_s:.2f} s, again {again_s:.4f} s", flush=True)
            if arguments.hostile:
                began = time.perf_counter()
                found = await hostile(pool, beside.requests, count=arguments.hostile, most=arguments.most)
                print(f"{arguments.hostile} mutants in {time.perf_counter() - began:.1f} s: {dict(found)}")
                await seconds_of(Binaries(pool._start_compiler, most=arguments.most), beside.requests)
                print(f"the modules themselves compile as before; processes of the engine that failed: {pool.failures}")


if __name__ == "__main__":
    asyncio.run(main())
