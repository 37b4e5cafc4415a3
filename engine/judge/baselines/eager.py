"""PyTorch, one operator after the other, as a user would write it.

The problem defines it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.judge.baselines import RUNS_APART, ReadyBaseline, ready

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, ProblemDefinition

NAME = "eager"


def available(problem: ProblemDefinition, device: torch.device) -> str:
    """Reason why it cannot be used: a problem of a foreign suite; "" otherwise."""
    return RUNS_APART if problem.suite is not None else ""


def prepare(problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device) -> ReadyBaseline:
    """The problem's own `eager`, called once: libraries load their kernels on the first call."""
    return ready(problem.eager, problem, arguments, label=f"{NAME} of {case.name}", device=device)
