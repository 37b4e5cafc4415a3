"""Result of a suite's own rule for outputs.  It is reported next to our verdict, on which it has no influence.

It is applied to our expected outputs, not to those of the suite's own run, which may be in lower precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from problems.suites.task import OwnRule, RuleKind

if TYPE_CHECKING:
    import torch

    from engine.model import CalledCase


def rule_of(rule: OwnRule) -> Callable[[CalledCase], bool] | None:
    """The rule as a function; None if only the suite's own code can apply it."""
    passes = {
        RuleKind.ALLCLOSE: _is_close,
        RuleKind.MATCHED_RATIO: _is_matched,
        RuleKind.DISTANCES: _is_near,
    }.get(rule.kind)
    return None if passes is None else partial(_all_pass, rule, passes)


def _all_pass(rule: OwnRule, passes: Callable[[OwnRule, torch.Tensor, torch.Tensor], bool], call: CalledCase) -> bool:
    return all(passes(rule, got, wanted) for got, wanted in zip(call.outputs, call.expected, strict=True))


def _bounds(rule: OwnRule, expected: torch.Tensor) -> tuple[float, float]:
    """The relative and the absolute bound for this dtype; zero if the rule has none."""
    name = str(expected.dtype).removeprefix("torch.")
    found = rule.closeness.get(name, rule.closeness.get(""))
    return (0.0, 0.0) if found is None else (found.relative, found.absolute)


def _is_close(rule: OwnRule, got: torch.Tensor, expected: torch.Tensor) -> bool:
    import torch

    from engine.judge.compare.pieces import pieces

    if got.shape != expected.shape:
        return False
    relative, absolute = _bounds(rule, expected)
    wide = torch.complex128 if expected.is_complex() else torch.float64
    return all(
        torch.allclose(one.to(wide), other.to(wide), rtol=relative, atol=absolute, equal_nan=rule.equal_nan)
        for one, other in pieces(got, expected)
    )


def _is_matched(rule: OwnRule, got: torch.Tensor, expected: torch.Tensor) -> bool:
    """MATCHED_RATIO: an element fails if it exceeds both bounds; elements that are not finite fail."""
    relative, absolute = _bounds(rule, expected)
    if not bool(got.isfinite().all()):
        return False
    error = (got.double() - expected.double()).abs()
    bad = (error > absolute) & (error > relative * expected.double().abs())
    return got.numel() == 0 or 1.0 - float(bad.double().mean()) >= rule.least_matched


def _is_near(rule: OwnRule, got: torch.Tensor, expected: torch.Tensor) -> bool:
    """DISTANCES: cosine similarity, relative L1 distance and root mean square error within their thresholds."""
    import torch

    one, other = got.double().flatten(), expected.double().flatten()
    error = one - other
    distances = {
        "l1": float(error.abs().sum() / other.abs().sum()),
        "rmse": float(error.square().mean().sqrt()),
    }
    cosine = float(torch.nn.functional.cosine_similarity(one, other, dim=0))
    within = all(distances[name] <= most for name, most in rule.thresholds.items() if name in distances)
    return within and cosine >= rule.thresholds.get("cosine", -1.0)
