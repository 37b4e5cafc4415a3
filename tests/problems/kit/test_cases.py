"""Cases come out of lists, with names that tell them apart."""

from __future__ import annotations

import pytest

from engine.model import Case, DType, Parameter, Tier
from problems.kit import BF16, F32, cases_over, result_dtype


def test_every_combination_of_lists_becomes_a_case() -> None:
    cases = cases_over(Tier.FULL, "{shape} {dtype}", shape=[(4, 33), (7,)], dtype=[F32, BF16], dim=-1)
    assert [case.name for case in cases] == ["4x33 f32", "7 f32", "4x33 bf16", "7 bf16"]
    assert [case.dtype for case in cases] == [F32, F32, BF16, BF16]
    assert {case.tier for case in cases} == {Tier.FULL}
    assert dict(cases[0].params) == {"shape": (4, 33), "dim": -1}


@pytest.mark.parametrize(
    ("axis", "value", "spelled"),
    [
        ("shape", (64, 781), "64x781"),
        ("shape", (), "scalar"),
        ("sizes", (1024,) * 16, "16 of 1024"),
        ("sizes", (1,) * 6, "1x1x1x1x1x1"),
        ("dims", (0, -1), "0,-1"),
        ("alpha", 1e-5, "1e-05"),
        ("alpha", 2.0, "2"),
        ("keepdim", True, "true"),
        ("layout", "transposed", "transposed"),
    ],
)
def test_values_are_spelled_as_a_reader_would(axis: str, value: Parameter, spelled: str) -> None:
    (case,) = cases_over(Tier.SMOKE, f"{{{axis}}}", dtype=F32, **{axis: value})
    assert case.name == spelled


def test_varying_axis_must_be_in_label() -> None:
    with pytest.raises(ValueError, match=r"the label '\{dtype\}' does not name 'rows', which has 2 values"):
        cases_over(Tier.SMOKE, "{dtype}", dtype=F32, rows=[1, 2])


@pytest.mark.parametrize(("result", "dtype"), [("same", DType.BFLOAT16), ("float32", DType.FLOAT32)])
def test_result_dtype_is_input_dtype_unless_stated(result: str, dtype: DType) -> None:
    case = Case(name="", dtype=BF16, tier=Tier.SMOKE, params={"result": result})
    assert result_dtype(case) is dtype
