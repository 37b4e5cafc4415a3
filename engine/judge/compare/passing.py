"""The report of an output that is right everywhere, with as few operations on the device as possible.

Nearly every output is right, and for a small one each operation costs more than its arithmetic.  All other outputs go
to the full comparison, which applies every rule and reports the errors.
"""

from __future__ import annotations

import math
import sys

import torch

from engine.judge.compare.measures import INTEGER_OF, ordered, other_zero, raw, typical
from engine.judge.compare.pieces import pieces
from engine.model import Outcome, OutputReport, Tolerance
from engine.protocol.tensors import dtype_name

_NARROW = tuple(dtype for dtype in INTEGER_OF if dtype.itemsize < 8)  # any difference of two such values fits int64


def report_of_pass(name: str, got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> OutputReport | None:
    """The report if every value is finite and right; None if the full comparison is needed.

    Both have one type and one shape, and at least one element.
    """
    if got.dtype in _NARROW:
        errors = _float_errors(got, expected, tolerance)
    elif not (got.dtype.is_floating_point or got.is_complex()):
        errors = _integer_errors(got, expected)
    else:
        return None
    if errors is None:
        return None
    absolute, relative, ulps = errors
    return OutputReport(
        name=name,
        outcome=Outcome.PASS,
        shape=tuple(got.shape),
        dtype=dtype_name(got.dtype),
        total=got.numel(),
        max_absolute_error=absolute,
        max_relative_error=relative,
        max_ulp_error=ulps,
    )


_Errors = tuple[float, float | None, float | None]


def _float_errors(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> _Errors | None:
    everywhere = (
        tolerance.absolute * _typical(expected).clamp(min=tolerance.least_scale) if tolerance.absolute else None
    )
    answers = torch.stack([_answers(one, other, tolerance, everywhere) for one, other in pieces(got, expected)])
    # The only synchronisation with the device.
    within, absolute, relative, ulps = torch.cat((answers[:, :1].amin(dim=0), answers[:, 1:].amax(dim=0))).tolist()
    # A value that is not finite makes the largest error not finite too, and needs the full comparison.
    if not within or not absolute <= sys.float_info.max:
        return None
    return absolute, relative if relative >= 0 else None, ulps


def _answers(
    got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, everywhere: torch.Tensor | None
) -> torch.Tensor:
    """(4,) float64: whether all errors are allowed, and the largest error, relative error and distance in ulps."""
    pair = torch.stack((got, expected))
    got64, expected64 = pair.double()
    size = expected64.abs()
    error = (got64 - expected64).abs_()
    allowed = tolerance.relative * size
    if everywhere is not None:
        allowed += everywhere
    within = error <= allowed
    if tolerance.signed_zeros:
        within &= ~other_zero(got, expected)
    counted = ordered(pair)
    return torch.stack(
        (
            within.all().double(),
            error.max(),
            (error / size).masked_fill_(size == 0, -1.0).max(),
            (counted[0] - counted[1]).abs_().max().double(),
        )
    )


def _typical(expected: torch.Tensor) -> torch.Tensor:
    """As `measures.typical`, for all these values."""
    parts = [part for (part,) in pieces(expected)]
    if len(parts) == 1:
        return typical(parts[0].double().abs(), expected.numel())
    scale = torch.stack([part.double().abs().max() for part in parts]).max().clamp(min=sys.float_info.min)
    norms = torch.stack([torch.linalg.vector_norm(part.double() / scale) for part in parts])
    norm: torch.Tensor = torch.linalg.vector_norm(norms)
    return scale * norm / math.sqrt(expected.numel())


def _integer_errors(got: torch.Tensor, expected: torch.Tensor) -> _Errors | None:
    answers = ((raw(got) == raw(expected)).all(), (expected != 0).any())
    equal, some = torch.stack(answers).tolist()
    return (0.0, 0.0 if some else None, None) if equal else None
