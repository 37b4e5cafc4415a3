"""PyTorch, one operator after the other: what a user of it would write.

The problem itself says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.judge.baselines import RUNS_APART, ReadyBaseline, ready

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, ProblemDefinition

NAME = "eager"


def available(problem: ProblemDefinition, device: torch.device) -> str:
    """Everywhere but for problems of a foreign suite."""
    return RUNS_APART if problem.suite is not None else ""


def prepare(problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device) -> ReadyBaseline:
    """The problem's own `eager`, called once: libraries load their kernels on the first call."""
    return ready(problem.eager, problem, arguments, label=f"{NAME} of {case.name}", device=device)
