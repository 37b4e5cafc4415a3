"""Small steps that most operators of this library share: layouts of all arguments, and an exact answer."""

from __future__ import annotations

from engine.model import Case, Tolerance
from problems.kit.deferred import torch
from problems.kit.layouts import laid_out
from problems.kit.tolerances import EXACT


def arranged(case: Case, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The tensors in the layout that the parameter `layout` of the case names."""
    return tuple(laid_out(tensor, case.word("layout")) for tensor in tensors)


def exact(case: Case) -> Tolerance:
    """Copies, integers and codes: nothing is rounded."""
    return EXACT
