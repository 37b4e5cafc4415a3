"""The lines that could have made a wrong output are named, and no line where none is known to fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import CaseResult, Diagnosis, DiagnosisKind, Explanation, Location, Outcome, OutputReport, Tier
from kgtui.state.run.suspects import suspects

KERNEL = b"""
import triton
import triton.language as tl

@triton.jit
def softmax(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.load(x_ptr + col, mask=col < cols, other=float("-inf")))
    total = 0.0
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + col, mask=col < cols, other=0.0)
        power = tl.exp(x - tl.max(top))
        total += tl.sum(power)
    for start in range(0, cols, BLOCK):
        x = tl.load(x_ptr + col, mask=col < cols, other=0.0)
        tl.store(y_ptr + col, tl.exp(x) / total, mask=col < cols)

def entry(x):
    return np.load(x, mask=1)
"""


def failed(kind: DiagnosisKind | None, **changes: object) -> CaseResult:
    found = () if kind is None else (Diagnosis(kind=kind, sentence="s", evidence="e", explained=1, wrong=1),)
    report = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, explanation=Explanation(diagnoses=found))
    result = CaseResult(
        case="4x33 f32", tier=Tier.SMOKE, outcome=Outcome.WRONG_VALUE, elapsed_s=0.1, calls=1, seed=1, outputs=(report,)
    )
    return replace(result, **changes)  # type: ignore[arg-type]  # of what a test gives by name


def numbers(kind: DiagnosisKind, source: bytes = KERNEL) -> list[int]:
    found = suspects(failed(kind), source)
    return [] if found is None else [number for number, _ in found.lines]


def test_unmasked_padding_is_load_into_reduction() -> None:
    found = suspects(failed(DiagnosisKind.REDUCTION_IDENTITY), KERNEL)
    assert found is not None
    assert found.lines == ((14, "x = tl.load(x_ptr + col, mask=col < cols, other=0.0)"),)
    assert found.what == "a masked load that puts a number where the mask is off, and is reduced"


def test_lines_are_those_that_python_counts() -> None:
    found = suspects(failed(DiagnosisKind.REDUCTION_IDENTITY), b"# a\x0cb \xe2\x80\xa8 c" + KERNEL)
    assert found is not None
    assert found.lines == ((14, "x = tl.load(x_ptr + col, mask=col < cols, other=0.0)"),)


def test_without_a_reduction_every_padded_load_is_named() -> None:
    source = KERNEL.replace(b"total += tl.sum(power)", b"print(power)")
    assert numbers(DiagnosisKind.REDUCTION_IDENTITY, source) == [14, 18]


def test_rebound_name_ends_suspect_lines() -> None:
    source = KERNEL.replace(b"power = tl.exp(x - tl.max(top))", b"power = 1.0")
    assert numbers(DiagnosisKind.REDUCTION_IDENTITY, source) == [14, 18]


@pytest.mark.parametrize(
    "kind", [DiagnosisKind.UNWRITTEN_OUTPUT, DiagnosisKind.TAIL_MASK, DiagnosisKind.ZEROED, DiagnosisKind.RACE]
)
def test_unwritten_output_leads_to_stores_and_loops(kind: DiagnosisKind) -> None:
    assert numbers(kind) == [17, 19]


def test_symptom_without_line_names_none() -> None:
    assert numbers(DiagnosisKind.PRECISION) == []
    assert suspects(failed(None), KERNEL) is None


@pytest.mark.parametrize("source", [b"def f(:\n", b"\xff", b"", b"x\x00y"])
def test_source_without_kernel_has_no_suspects(source: bytes) -> None:
    assert suspects(failed(DiagnosisKind.TAIL_MASK), source) is None


def test_a_line_that_is_known_needs_no_other() -> None:
    assert suspects(failed(DiagnosisKind.TAIL_MASK, location=Location(line=3)), KERNEL) is None
