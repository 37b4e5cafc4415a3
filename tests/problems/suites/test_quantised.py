"""Quantised answers against full precision, in units of the error that the formats of the task cause."""

from __future__ import annotations

import json

import pytest
import torch

from engine.model import CalledCase, Case, DType, OutputMatch, Tier
from problems.suites.quantised import Formats, comparer, formats_of, match, rounded_arguments, rounded_to

FORMATS = Formats(weight="int8", activation="int8", parameters=("input", "weight"))
CASE = Case(name="line 1", dtype=DType.FLOAT32, tier=Tier.FULL, params={})


def exact(arguments):
    (x, w), _ = arguments
    return (x.double() @ w.double(),)


def operands(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(32, 256, generator=rng), torch.randn(256, 64, generator=rng)


def by_scale(value: torch.Tensor, dim: int, most: int) -> torch.Tensor:
    """Rounded with one scale for each row or column, as a kernel may."""
    scale = value.abs().amax(dim=dim, keepdim=True).clamp(min=1e-12) / most
    return (value / scale).round().clamp(-most, most) * scale


def judged(got: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> OutputMatch:
    arguments = ((x, w), ())
    call = CalledCase(case=CASE, arguments=arguments, outputs=(got,), expected=(got,))
    (found,) = comparer(FORMATS, exact)(call)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_honest_int8_kernels_pass(seed: int) -> None:
    x, w = operands(seed)
    per_tensor = rounded_to(x, 8) @ rounded_to(w, 8)
    finer = by_scale(x, 1, 127) @ by_scale(w, 0, 127)
    found = [judged(got, x, w) for got in (per_tensor, finer, x @ w)]

    assert [int(one.wrong.sum()) for one in found] == [0, 0, 0]
    coarse, fine, exactly = (one.error or 0.0 for one in found)
    assert 12 > coarse > fine > 0.1 > exactly


@pytest.mark.parametrize("mistake", ["int4", "zeros", "scale", "column"])
def test_wrong_kernels_fail(mistake: str) -> None:
    x, w = operands()
    right = by_scale(x, 1, 127) @ by_scale(w, 0, 127)
    column = right.clone()
    column[:, 3] = 0.0
    answers = {
        "int4": by_scale(x, 1, 7) @ by_scale(w, 0, 7),
        "zeros": torch.zeros_like(right),
        "scale": right * 128 / 127 * 1.05,
        "column": column,
    }
    found = judged(answers[mistake], x, w)

    assert bool(found.wrong.any())
    assert "quantisation units against full precision" in found.message


def test_exactly_representable_inputs_allow_only_rounding() -> None:
    x, w = torch.tensor([[127.0]]), torch.tensor([[-127.0]])

    assert not judged(x @ w, x, w).wrong.any()
    assert judged(x @ w + 1.0, x, w).wrong.all()


def test_nan_output_is_wrong() -> None:
    x, w = operands()

    assert judged((x @ w).fill_(float("nan")), x, w).wrong.all()


def test_bias_and_numbers_keep_their_values() -> None:
    formats = Formats(weight="int4", activation="none", parameters=("input", "weight", "bias"))
    x, w, b = torch.randn(4, 8), torch.randn(8), torch.randn(3)

    (args, kwargs) = rounded_arguments(((x, w, b), (("eps", 1e-5),)), formats)

    assert (args[0] is x, args[2] is b, kwargs) == (True, True, (("eps", 1e-5),))
    assert args[1].unique().numel() <= 15


def test_quantised_formats_are_read_from_details() -> None:
    details = {
        "quantisation": json.dumps({"weight": "int8", "activation": "int8"}),
        "parameters": '["input", "weight"]',
    }

    assert formats_of(details) == FORMATS
    assert formats_of({}) is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rounded_output_passes_in_unquantised_dtypes(dtype: torch.dtype) -> None:
    full = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    factor = 1 + 2 * torch.finfo(dtype).eps

    right, wrong = (match(value.to(dtype), full, full).wrong for value in (full, full * factor))

    assert (bool(right.any()), bool(wrong.all())) == (False, True)
