"""torch.compile with full tuning: it times generated kernels against the library's and keeps the fastest.

Preparing it takes seconds to minutes for a case.  Device graphs are left out, so that its time has
the launches in it that every other side has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.judge.baselines import ReadyBaseline
from engine.judge.baselines.compile import available as available
from engine.judge.baselines.compile import compiled

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, ProblemDefinition

NAME = "compile-max"


def prepare(problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device) -> ReadyBaseline:
    """The problem's `eager` under mode "max-autotune-no-cudagraphs"."""
    mode = "max-autotune-no-cudagraphs"
    return compiled(problem, arguments, label=f"{NAME} of {case.name}", device=device, mode=mode)
