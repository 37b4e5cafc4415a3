"""Whether an output is wrong anywhere, by the rule of `compare`, without waiting for the device to say so.

For the many outputs of timed calls: their answers are looked at together, and only what is wrong is
compared in full.  The two may differ by the last bit of a sum; where they do, `compare` is right.
"""

from __future__ import annotations

import torch

from engine.model import Tolerance


def wrong_anywhere(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """One boolean on the device of the values, which have the same shape and dtype."""
    if got.numel() == 0:
        return torch.zeros((), dtype=torch.bool, device=got.device)
    if got.dtype == torch.bool:  # which may hold any byte
        return (got.view(torch.uint8) != expected.view(torch.uint8)).any()
    if not (got.dtype.is_floating_point or got.is_complex()):
        return (got != expected).any()
    wide = torch.complex128 if got.is_complex() else torch.float64
    got64, expected64 = got.to(wide), expected.to(wide)
    expected_finite = expected64.isfinite()
    size = expected64.abs()
    allowed = tolerance.relative * size + tolerance.absolute * _typical(size, expected_finite)
    same_nonfinite = (got64 == expected64) | (got64.isnan() & expected64.isnan())
    both = got64.isfinite() & expected_finite
    return torch.where(both, (got64 - expected64).abs() > allowed, ~same_nonfinite).any()


def _typical(size: torch.Tensor, finite: torch.Tensor) -> torch.Tensor:
    """Root mean square of the finite values, scaled first so that no square is infinite; 0 when there are none."""
    sizes = torch.where(finite, size, torch.zeros_like(size))
    largest = sizes.max()
    scaled = sizes / torch.where(largest > 0, largest, torch.ones_like(largest))
    return largest * (scaled.square().sum() / finite.sum().clamp(min=1)).sqrt()
