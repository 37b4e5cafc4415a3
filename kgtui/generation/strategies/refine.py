"""One conversation: each answer is followed by the report of its run, until it is correct and fast enough."""

from __future__ import annotations

from kgtui.generation.records import Message, Role
from kgtui.generation.strategies import Job, Result, StrategyOptions

NAME = "refine"
SUMMARY = "send the report of each run back, for up to ROUNDS answers"
READS = ("rounds", "target_speedup")


def most_answers(options: StrategyOptions) -> int:
    """One in each round."""
    return options.rounds


async def run(job: Job, options: StrategyOptions) -> None:
    """Send up to `rounds` requests; stops at the target speed-up, or without one at the first correct answer."""
    opening = job.opening()
    messages = opening
    for number in range(1, options.rounds + 1):
        result = await job.attempt(f"round-{number}", messages)
        if is_enough(result, options):
            return
        feedback = job.prompts.feedback(result.run, extraction=result.row.extraction)
        # Only the last answer and its report, since the tokens of a longer conversation are paid again each time.
        messages = (
            *opening,
            Message(role=Role.ASSISTANT, text=result.row.received or "(no answer)"),
            Message(role=Role.USER, text=feedback),
        )


def is_enough(result: Result, options: StrategyOptions) -> bool:
    """Whether no further request is needed."""
    if not result.passed:
        return False
    if options.target_speedup is None:
        return True
    return result.speedup is not None and result.speedup >= options.target_speedup
