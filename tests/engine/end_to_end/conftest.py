"""A real engine on the CPU, shared by the tests of one process; candidates as text."""

from __future__ import annotations

import os
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Candidate, CaseResult, CompiledKernel, Finding, Launch, Limits, Plan, Tier, Verdict, events
from tests.candidates import DRAW_SEED
from tests.operators import find

SMALL = Limits(load_s=20.0, case_s=3.0, memory_bytes=1 << 30, processes=64)
COPY_KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, v / (1 + tl.exp(-v)), mask=at < n)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), B=1024)
    return y
"""


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """The events of one run."""

    events: tuple[events.Event, ...]

    @property
    def verdict(self) -> Verdict:
        (finished,) = (event for event in self.events if isinstance(event, events.RunFinished))
        return finished.verdict

    @property
    def cases(self) -> list[CaseResult]:
        return [event.result for event in self.events if isinstance(event, events.CaseFinished)]

    @property
    def launches(self) -> dict[str, list[Launch]]:
        """What each case was the first to launch."""
        launches: dict[str, list[Launch]] = {}
        for event in self.events:
            if isinstance(event, events.KernelLaunched) and event.case is not None:
                launches.setdefault(event.case, []).append(event.launch)
        return launches

    @property
    def kernels(self) -> list[CompiledKernel]:
        return [event.kernel for event in self.events if isinstance(event, events.KernelCompiled)]

    @property
    def findings(self) -> list[Finding]:
        return [event.finding for event in self.events if isinstance(event, events.FindingRaised)]

    @property
    def log(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, events.LogWritten))


Evaluate = Callable[..., Awaitable[Evaluated]]
CompiledFor = Callable[..., Awaitable[list[CompiledKernel]]]


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> ArtefactStore:
    """What the runs of all tests store."""
    return ArtefactStore(folder=tmp_path_factory.mktemp("artefacts"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def engine(artefacts: ArtefactStore) -> AsyncIterator[Engine]:
    """One engine for all tests of this process."""
    environment = {
        **os.environ,
        "SOME_API_KEY": "not for candidates",
        "ACCESS_TOKEN": "nor this",
        "A_SECRET": "nor that",
    }
    async with Engine(device="cpu", artefacts=artefacts, environment=environment, limits=SMALL) as running:
        yield running


@pytest.fixture
def evaluate(engine: Engine) -> Evaluate:
    """Run a source text (or a file) and collect its events; without `sass` up to the verdict, before disassembly."""

    async def run(
        source: str | Path,
        *,
        problem: str = "aten::silu",
        tiers: tuple[Tier, ...] = (Tier.SMOKE,),
        target: str | None = None,
        limits: Limits = SMALL,
        folder: Path | None = None,
        also: tuple[str, ...] = (),
        sass: bool = True,
        draw_seed: int = DRAW_SEED,
        chooses_seed: bool = False,
        one_worker: bool = False,
    ) -> Evaluated:
        if isinstance(source, Path):
            content, filename = source.read_bytes(), source.name
        else:
            content, filename = textwrap.dedent(source).encode(), "kernel.py"
        candidate = Candidate(source=content, problem=problem, filename=filename, folder=folder)
        plan = Plan.for_tiers(find(problem), tiers=tiers, device="cpu", target=target, limits=limits)
        chosen = (*plan.cases, *map(plan.problem.case, also))
        cases = tuple({case.name: case for case in chosen}.values())
        plan = replace(plan, cases=cases, draw_seed=draw_seed, chooses_seed=chooses_seed, one_worker=one_worker)
        collected: list[events.Event] = []
        async with aclosing(engine.evaluate(candidate, plan)) as running:
            async for event in running:
                collected.append(event)
                if isinstance(event, events.RunFinished) and not sass:
                    break
        return Evaluated(events=tuple(collected))

    return run


@pytest.fixture
def compiled_for(engine: Engine) -> CompiledFor:
    """Compile launches of a file for a target that is not that of its run, without disassembly."""

    async def compiled(target: str, path: Path, problem: str, launches: Sequence[Launch]) -> list[CompiledKernel]:
        candidate = Candidate(source=path.read_bytes(), problem=problem, filename=path.name)
        kernels: list[CompiledKernel] = []
        async with aclosing(
            engine.retarget(candidate, entry=find(problem).entry, launches=launches, targets=(target,))
        ) as porting:
            async for event in porting:
                if isinstance(event, events.KernelPorted):
                    kernels.append(event.kernel)
                    if event.number == event.total:  # launches of one specialisation are one
                        break
        return kernels

    return compiled


@pytest.fixture
def copy_kernel() -> str:
    """A right kernel for aten::silu."""
    return COPY_KERNEL
