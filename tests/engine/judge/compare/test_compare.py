"""How wrong, where and in what pattern: every rule of the comparison on outputs that can be checked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.compare.compare import compare, error_map
from engine.model import Outcome, OutputReport, Tolerance, WrongElement

EXACT = Tolerance(relative=0.0, absolute=0.0)
LOOSE = Tolerance(relative=0.1, absolute=0.0)
NAN, INF = math.nan, math.inf


def report(
    got: list[float] | torch.Tensor,
    expected: list[float] | torch.Tensor,
    tolerance: Tolerance = EXACT,
    *,
    dtype: torch.dtype = torch.float32,
    poison: int = 0x7B,
) -> OutputReport:
    sides = [side if isinstance(side, torch.Tensor) else torch.tensor(side, dtype=dtype) for side in (got, expected)]
    return compare("return", sides[0], sides[1], tolerance, poison=poison)


def test_equal_values_pass_without_message() -> None:
    assert report([1.0, -2.0], [1.0, -2.0]) == OutputReport(
        name="return",
        outcome=Outcome.PASS,
        shape=(2,),
        dtype="float32",
        total=2,
        max_absolute_error=0.0,
        max_relative_error=0.0,
        max_ulp_error=0.0,
    )


def test_wrong_value_is_reported_with_all_details() -> None:
    got, expected = torch.zeros(2, 3), torch.zeros(2, 3)
    expected[0, 1], expected[1, 2], got[1, 2] = 1.0, 4.0, 2.0
    assert report(got, expected, LOOSE, poison=0xFF) == OutputReport(
        name="return", outcome=Outcome.WRONG_VALUE, shape=(2, 3), dtype="float32", mismatched=2, total=6,
        message="return: 2 of 6 wrong, worst [0,1] expected 1 got 0", max_absolute_error=2.0, max_relative_error=1.0,
        max_ulp_error=float(0x3F800000), worst=WrongElement(index=(0, 1), expected="1", got="0"),
        first_wrong=(0, 1), last_wrong=(1, 2), error_map=(".#.", "..#"),
    )  # fmt: skip


def test_wrong_type_is_refused_before_values_are_compared() -> None:
    wrong = report(torch.zeros(2), torch.zeros(2, dtype=torch.float64))
    assert (wrong.outcome, wrong.message) == (Outcome.WRONG_DTYPE, "return is float32, expected float64")
    assert (wrong.mismatched, wrong.total, wrong.max_absolute_error) == (2, 2, None)


@pytest.mark.parametrize("shape", [(3, 2), (6,), (2, 3, 1), ()])
def test_broadcastable_output_of_other_shape_is_rejected(shape: tuple[int, ...]) -> None:
    wrong = report(torch.zeros(shape), torch.zeros(2, 3))
    assert (wrong.outcome, wrong.message) == (Outcome.WRONG_SHAPE, f"return has shape {shape}, expected (2, 3)")


def test_empty_tensors_need_equal_shapes() -> None:
    assert report(torch.empty(0, 3), torch.empty(0, 3)).outcome is Outcome.PASS
    assert report(torch.empty(3, 0), torch.empty(0, 3)).outcome is Outcome.WRONG_SHAPE


@pytest.mark.parametrize(
    ("got", "expected", "outcome"),
    [
        (NAN, NAN, Outcome.PASS),
        (INF, INF, Outcome.PASS),
        (-INF, -INF, Outcome.PASS),
        (INF, -INF, Outcome.WRONG_VALUE),
        (NAN, INF, Outcome.WRONG_VALUE),
        (INF, NAN, Outcome.WRONG_VALUE),
        (1.0, NAN, Outcome.WRONG_VALUE),
        (1.0, INF, Outcome.WRONG_VALUE),
        (NAN, 1.0, Outcome.NONFINITE),
        (INF, 1.0, Outcome.NONFINITE),
        (-0.0, 0.0, Outcome.PASS),
    ],
)
@pytest.mark.parametrize("tolerance", [EXACT, Tolerance(relative=1e30, absolute=1e30)])
def test_infinities_and_nans_match_only_their_own_kind(
    got: float, expected: float, outcome: Outcome, tolerance: Tolerance
) -> None:
    assert report([got, 1.0], [expected, 1.0], tolerance).outcome is outcome


SIGNED = Tolerance(relative=0.0, absolute=0.0, signed_zeros=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float8_e4m3fn])
@pytest.mark.parametrize(("got", "expected"), [(0.0, -0.0), (-0.0, 0.0)])
def test_zero_of_other_sign_is_wrong_where_signs_count(got: float, expected: float, dtype: torch.dtype) -> None:
    wrong = report([got, 1.0], [expected, 1.0], SIGNED, dtype=dtype)
    assert (wrong.outcome, wrong.mismatched, wrong.first_wrong) == (Outcome.WRONG_VALUE, 1, (0,))
    assert report([expected, 1.0], [expected, 1.0], SIGNED, dtype=dtype).outcome is Outcome.PASS
    assert report([got, 1.0], [expected, 1.0], EXACT, dtype=dtype).outcome is Outcome.PASS


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize("got", [complex(0.0, 1.0), complex(-0.0, -1.0)])
def test_signs_of_both_parts_count(got: complex, dtype: torch.dtype) -> None:
    expected = torch.tensor([complex(-0.0, 1.0)], dtype=dtype)
    assert report(torch.tensor([got], dtype=dtype), expected, SIGNED).outcome is Outcome.WRONG_VALUE
    assert report(expected.clone(), expected, SIGNED).outcome is Outcome.PASS


def test_message_separates_thousands() -> None:
    got, expected = torch.zeros(3000), torch.zeros(3000)
    got[:2500], got[:1200] = 1.0, INF
    wrong = report(got, expected)
    assert wrong.message == "return: 2,500 of 3,000 wrong, worst [0] expected 0 got inf; 1,200 are not finite"


def test_nonfinite_values_are_counted_and_excluded_from_errors() -> None:
    wrong = report([NAN, INF, 1.0, 2.5], [1.0, INF, NAN, 2.0])
    assert (wrong.nonfinite_got, wrong.nonfinite_expected, wrong.mismatched) == (2, 2, 3)
    assert (wrong.max_absolute_error, wrong.max_relative_error) == (0.5, 0.25)
    assert wrong.worst == WrongElement(index=(0,), expected="1", got="nan")
    assert wrong.message == "return: 3 of 4 wrong, worst [0] expected 1 got nan; 1 is not finite"


@pytest.mark.parametrize(("got", "outcome"), [(0.25, Outcome.PASS), (0.75, Outcome.WRONG_VALUE)])
def test_small_output_is_allowed_the_least_scale(got: float, outcome: Outcome) -> None:
    tolerance = Tolerance(relative=0.0, absolute=0.5, least_scale=1.0)
    assert report([got], [0.0], tolerance).outcome is outcome
    assert report([got], [0.0], tolerance, dtype=torch.float64).outcome is outcome


def test_the_least_scale_changes_nothing_for_larger_outputs() -> None:
    assert report([5.0, 9.0], [4.0, 4.0], Tolerance(relative=0.0, absolute=1.0, least_scale=1.0)).mismatched == 1


def test_error_without_finite_pair_is_absent() -> None:
    wrong = report([NAN], [1.0])
    assert (wrong.max_absolute_error, wrong.max_relative_error, wrong.max_ulp_error) == (None, None, None)


def test_relative_error_skips_expected_zeros() -> None:
    assert report([1.0], [0.0]).max_relative_error is None


@pytest.mark.parametrize(("error", "outcome"), [(0.099, Outcome.PASS), (0.101, Outcome.WRONG_VALUE)])
def test_relative_tolerance_grows_with_the_expected_value(error: float, outcome: Outcome) -> None:
    assert report([100.0 * (1 + error)], [100.0], LOOSE).outcome is outcome
    assert report([-100.0 * (1 + error)], [-100.0], LOOSE).outcome is outcome


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_absolute_tolerance_scales_with_typical_output(scale: float) -> None:
    # Root mean square of (3, 4, 0, 0) is 2.5.
    expected = torch.tensor([3.0, 4.0, 0.0, 0.0], dtype=torch.float64) * scale
    tolerance = Tolerance(relative=0.0, absolute=0.1)
    just, beyond = expected.clone(), expected.clone()
    just[2] += 0.249 * scale
    beyond[2] += 0.251 * scale
    assert report(just, expected, tolerance).outcome is Outcome.PASS
    assert report(beyond, expected, tolerance).outcome is Outcome.WRONG_VALUE


def test_one_wrong_value_beside_huge_value_is_wrong() -> None:
    expected = torch.tensor([1e200, 1.0], dtype=torch.float64)
    assert report([1e200, 2.0], expected, dtype=torch.float64).outcome is Outcome.WRONG_VALUE
    loose = Tolerance(relative=0.0, absolute=1e-6)
    assert report(2 * torch.tensor([1e200, 2.0], dtype=torch.float64), expected, loose).outcome is Outcome.WRONG_VALUE


def test_infinities_do_not_widen_the_scale() -> None:
    tolerance = Tolerance(relative=0.0, absolute=0.1)
    assert report([INF, 1.2], [INF, 1.0], tolerance).outcome is Outcome.WRONG_VALUE


def test_reference_of_zeros_allows_only_zeros() -> None:
    tolerance = Tolerance(relative=1.0, absolute=1.0)
    assert report([0.0, 1e-30], [0.0, 0.0], tolerance).outcome is Outcome.WRONG_VALUE


def test_overflowing_relative_error_stays_finite() -> None:
    # JSON has no infinity: what is infinite here arrives as "not measured" in the parent.
    error = report([1.0], [5e-324], dtype=torch.float64).max_relative_error
    assert error is not None
    assert math.isfinite(error)


FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("steps", [1, 3, 5])
@pytest.mark.parametrize("start", [1.0, -1.0, 0.0])
def test_ulps_count_the_numbers_between(dtype: torch.dtype, steps: int, start: float) -> None:
    got = expected = torch.tensor([start], dtype=dtype)
    for _ in range(steps):
        got = torch.nextafter(got, torch.tensor([INF], dtype=dtype))
    assert report(got, expected).max_ulp_error == steps
    assert report(expected, got).max_ulp_error == steps


def test_ulps_across_zero_do_not_overflow() -> None:
    side = int(torch.tensor(1e300, dtype=torch.float64).view(torch.int64))
    assert report([-1e300], [1e300], dtype=torch.float64).max_ulp_error == 2.0 * side


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ulps_are_counted_across_zero(dtype: torch.dtype) -> None:
    zero = torch.zeros(1, dtype=dtype)
    above, below = (torch.nextafter(zero, torch.tensor([limit], dtype=dtype)) for limit in (INF, -INF))
    assert report(below, above).max_ulp_error == 2
    assert report(-zero, zero).max_ulp_error == 0


def test_ulps_double_where_the_exponent_changes() -> None:
    epsilon = 2.0**-23
    assert report([2.0 - epsilon], [2.0]).max_ulp_error == 1
    assert report([2.0 + 2 * epsilon], [2.0]).max_ulp_error == 1


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
def test_integers_are_exact_whatever_the_tolerance(dtype: torch.dtype) -> None:
    wrong = report([7, 8], [7, 9], Tolerance(relative=10.0, absolute=10.0), dtype=dtype)
    assert (wrong.outcome, wrong.mismatched, wrong.max_absolute_error, wrong.max_ulp_error) == (
        Outcome.WRONG_VALUE,
        1,
        1.0,
        None,
    )
    assert wrong.worst == WrongElement(index=(1,), expected="9", got="8")


def test_integers_beyond_float_precision_are_distinguished() -> None:
    wrong = report([2**62 + 1, 2**53], [2**62, 2**53], dtype=torch.int64)
    assert (wrong.outcome, wrong.mismatched) == (Outcome.WRONG_VALUE, 1)
    assert wrong.worst == WrongElement(index=(0,), expected=str(2**62), got=str(2**62 + 1))


def test_the_error_of_large_integers_is_their_difference() -> None:
    assert report([2**60 + 1], [2**60], dtype=torch.int64).max_absolute_error == 1.0


def test_booleans_are_values_of_their_own() -> None:
    wrong = report([True, False, True], [True, True, True], dtype=torch.bool)
    assert (wrong.mismatched, wrong.worst) == (1, WrongElement(index=(1,), expected="True", got="False"))
    assert report([True, False], [True, False], dtype=torch.bool).outcome is Outcome.PASS


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_both_parts_of_a_complex_number_count(dtype: torch.dtype) -> None:
    expected = torch.tensor([1 + 1j, 2 - 2j], dtype=dtype)
    assert report(expected.clone(), expected).outcome is Outcome.PASS
    for change in (1.0, 1j):
        wrong = expected.clone()
        wrong[1] += change
        assert report(wrong, expected, LOOSE).outcome is Outcome.WRONG_VALUE


def test_complex_output_is_reported_in_its_own_type() -> None:
    wrong = report(torch.tensor([1 + 1j, 2]), torch.tensor([1 + 0j, 2]))
    assert (wrong.shape, wrong.dtype, wrong.total, wrong.mismatched) == ((2,), "complex64", 2, 1)


def test_complex_output_indices_count_complex_numbers() -> None:
    expected = torch.tensor([[1 + 1j, 2 - 2j], [3j, 4]])
    got = expected.clone()
    got[1, 0] += 2
    wrong = report(got, expected)
    assert (wrong.shape, wrong.total, wrong.first_wrong, wrong.last_wrong) == ((2, 2), 4, (1, 0), (1, 0))
    assert (wrong.worst, wrong.max_absolute_error) == (WrongElement(index=(1, 0), expected="3j", got="(2+3j)"), 2.0)
    assert wrong.error_map == ("..", "#.")


def test_a_small_float_type_is_compared_with_ulps() -> None:
    ones = torch.ones(2).to(torch.float8_e4m3fn)
    assert report(ones, ones).outcome is Outcome.PASS
    assert report(ones, torch.zeros(2).to(torch.float8_e4m3fn)).outcome is Outcome.WRONG_VALUE
    assert report(ones, ones).max_ulp_error == 0.0


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (torch.float32, "0.100000001"),
        (torch.bfloat16, "0.1001"),
        (torch.float16, "0.099976"),
        (torch.float64, "0.10000000000000001"),
    ],
    ids=str,
)
def test_values_are_printed_with_digits_of_their_type(dtype: torch.dtype, text: str) -> None:
    worst = report([0.0], [0.1], dtype=dtype).worst
    assert worst is not None
    assert worst.expected == text


def test_worst_element_is_furthest_beyond_its_tolerance() -> None:
    wrong = report([150.0, 2.0], [100.0, 1.0], LOOSE)
    assert wrong.worst == WrongElement(index=(1,), expected="1", got="2")


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32], ids=str)
def test_worst_of_exact_values_is_furthest_away(dtype: torch.dtype) -> None:
    wrong = report([5, 0, 100], [0, 0, 0], dtype=dtype)
    assert wrong.worst == WrongElement(index=(2,), expected="0", got="100")


def test_nonfinite_element_is_worse_than_any_number() -> None:
    worst = report([1e30, NAN], [1.0, 1.0], LOOSE).worst
    assert worst == WrongElement(index=(1,), expected="1", got="nan")


def test_scalar_output_has_empty_index() -> None:
    wrong = report(torch.tensor(2.0), torch.tensor(1.0))
    assert (wrong.worst, wrong.error_map) == (WrongElement(index=(), expected="1", got="2"), ("#",))


@pytest.mark.parametrize(("dtype", "poison"), [(torch.float32, 0xFF), (torch.float16, 0x7B), (torch.int64, 0xFF)])
def test_elements_holding_poison_were_never_written(dtype: torch.dtype, poison: int) -> None:
    expected = torch.ones(4, dtype=dtype)
    got = expected.clone()
    got[2:].view(torch.uint8).fill_(poison)
    assert report(got, expected, poison=poison).message.endswith("; 2 of them were never written")
    assert "never written" not in report(got, expected, poison=poison ^ 1).message


def test_message_of_one_unwritten_element_is_in_the_singular() -> None:
    expected = torch.ones(4)
    got = expected.clone()
    got[3:].view(torch.uint8).fill_(0x7B)
    assert report(got, expected, poison=0x7B).message.endswith("; 1 of them was never written")


@pytest.mark.parametrize("poison", [0x7B, 0xFF])
def test_unwritten_boolean_is_wrong_where_true_is_expected(poison: int) -> None:
    unwritten = torch.full((4,), poison, dtype=torch.uint8).view(torch.bool)
    wrong = report(unwritten, torch.ones(4, dtype=torch.bool), poison=poison)
    assert wrong.outcome is Outcome.WRONG_VALUE
    assert wrong.message.endswith("; 4 of them were never written")


def test_expected_value_equal_to_poison_is_not_unwritten() -> None:
    both = torch.tensor([-1, 3])
    assert report(both, both.clone(), poison=0xFF).message == ""


def test_a_strided_output_is_compared_by_value() -> None:
    got = torch.arange(6.0).view(2, 3).T
    assert report(got, got.contiguous()).outcome is Outcome.PASS
    wrong = report(got, got.contiguous() + torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    assert (wrong.first_wrong, wrong.last_wrong, wrong.error_map) == ((1, 1), (1, 1), ("..", ".#", ".."))


def at(shape: tuple[int, ...], *places: tuple[int, ...]) -> torch.Tensor:
    wrong = torch.zeros(shape, dtype=torch.bool)
    for place in places:
        wrong[place] = True
    return wrong


@pytest.mark.parametrize(
    ("wrong", "drawn"),
    [
        (at((), ()), ("#",)),
        (at((5,), (1,), (4,)), (".#..#",)),
        (at((2, 3), (1, 0)), ("...", "#..")),
        (at((2, 2, 2), (1, 0, 1)), ("..", "..", ".#", "..")),
        (at((1, 96), (0, 1), (0, 94), (0, 95)), ("5" + "." * 46 + "#",)),
        (at((32, 1), (0, 0), (30, 0), (31, 0)), ("5", *("." * 14), "#")),
        (torch.ones(1000, 1000, dtype=torch.bool), ("#" * 48,) * 16),
        (at((1000, 1000), (0, 0)), ("1" + "." * 47, *("." * 48,) * 15)),
        (torch.ones(17, 49, dtype=torch.bool), ("#" * 48,) * 16),
    ],
    ids=["0-d", "1-d", "2-d", "3-d", "wide", "tall", "all", "one of a million", "one tile more"],
)
def test_error_map_marks_wrong_tiles(wrong: torch.Tensor, drawn: tuple[str, ...]) -> None:
    assert error_map(wrong) == drawn


@pytest.mark.parametrize(
    ("share", "mark"),
    [(1, "1"), (10, "1"), (11, "2"), (50, "5"), (85, "9"), (89, "9"), (90, "9"), (91, "9"), (99, "9"), (100, "#")],
)
def test_a_tile_shows_its_share_in_tenths(share: int, mark: str) -> None:
    wrong = torch.zeros(48 * 100, dtype=torch.bool)
    wrong[:share] = True
    assert error_map(wrong) == (mark + "." * 47,)
