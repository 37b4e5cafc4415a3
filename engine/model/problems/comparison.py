"""Arguments and results of a problem's own comparer: for operators that need more than a tolerance.

Examples are quantised outputs (errors counted in steps), sets whose order is free, and random operators, whose
numbers follow a distribution.  No torch here but for types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from engine.model.problems.case import Case
    from engine.model.problems.values import Arguments


@dataclass(frozen=True, kw_only=True, eq=False)
class CalledCase:
    """One finished call.

    `arguments` are those before the call.  `outputs` and `expected` are those of the candidate and of the reference, of
    the same shapes and dtypes, on the judge's device: the returned tensors, then those written in place.  `earlier` are
    the outputs of the first call on the same input, () in that call itself and if unknown.
    """

    case: Case
    arguments: Arguments
    outputs: tuple[torch.Tensor, ...]
    expected: tuple[torch.Tensor, ...]
    earlier: tuple[torch.Tensor, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputMatch:
    """Result of a comparer for one output.

    `wrong` are booleans of the output's shape.  If the output is wrong as a whole, as for a random operator, all of
    them are true.  `message` describes the error in a sentence, "" for a message made from the counts.  `error` is the
    largest error in the comparer's own unit, such as quantisation steps; `unit` names that.  `left_open` are booleans
    of the same shape, true at elements that may hold anything whatever the outputs are; None if there are none.
    """

    wrong: torch.Tensor
    message: str = ""
    error: float | None = None
    unit: str = ""
    left_open: torch.Tensor | None = None

    def __post_init__(self) -> None:
        if self.left_open is not None and self.left_open.shape != self.wrong.shape:
            shapes = f"{tuple(self.left_open.shape)} and {tuple(self.wrong.shape)}"
            raise ValueError(f"left_open and wrong should have one shape, and have the shapes {shapes}")
