"""Mutants evaluated by the engine, on the CPU: over all SMOKE and FULL cases, until one of them says no."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Candidate, CaseResult, Limits, Outcome, Plan, Tier
from engine.model.events import CaseFinished, RunFinished
from tests.candidates import DRAW_SEED
from tests.mutation.mutants import Mutant
from tests.operators import find

LIMITS = Limits(load_s=10.0, case_s=20.0, memory_bytes=2 << 30)


class Fate(enum.StrEnum):
    """What became of a mutant; STILLBORN ones raise by themselves, which no case is needed to see."""

    REJECTED = "rejected"
    STILLBORN = "stillborn"
    SURVIVED = "survived"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Evaluated:
    """A mutant, what became of it, and the case and the message that decided it."""

    mutant: Mutant
    fate: Fate
    case: str
    tier: Tier | None
    message: str


async def evaluate(engine: Engine, mutant: Mutant, problem: str) -> Evaluated:
    """Evaluate one mutant until its first case that is not passed."""
    candidate = Candidate(source=mutant.source.encode(), problem=problem, filename=f"{mutant.kernel}.py", folder=None)
    plan = Plan.for_tiers(find(problem), tiers=(Tier.SMOKE, Tier.FULL), device="cpu", target=None, limits=LIMITS)
    events = engine.evaluate(candidate, replace(plan, draw_seed=DRAW_SEED))
    async with contextlib.aclosing(events):
        async for event in events:
            if isinstance(event, CaseFinished) and event.result.outcome is not Outcome.PASS:
                result = event.result
                fate = _fate(result.outcome, result)
                return Evaluated(mutant=mutant, fate=fate, case=result.case, tier=result.tier, message=result.message)
            if isinstance(event, RunFinished):
                fate = _fate(event.verdict.outcome, None)
                return Evaluated(mutant=mutant, fate=fate, case="", tier=None, message=event.verdict.sentence)
    raise AssertionError(f"{mutant.name}: the run ended without a verdict")


async def evaluate_all(
    mutants: Iterable[tuple[Mutant, str]], *, engines: int, folder: Path, on_evaluated: Callable[[Evaluated], None]
) -> list[Evaluated]:
    """Evaluate every mutant of the problem beside it, with `engines` at once; in the order of their ends."""
    waiting = iter(mutants)
    found: list[Evaluated] = []

    async def work(number: int) -> None:
        store = ArtefactStore(folder=folder / str(number))
        async with Engine(device="cpu", artefacts=store, environment=os.environ, limits=LIMITS) as engine:
            for mutant, problem in waiting:
                found.append(await evaluate(engine, mutant, problem))
                on_evaluated(found[-1])

    workers: list[Awaitable[None]] = [work(number) for number in range(engines)]
    await asyncio.gather(*workers)
    return found


def _fate(outcome: Outcome, result: CaseResult | None) -> Fate:
    if outcome is Outcome.PASS:
        return Fate.SURVIVED
    if outcome in (Outcome.ENGINE_ERROR, Outcome.CANCELLED):
        return Fate.UNDECIDED
    if outcome is Outcome.COMPILE_ERROR:
        return Fate.STILLBORN
    if outcome is Outcome.RUNTIME_ERROR and (result is None or result.out_of_bounds is None):
        return Fate.STILLBORN
    return Fate.REJECTED
