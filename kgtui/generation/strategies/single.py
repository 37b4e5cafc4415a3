"""Independent answers to the same prompt, all at once, for pass@k."""

from __future__ import annotations

import asyncio

from kgtui.generation.strategies import Job, StrategyOptions

NAME = "single"
SUMMARY = "draw N independent answers"
READS = ("samples",)


def most_answers(options: StrategyOptions) -> int:
    """One for each sample."""
    return options.samples


async def run(job: Job, options: StrategyOptions) -> None:
    """Draw `samples` answers and run each."""
    messages = job.opening()
    async with asyncio.TaskGroup() as tasks:
        for number in range(1, options.samples + 1):
            tasks.create_task(job.attempt(f"sample-{number}", messages))
