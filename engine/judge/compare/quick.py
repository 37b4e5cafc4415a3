"""Whether outputs are wrong anywhere, by the rule of `compare`, without synchronising with the device.

For the many outputs of timed calls: their results are computed and read together, because reading each from a device is
slow, and only wrong outputs are compared in full.  The two rules may differ by the last bit of a sum; then `compare`
decides.
"""

from __future__ import annotations

import torch

from engine.judge.compare.measures import equal_or_nan, other_zero, raw, typical_each
from engine.model import Tolerance


def wrong_anywhere(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """One boolean on the device of the values, which have the same shape and dtype."""
    return wrong_among(got.unsqueeze(0), expected.unsqueeze(0), tolerance)[0]


def wrong_among(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """(n,) booleans for n outputs of one shape and dtype, stacked along the first dimension."""
    if got.numel() == 0:
        return torch.zeros(len(got), dtype=torch.bool, device=got.device)
    got, expected = got.reshape(len(got), -1), expected.reshape(len(expected), -1)
    if not (got.dtype.is_floating_point or got.is_complex()):
        return (raw(got) != raw(expected)).any(dim=1)
    wide = torch.complex128 if got.is_complex() else torch.float64
    got64, expected64 = got.to(wide), expected.to(wide)
    sizes = expected64.abs()
    finite_sizes = sizes.nan_to_num(nan=0.0, posinf=0.0)
    allowed = tolerance.relative * finite_sizes
    if tolerance.absolute:
        counts = (sizes < torch.inf).sum(dim=1, keepdim=True).clamp(min=1)
        allowed += tolerance.absolute * typical_each(finite_sizes, counts).clamp(min=tolerance.least_scale)
    # A value that is not finite on one side only exceeds every tolerance.
    close = (got64 - expected64).abs() <= allowed
    right = close | equal_or_nan(got64, expected64)
    return ~(right & ~other_zero(got, expected) if tolerance.signed_zeros else right).all(dim=1)
