"""A population: in each round, pairs of the best candidates are combined."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kgtui.generation.prompts import Parent, feedback_of
from kgtui.generation.records import Message, Role
from kgtui.generation.strategies import Job, Result, StrategyOptions
from kgtui.generation.strategies.refine import is_enough

NAME = "evolve"
SUMMARY = "keep the best N, and combine two of them in each of ROUNDS rounds"
READS = ("samples", "rounds", "target_speedup")


def most_answers(options: StrategyOptions) -> int:
    """`samples` in each round."""
    return options.samples * options.rounds


async def run(job: Job, options: StrategyOptions) -> None:
    """Begin with `samples` answers; each further round makes as many from two parents and keeps the best."""
    opening = job.opening()
    population = await _all(job, [(f"round-1-{number}", opening) for number in range(1, options.samples + 1)])
    for number in range(2, options.rounds + 1):
        kept = best(population, count=options.samples)
        if not kept or (options.target_speedup is not None and is_enough(kept[0], options)):
            return
        asked = [
            (f"round-{number}-{child + 1}", mutation(job, opening, parents(kept, child=child)))
            for child in range(options.samples)
        ]
        population = [*kept, *await _all(job, asked)]


def best(population: Sequence[Result], *, count: int) -> list[Result]:
    """The best results with a source, each source once; of equal ones the earlier."""
    by_source: dict[str, Result] = {}
    for result in population:
        if result.source is not None:
            by_source.setdefault(result.source, result)
    return sorted(by_source.values(), key=lambda result: result.score, reverse=True)[:count]


def parents(kept: Sequence[Result], *, child: int) -> tuple[Result, ...]:
    """Two neighbours in the order of scores, a pair for each child in turn; only one parent if there is no other."""
    first, second = child % len(kept), (child + 1) % len(kept)
    return tuple(kept[place] for place in sorted({first, second}))


def mutation(job: Job, opening: tuple[Message, ...], pair: Sequence[Result]) -> tuple[Message, ...]:
    """The opening, and the parents with the results of their runs."""
    found = [
        Parent(source=result.source or "", feedback=feedback_of(result.run) if result.run is not None else "")
        for result in pair
    ]
    return (*opening, Message(role=Role.USER, text=job.prompts.mutation(found)))


async def _all(job: Job, asked: Sequence[tuple[str, tuple[Message, ...]]]) -> list[Result]:
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(job.attempt(place, messages)) for place, messages in asked]
    return [task.result() for task in running]
