"""Small operators, and the comparison of a wrong output of one with its reference."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from engine.judge.diagnosis.explain import Explainer
from engine.judge.diagnosis.wrong_output import WrongOutput
from engine.model import (
    Case,
    Cost,
    DiagnosisKind,
    DType,
    ProblemDefinition,
    Tier,
    Tolerance,
)
from engine.protocol import tensors

K = DiagnosisKind
NEVER = Case(name="never", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
TOLERANCE, EXACT = Tolerance(relative=1e-6, absolute=1e-6), Tolerance(relative=0.0, absolute=0.0)


def operator(signature, reference, *, returns=1, mutates=(), written_only=()):
    return ProblemDefinition(
        name="toy::operator", entry="operator", signature=f"operator({signature})", summary="", category="",
        cases=(NEVER,), make_inputs=lambda case, rng: (), reference=reference, eager=reference,
        tolerance=lambda case: TOLERANCE, cost=lambda case: Cost(flops=0, bytes_read=0, bytes_written=0),
        returns=returns, mutates=mutates, written_only=written_only,
    )  # fmt: skip


SILU = operator("x", lambda x: torch.nn.functional.silu(x.double()).to(x.dtype))
SOFTMAX = operator("x", lambda x: torch.softmax(x.double(), -1).to(x.dtype))
CUMSUM = operator("x", lambda x: torch.cumsum(x.double(), -1).to(x.dtype))
SUM = operator("x", lambda x: x.double().sum(-1).to(x.dtype))
MM = operator("a, b", lambda a, b: (a.double() @ b.double()).to(a.dtype))
AFFINE = operator("x, weight, bias", lambda x, weight, bias: (x.double() * weight.double() + bias.double()).to(x.dtype))
ADD = operator("x, y, alpha", lambda x, y, alpha: x + alpha * y)
INTEGERS = operator("x", lambda x: x.long().cumsum(-1))
MEAN = operator("x", lambda x: x.double().mean(-1).to(x.dtype))
QUOTIENT = operator("x, y", lambda x, y: torch.div(x, y, rounding_mode="floor"))
FMAX = operator("x, y", lambda x, y: torch.fmax(x.double(), y.double()).to(x.dtype))
GREATER = operator("x, y", lambda x, y: x > y)
QUANTISE = operator("x", lambda x: x.double().clamp(-448, 448).to(torch.float8_e4m3fn))
SHIFTED = operator("x, bias: Tensor | None = None", lambda x, bias: x if bias is None else x + bias)
CHOOSE = operator("x, mask", lambda x, mask: torch.where(mask, x, 2 * x))


def normal(*shape, seed=3):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def content_of(problem, *inputs):
    specs, storages = tensors.lay_out(inputs)
    return SimpleNamespace(inputs=inputs, expected=(problem.reference(*inputs),), specs=specs, storages=storages)


def compared(problem, inputs, got, **options):
    expected = problem.reference(*inputs)
    return WrongOutput(
        name="return",
        got=got,
        expected=expected,
        poison=0xFF,
        **{"tolerance": TOLERANCE if expected.is_floating_point() else EXACT, **options},
    )


def kinds(problem, inputs, got, **options):
    output = compared(problem, inputs, got, **options)
    assert output.wrong_count
    return [found.kind for found in Explainer().diagnoses(problem, inputs, 0, output)]


def first_words(problem, inputs, got, **options):
    return Explainer().diagnoses(problem, inputs, 0, compared(problem, inputs, got, **options).on_host)[0].sentence
