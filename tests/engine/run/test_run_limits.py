"""A run whose processes use too much together ends with the figure."""

from __future__ import annotations

import pytest

from engine.model import Limits, Outcome
from engine.processes.resources.total_usage import Usage
from engine.run.run_limits import excess, watch_usage
from engine.verdict.decide import Stop

LIMITS = Limits(total_memory_bytes=2 << 30, total_disk_bytes=1 << 30, total_processes=8)
WITHIN = Usage(memory_bytes=2 << 30, processes=8, disk_bytes=1 << 30)


def test_usage_at_the_limits_is_allowed() -> None:
    assert excess(WITHIN, LIMITS) is None


@pytest.mark.parametrize(
    ("usage", "stop"),
    [
        (
            Usage(memory_bytes=3 << 30, processes=1, disk_bytes=0),
            Stop(
                outcome=Outcome.OUT_OF_MEMORY,
                message="the candidate's processes used 3.0 GiB of memory together, more than the 2.0 GiB allowed",
            ),
        ),
        (
            Usage(memory_bytes=0, processes=1, disk_bytes=2 << 30),
            Stop(
                outcome=Outcome.OUT_OF_MEMORY,
                message="the candidate's files took up 2.0 GiB, more than the 1.0 GiB allowed",
            ),
        ),
        (
            Usage(memory_bytes=0, processes=9, disk_bytes=0),
            Stop(
                outcome=Outcome.RUNTIME_ERROR,
                message="the candidate ran 9 processes at once, more than the 8 allowed",
            ),
        ),
    ],
)
def test_usage_beyond_limit_ends_the_run(usage: Usage, stop: Stop) -> None:
    assert excess(usage, LIMITS) == stop


async def test_watching_returns_at_the_first_excess() -> None:
    measured = iter([WITHIN, WITHIN, Usage(memory_bytes=3 << 30, processes=1, disk_bytes=0)])
    stop = await watch_usage(LIMITS, lambda: next(measured), every_s=0)
    assert stop.outcome is Outcome.OUT_OF_MEMORY
