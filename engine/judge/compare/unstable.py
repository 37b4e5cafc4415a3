"""Elements at which a reference is discontinuous: a threshold, tie or rounding decided by an input's last bit.

A right kernel rounds intermediate results and may end on the other side of the jump.  Such an element is right if the
reference has its value too after inputs in 32 or 64 bits are moved by at most two units in the last place.  Inputs in
16 bits are not moved: kernels compute in higher precision, and one of their units may be a real error.  Only foreign
problems need this: those of the catalogue compare such outputs by rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import torch

from engine.errors import ReferenceFaultError
from engine.judge.compare.compare import compare_elements
from engine.model import Tolerance, map_items
from engine.problem_source import ReferenceUnavailableError
from engine.protocol.tensors import tensors_in

if TYPE_CHECKING:
    from engine.model import Arguments, Outputs

_DIRECTIONS = ((1.0, 2.0), (-2.0, -1.0), (-2.0, 2.0), (-2.0, 2.0))  # units in the last place
_FEW, _FEW_SHARE = 4, 1e-3
_RUNS, _RUNS_OF_MANY, _FRUITLESS = 16, 8, 4


def settled(
    got: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    tolerances: Sequence[Tolerance],
    *,
    arguments: Arguments,
    reference: Callable[..., Outputs],
) -> list[torch.Tensor] | None:
    """The outputs with each wrong element that the reference may produce, too, replaced by the expected one.

    None if elements remain wrong.  The reference runs 16 times at most; 8 times if more than four elements and one in
    a thousand are wrong, and then not again after the fourth run if none is explained by then.  The result is also None
    if the reference fails on moved inputs, which may be outside of its domain, or if no input can be moved.
    """
    if not any(_is_moved(tensor) for value in arguments for tensor in tensors_in(value)):
        return None
    values = [one.clone() for one in got]
    compared = zip(values, expected, tolerances, strict=True)
    wrong = [compare_elements(one, wanted, tolerance).wrong for one, wanted, tolerance in compared]
    count, size = sum(int(mask.sum()) for mask in wrong), sum(mask.numel() for mask in wrong)
    runs = _RUNS if count <= max(_FEW, _FEW_SHARE * size) else _RUNS_OF_MANY
    generator = torch.Generator().manual_seed(0)
    for run, direction in zip(range(runs), cycle(_DIRECTIONS), strict=False):
        try:
            answer = reference(*moved(arguments, direction, generator))
        except (ReferenceFaultError, ReferenceUnavailableError):
            return None
        others = (answer,) if isinstance(answer, torch.Tensor) else answer
        for value, wanted, other, mask, tolerance in zip(values, expected, others, wrong, tolerances, strict=True):
            if other.shape == value.shape and other.dtype == value.dtype and value.numel():
                explained = mask & ~compare_elements(value, other, tolerance).wrong
                value[explained] = wanted[explained]
                mask &= ~explained
        left = sum(int(mask.sum()) for mask in wrong)
        if left == 0:
            return values
        if run + 1 == _FRUITLESS and left == count and runs == _RUNS_OF_MANY:
            return None
    return None


def moved(  # Any: arguments of an untrusted function, nested
    value: Any, direction: tuple[float, float], generator: torch.Generator
) -> Any:
    """The arguments with each 32- or 64-bit float in a tensor moved by a random number of units in the last place.

    `direction` is the range of that number.
    """
    if isinstance(value, torch.Tensor):
        return _moved(value, direction, generator) if _is_moved(value) else value
    return map_items(value, lambda item: moved(item, direction, generator))


def _is_moved(tensor: torch.Tensor) -> bool:
    return tensor.dtype in (torch.float32, torch.float64)


def _moved(tensor: torch.Tensor, direction: tuple[float, float], generator: torch.Generator) -> torch.Tensor:
    low, high = direction
    steps = torch.rand(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.device) * (high - low) + low
    return (tensor.double() * (1 + torch.finfo(tensor.dtype).eps * steps)).to(tensor.dtype)
