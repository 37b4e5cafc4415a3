"""Records refuse to be made wrong, and put cases in the order in which they are judged."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from engine.model import (
    Candidate,
    Case,
    CaseResult,
    Category,
    Cost,
    DType,
    Limits,
    Location,
    Outcome,
    OutputReport,
    Plan,
    Problem,
    ProblemDefinition,
    ProblemId,
    Rearrangement,
    ReturnedMemory,
    Tier,
    Tolerance,
)


def case(name: str, *, tier: Tier = Tier.SMOKE, **params: Any) -> Case:
    return Case(name=name, dtype=DType.FLOAT32, tier=tier, params=params)


def problem(**changes: Any) -> ProblemDefinition:
    """A problem that is right, but for `changes`."""

    def never(*_: object) -> Any:
        raise AssertionError("records call nothing")

    fields: dict[str, Any] = {
        "name": "aten::twice", "entry": "twice", "signature": "twice(x: Tensor) -> Tensor", "summary": "Twice x",
        "category": "pointwise", "cases": (case("one"),), "make_inputs": never, "reference": never, "eager": never,
        "tolerance": never, "cost": never,
    }  # fmt: skip
    return ProblemDefinition(**{**fields, **changes})


def values(**changes: Any) -> Problem:
    """The values of such a problem, whose tolerance and cost are nothing."""
    free = Cost(flops=0, bytes_read=0, bytes_written=0)
    exact = Tolerance(relative=0.0, absolute=0.0)
    return problem(**{"tolerance": lambda _: exact, "cost": lambda _: free, **changes}).problem("here")


def test_a_problem_without_cases_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^aten::twice: cases is empty; a problem needs"):
        problem(cases=())


def test_two_cases_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two cases are called 'one'; case names must differ"):
        problem(cases=(case("one"), case("two"), case("one")))


def test_invalid_signature_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^aten::twice: .*twice\(x"):
        problem(signature="twice(x: Tensor")


def test_writing_argument_outside_signature_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'y' is not an argument of 'twice\(x: Tensor\) -> Tensor' that is written"):
        problem(mutates=("y",))


def test_write_only_argument_must_be_written() -> None:
    with pytest.raises(ValueError, match="'x' is not an argument"):
        problem(written_only=("x",))


def test_returned_argument_must_be_written() -> None:
    with pytest.raises(ValueError, match="returned_memory needs one returned tensor and an argument written in place"):
        problem(returned_memory=ReturnedMemory.WRITTEN)


def test_structure_of_an_unknown_argument_is_refused() -> None:
    with pytest.raises(ValueError, match="structured names 'y', not an argument"):
        problem(structured=("y",))


def test_problem_without_returns_or_writes_is_refused() -> None:
    with pytest.raises(ValueError, match="aten::twice neither returns nor writes anything"):
        problem(returns=0)


@pytest.mark.parametrize(
    ("signature", "names"),
    [
        ("twice(x: Tensor) -> Tensor", ("x",)),
        ("twice() -> Tensor", ()),
        ("twice(x: Tensor, *, out: Tensor, n: int = 1) -> None", ("x", "out", "n")),
        ("twice(a: Tensor, /, b: Tensor | None = None, c: str = 'a, b') -> Tensor", ("a", "b", "c")),
    ],
)
def test_arguments_are_names_of_signature_in_order(signature: str, names: tuple[str, ...]) -> None:
    assert problem(signature=signature).arguments == names


@pytest.mark.parametrize(
    ("returns", "mutates", "outputs"),
    [
        (1, (), ("return",)),
        (2, (), ("return[0]", "return[1]")),
        (0, ("x",), ("x",)),
        (1, ("x",), ("return", "x")),
    ],
)
def test_outputs_are_returns_followed_by_written_arguments(
    returns: int, mutates: tuple[str, ...], outputs: tuple[str, ...]
) -> None:
    assert problem(returns=returns, mutates=mutates).outputs == outputs


def test_unknown_case_name_is_key_error() -> None:
    two = case("two")
    known = problem(cases=(case("one"), two))
    assert known.case("two") is two
    with pytest.raises(KeyError, match="three"):
        known.case("three")


def test_library_is_name_before_the_colons() -> None:
    assert problem(name="cublas::cublasSgemm_v2").library == "cublas"


def test_definition_gives_tolerance_and_cost_per_case() -> None:
    one, two = case("one", size=1), case("two", size=2)
    values = problem(
        cases=(one, two),
        mutates=("x",),
        tolerance=lambda case: Tolerance(relative=case.size("size"), absolute=0.0),
        cost=lambda case: Cost(flops=case.size("size"), bytes_read=0, bytes_written=0),
    ).problem("here", version="7")
    assert values.id == ProblemId(source="here", name="aten::twice", version="7")
    assert [values.tolerance(case).relative for case in values.cases] == [1, 2]
    assert [values.cost(case).flops for case in values.cases] == [1, 2]
    assert (values.outputs, values.arguments) == (("return", "x"), ("x",))


def test_problem_without_cost_for_case_is_refused() -> None:
    with pytest.raises(ValueError, match="aten::twice: cost_by_case has no entry for the case 'one'"):
        replace(values(), cost_by_case={})


def test_case_parameters_are_immutable() -> None:
    params: dict[str, Any] = {"rows": 3}
    made = Case(name="one", dtype=DType.FLOAT32, tier=Tier.SMOKE, params=params)
    params["rows"] = 4
    assert made.size("rows") == 3
    with pytest.raises(TypeError):
        made.params["rows"] = 5  # type: ignore[index]  # that it cannot be assigned is the point
    with pytest.raises(FrozenInstanceError):
        made.name = "other"  # type: ignore[misc]  # that it cannot be assigned is the point


ONE_OF_EACH = case("one", size=3, factor=0.5, upper=True, mode="fast", dims=(2, 3))


def test_parameters_are_read_by_kind() -> None:
    assert ONE_OF_EACH.size("size") == 3
    assert ONE_OF_EACH.number("factor") == 0.5
    assert ONE_OF_EACH.number("size") == 3.0
    assert ONE_OF_EACH.claim("upper") is True
    assert ONE_OF_EACH.word("mode") == "fast"
    assert ONE_OF_EACH.shape("dims") == (2, 3)


@pytest.mark.parametrize(
    ("read", "key", "message"),
    [
        (Case.size, "upper", "case one: parameter upper should be an integer, is True"),
        (Case.size, "factor", "case one: parameter factor should be an integer, is 0.5"),
        (Case.number, "upper", "case one: parameter upper should be a number, is True"),
        (Case.claim, "size", "case one: parameter size should be true or false, is 3"),
        (Case.word, "dims", "case one: parameter dims should be a string, is (2, 3)"),
        (Case.shape, "mode", "case one: parameter mode should be a shape, is 'fast'"),
    ],
)
def test_parameter_of_wrong_kind_names_its_kind(read: Callable[[Case, str], object], key: str, message: str) -> None:
    with pytest.raises(TypeError) as refused:
        read(ONE_OF_EACH, key)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("relative", "absolute", "refused"), [(-1e-9, 0.0, -1e-9), (0.0, math.nan, math.nan), (math.inf, 0.0, math.inf)]
)
def test_a_negative_or_infinite_tolerance_is_refused(relative: float, absolute: float, refused: float) -> None:
    with pytest.raises(ValueError, match=f"finite and not negative, got {refused}$"):
        Tolerance(relative=relative, absolute=absolute)


def test_a_negative_cost_is_refused() -> None:
    with pytest.raises(ValueError, match="a cost cannot be negative"):
        Cost(flops=1, bytes_read=-1, bytes_written=0)


@pytest.mark.parametrize(("line", "column"), [(0, None), (1, 0), (-1, 1)])
def test_a_place_before_the_first_is_refused(line: int, column: int | None) -> None:
    with pytest.raises(ValueError, match="count from one"):
        Location(line=line, column=column)


def test_a_time_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="time limits must be positive"):
        Limits(case_s=0.0)


def test_candidate_digest_depends_on_its_bytes_only() -> None:
    one = Candidate(source=b"x = 1\n", problem="aten::add", filename="one.py")
    other = Candidate(source=b"x = 1\n", problem="aten::mm", filename="two.py")
    assert one.digest == other.digest == hashlib.sha256(b"x = 1\n").hexdigest()


CASES = tuple(
    case(name, tier=tier)
    for name, tier in (("f1", Tier.FULL), ("s1", Tier.SMOKE), ("b1", Tier.BENCH), ("s2", Tier.SMOKE), ("f2", Tier.FULL))
)


@pytest.mark.parametrize(
    ("tiers", "failed_before", "order"),
    [
        ((Tier.SMOKE,), (), ("s1", "s2")),
        ((Tier.SMOKE, Tier.FULL), (), ("s1", "s2", "f1", "f2")),
        ((Tier.FULL, Tier.SMOKE), (), ("f1", "f2", "s1", "s2")),
        ((Tier.SMOKE, Tier.FULL), ("f2",), ("f2", "s1", "s2", "f1")),
        ((Tier.SMOKE, Tier.FULL), ("f2", "s2"), ("s2", "f2", "s1", "f1")),
        ((Tier.SMOKE,), ("f2", "gone"), ("s1", "s2")),
        ((), ("f2",), ()),
    ],
)
def test_failed_cases_come_first_then_by_tier(
    tiers: tuple[Tier, ...], failed_before: tuple[str, ...], order: tuple[str, ...]
) -> None:
    plan = Plan.for_tiers(values(cases=CASES), tiers=tiers, device="cpu", target="sm_90", failed_before=failed_before)
    assert tuple(chosen.name for chosen in plan.cases) == order
    assert plan.limits is None


@pytest.mark.parametrize("dtype", list(DType))
def test_every_dtype_has_size_and_unique_short_name(dtype: DType) -> None:
    assert dtype.bytes in (1, 2, 4, 8, 16)
    assert 2 <= len(dtype.short) <= 4
    assert [other.short for other in DType].count(dtype.short) == 1


def test_epsilon_is_step_after_one_or_zero() -> None:
    steps = {dtype: dtype.epsilon for dtype in (DType.FLOAT64, DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)}
    assert steps == {DType.FLOAT64: 2.0**-52, DType.FLOAT32: 2.0**-23, DType.FLOAT16: 2.0**-10, DType.BFLOAT16: 2.0**-7}
    assert DType.INT64.epsilon == DType.BOOL.epsilon == 0.0


@pytest.mark.parametrize(
    ("category", "rearranges", "rearrangement"),
    [
        (Category.SHAPE_JOIN, False, Rearrangement.YES),
        (Category.COPY_CAST, False, Rearrangement.YES),
        (Category.INDEXING, False, Rearrangement.BY_POSITIONS),
        (Category.SORT, False, Rearrangement.BY_ORDER),
        (Category.VISION, True, Rearrangement.YES),
        (Category.VISION, False, Rearrangement.NO),
        (Category.OTHER, False, Rearrangement.BY_CONTENT),
    ],
)
def test_category_decides_what_chooses_the_places(
    category: Category, rearranges: bool, rearrangement: Rearrangement
) -> None:
    made = problem(category=category, rearranges=rearranges)
    assert made.rearrangement is rearrangement
    assert rearrangement.is_certain is (rearrangement not in (Rearrangement.NO, Rearrangement.BY_CONTENT))


@pytest.mark.parametrize(
    ("category", "flops", "rearrangement"),
    [
        (Category.INDEXING, 0, Rearrangement.BY_POSITIONS),
        (Category.INDEXING, 9, Rearrangement.SUMMED_BY_POSITIONS),
        (Category.SHAPE_JOIN, 9, Rearrangement.YES),
        (Category.VISION, 9, Rearrangement.NO),
    ],
)
def test_case_with_arithmetic_at_positions_is_no_certain_rearrangement(
    category: Category, flops: int, rearrangement: Rearrangement
) -> None:
    made = values(category=category, cost=lambda _: Cost(flops=flops, bytes_read=4, bytes_written=4))
    assert made.rearrangement_in(made.cases[0]) is rearrangement


@pytest.mark.parametrize(
    ("dtypes", "answers"), [((), False), (("bool",), True), (("bool", "int8"), False), (("bool", "bool"), True)]
)
def test_case_answers_bools_if_all_its_outputs_are(dtypes: tuple[str, ...], answers: bool) -> None:
    outputs = tuple(OutputReport(name="y", outcome=Outcome.PASS, shape=(1,), dtype=dtype) for dtype in dtypes)
    result = CaseResult(
        case="c", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.0, calls=1, seed=None, outputs=outputs
    )
    assert result.answers_bools is answers


@pytest.mark.parametrize(
    ("dtypes", "answers"), [((), False), (("int64",), True), (("float32", "int32"), True), (("uint8", "bool"), False)]
)
def test_case_answers_integers_if_an_output_is_of_them(dtypes: tuple[str, ...], *, answers: bool) -> None:
    outputs = tuple(OutputReport(name="y", outcome=Outcome.PASS, shape=(1,), dtype=dtype) for dtype in dtypes)
    result = CaseResult(
        case="c", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.0, calls=1, seed=None, outputs=outputs
    )
    assert result.answers_integers is answers
