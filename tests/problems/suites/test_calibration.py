"""Tolerances that come of runs of a reference in several precisions."""

from __future__ import annotations

import pytest
import torch

from engine.errors import UnsupportedError
from engine.judge.compare import pieces
from problems.suites.calibration import Runs, calibrated, distance

EXACT = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)
OWN = EXACT.float()


def off(by: float) -> torch.Tensor:
    return (EXACT * (1 + by)).float()


def bound(**runs: object) -> float:
    given = {"own": (OWN,), "again": (OWN,), "double": (EXACT,), "lower": None, **runs}
    return calibrated(Runs(**given)).tolerance.relative  # type: ignore[arg-type]  # a table of runs


def test_exact_reference_a_few_rounding_steps() -> None:
    assert bound() == 4 * 2.0**-23


def test_error_against_double_times_margin() -> None:
    size = 3.0 / (3.0 + (14 / 3) ** 0.5)  # the element with the largest share of its size
    assert bound(own=(off(1e-5),), again=(off(1e-5),)) == pytest.approx(16 * 1e-5 * size, rel=0.02)


def test_lower_precision_answer_stays_outside() -> None:
    lower = (off(1e-4),)
    found = bound(own=(off(1e-5),), again=(off(1e-5),), lower=lower)
    assert found == pytest.approx(1e-4 * 3.0 / (3.0 + (14 / 3) ** 0.5) / 4, rel=0.02)


def test_no_double_spread_of_runs() -> None:
    found = calibrated(Runs(own=(OWN,), again=(off(1e-5),), double=None, lower=(off(4e-3),)))
    assert found.tolerance.relative == pytest.approx(16 * 1e-5 * 3.0 / (3.0 + (14 / 3) ** 0.5), rel=0.02)
    assert "no float64 run" in found.sentence


@pytest.mark.parametrize("by", [0.5, 1e-3], ids=["largely", "in a start that fades"])
def test_random_reference_refused(by: float) -> None:
    with pytest.raises(UnsupportedError, match="the reference is random"):
        bound(again=(off(by),))


def test_rounding_of_16_bits_is_not_random() -> None:
    own, again = ((OWN * (1 + by)).bfloat16() for by in (0.0, 4e-3))
    assert bound(own=(own,), again=(again,)) < 0.1


@pytest.mark.parametrize("nonfinite", [(), (0, 4)], ids=["finite", "with infinities"])
def test_large_output_measured_in_pieces_matches_the_whole(
    monkeypatch: pytest.MonkeyPatch, nonfinite: tuple[int, ...]
) -> None:
    truth = torch.linspace(-3.0, 5.0, 41, dtype=torch.float64)
    truth[list(nonfinite)] = torch.inf
    got = truth * (1 + torch.linspace(0.0, 1e-3, 41, dtype=torch.float64))
    whole = distance([got], [truth])
    monkeypatch.setattr(pieces, "_PIECE_ELEMENTS", 4)
    assert whole == pytest.approx(1e-3 * 5.0 / (5.0 + float(truth[truth.isfinite()].square().mean().sqrt())), rel=1e-6)
    assert distance([got], [truth]) == pytest.approx(whole, rel=1e-12)


def test_integer_outputs_exact() -> None:
    numbers = (torch.tensor([1, 2]),)
    assert bound(own=numbers, again=numbers, double=numbers) == 0.0


def test_last_rounding_to_16_bits_not_multiplied() -> None:
    exact = torch.randn(500, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    once, farther = (exact.bfloat16(),), ((exact * 1.01).bfloat16(),)
    epsilon = 2.0**-7
    assert bound(own=once, again=once, double=(exact,)) == 1.5 * epsilon
    assert 1.5 * epsilon < bound(own=farther, again=farther, double=(exact,)) < 16 * 0.01
