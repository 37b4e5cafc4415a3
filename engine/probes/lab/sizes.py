"""Sizes of cases, by which probes limit how often a large one is called again."""

from __future__ import annotations

from engine.model import Case, Problem

_LARGE_BYTES = 64 << 20


def is_large(problem: Problem, case: Case) -> bool:
    """Whether a call reads and writes more than 64 MiB: its inputs and outputs take longer than the kernel."""
    cost = problem.cost(case)
    return cost.bytes_read + cost.bytes_written > _LARGE_BYTES
