"""Whether an output is wrong anywhere, by the rule of `compare`, without waiting for the device to say so.

For the many outputs of timed calls: their answers are looked at together, and only what is wrong is
compared in full.  The two may differ by the last bit of a sum; where they do, `compare` is right.
"""

from __future__ import annotations

import torch

from engine.judge.measures import raw, typical
from engine.model import Tolerance


def wrong_anywhere(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """One boolean on the device of the values, which have the same shape and dtype."""
    if got.numel() == 0:
        return torch.zeros((), dtype=torch.bool, device=got.device)
    if not (got.dtype.is_floating_point or got.is_complex()):
        return (raw(got) != raw(expected)).any()
    wide = torch.complex128 if got.is_complex() else torch.float64
    got64, expected64 = got.to(wide), expected.to(wide)
    size = expected64.abs()
    finite_size = size.nan_to_num(nan=0.0, posinf=0.0)
    allowed = tolerance.relative * finite_size
    if tolerance.absolute:
        allowed += tolerance.absolute * typical(finite_size, (size < torch.inf).sum().clamp(min=1))
    # What is not finite on one side alone is further away than anything that is allowed.
    close = (got64 - expected64).abs() <= allowed
    same_nonfinite = (got64 == expected64) | (got64.isnan() & expected64.isnan())
    return ~(close | same_nonfinite).all()
