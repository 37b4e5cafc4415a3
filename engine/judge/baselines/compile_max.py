"""torch.compile with full tuning: it times generated kernels against the library's and keeps the fastest.

Preparing it takes seconds to minutes for a case.  CUDA graphs are off, so that its time includes launches as that of
every other side does.
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
