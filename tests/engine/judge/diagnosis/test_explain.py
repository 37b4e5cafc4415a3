"""Each known mistake, made by hand on a small operator, is told from the others by what it leaves."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from engine.judge.compare.compare import compare
from engine.judge.diagnosis.argument_hypotheses import suppositions
from engine.judge.diagnosis.explain import Explainer, left_unexplained
from engine.judge.diagnosis.prediction import Comparison
from engine.model import (
    CandidateForm,
    Case,
    Cost,
    DiagnosisKind,
    DType,
    Explanation,
    Outcome,
    ProblemDefinition,
    SuiteOrigin,
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


def normal(*shape, seed=3):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def content_of(problem, *inputs):
    specs, storages = tensors.lay_out(inputs)
    return SimpleNamespace(inputs=inputs, expected=(problem.reference(*inputs),), specs=specs, storages=storages)


def compared(problem, inputs, got, **options):
    expected = problem.reference(*inputs)
    return Comparison(
        name="return",
        got=got,
        expected=expected,
        poison=0xFF,
        **{"tolerance": TOLERANCE if expected.is_floating_point() else EXACT, **options},
    )


def kinds(problem, inputs, got, **options):
    comparison = compared(problem, inputs, got, **options)
    assert comparison.wrong_count
    return [found.kind for found in Explainer().diagnoses(problem, inputs, 0, comparison)]


def test_memory_holding_poison_was_never_written():
    x = normal(1000)
    got = SILU.reference(x)
    got[768:] = math.nan
    got.view(torch.int32)[768:] = -1
    assert kinds(SILU, (x,), got) == [K.UNWRITTEN_OUTPUT, K.TAIL_MASK]


def test_argument_with_unchanged_content_was_never_written():
    x = normal(9, 40)
    assert kinds(SILU, (x,), x.clone(), before=x)[0] is K.UNWRITTEN_OUTPUT


def test_poison_accumulated_is_uninitialized_memory():
    x = torch.arange(200, dtype=torch.int32).view(5, 40)
    assert kinds(INTEGERS, (x,), INTEGERS.reference(x) - 1)[0] is K.UNWRITTEN_OUTPUT


def test_wrong_values_after_last_full_block_are_tail():
    x = normal(5, 81)
    got = SILU.reference(x)
    got[:, 64:] = normal(5, 17, seed=4)
    found = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), got))
    assert [one.kind for one in found] == [K.TAIL_MASK]
    assert found[0].sentence.startswith("only the end of dimension 1 is wrong, from 64 on, a multiple of 64")


def test_tail_of_reduced_dimension_is_found_by_omission():
    x = normal(7, 257) + 1
    got = SUM.reference(x[:, :256])
    assert kinds(SUM, (x,), got) == [K.TAIL_MASK]


def test_tail_counted_by_argument_names_the_argument():
    """In a buffer of BLAS the tail of the inner dimension is no end of a dimension."""
    problem = operator("a, b, k", lambda a, b, k: (a.double().view(20, 65).narrow(1, 0, k) @ b[:k].double()).float())
    a, b = normal(1300), normal(65, seed=4)
    comparison = compared(problem, (a, b, 65), problem.reference(a, b, 64))
    found = Explainer().diagnoses(problem, (a, b, 65), 0, comparison)[0]
    assert (found.kind, found.sentence) == (
        K.TAIL_MASK,
        "elements from 64 on are left out, although k is 65: the tail after the last whole block of 64",
    )


def test_remainder_of_split_row_is_tail():
    x = normal(3, 1001)
    found = Explainer().diagnoses(SUM, (x,), 0, compared(SUM, (x,), SUM.reference(x[:, :-5])))[0]
    assert (found.kind, found.sentence.partition(":")[0]) == (
        K.TAIL_MASK,
        "the last 5 elements of dimension 1 of x are left out",
    )


def test_partial_factor_multiplying_everything_is_reported():
    x, y = normal(40, 9), normal(40, 9, seed=4)
    found = Explainer().diagnoses(ADD, (x, y, -0.75), 0, compared(ADD, (x, y, -0.75), (x + y) * -0.75))[0]
    assert (found.kind, found.sentence) == (
        K.MISSING_SCALE,
        "everything is multiplied by alpha, which applies to one term only",
    )


def test_only_last_block_counting_is_race():
    x = normal(7, 300) + 1
    assert kinds(SUM, (x,), SUM.reference(x[:, 256:])) == [K.RACE]


def test_overwriting_loop_is_named_beside_similar_race():
    a, b = normal(33, 65), normal(65, 40, seed=4)
    got = MM.reference(a[:, 64:], b[64:])
    found = Explainer().diagnoses(MM, (a, b), 0, compared(MM, (a, b), got))[0]
    assert (found.kind, found.sentence.partition(": ")[2]) == (
        K.RACE,
        "programs overwrite each other's part, or a loop assigns where it should add",
    )


def test_different_output_on_same_input_is_race():
    x = normal(7, 30)
    right, got = SILU.reference(x), SILU.reference(x)
    got[2, 3] += 1
    assert kinds(SILU, (x,), got, earlier=right, same_input=True)[0] is K.RACE


def test_output_of_previous_call_is_stale():
    x, before = normal(7, 30), SILU.reference(normal(7, 30, seed=9))
    assert kinds(SILU, (x,), before.clone(), earlier=before) == [K.KEPT_ANSWER]


def test_output_holding_transpose_is_transposed_index():
    a, b = normal(17, 9), normal(9, 23)
    got = MM.reference(a, b).T.contiguous().view(17, 23)
    assert kinds(MM, (a, b), got) == [K.TRANSPOSED_INDEX]


def test_operand_read_across_rows_is_transposed():
    a, b = normal(16, 16), normal(16, 23)
    assert kinds(MM, (a, b), MM.reference(a.T, b)) == [K.TRANSPOSED_INDEX]


@pytest.mark.parametrize("strides", [(1, 33), (1, 20)], ids=["laid out by columns", "own strides swapped"])
def test_wide_operand_read_across_rows_is_transposed(strides):
    a, b = normal(9, 33), normal(40, 20)[:33]
    assert kinds(MM, (a, b), MM.reference(a, b.as_strided((33, 20), strides))) == [K.TRANSPOSED_INDEX]


def test_ignored_strides_are_wrong_strides():
    x = normal(9, 40)[:, ::2]
    got = SILU.reference(x.as_strided((9, 20), (20, 1)))
    found = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), got))
    assert found[0].kind is K.WRONG_STRIDE
    assert found[0].sentence == "x treated as contiguous: strides (40, 2) ignored"


def test_every_second_element_is_a_wrong_stride():
    x = normal(128)
    right = SILU.reference(x)
    got = right.clone()
    got[:64] = right[::2]
    assert kinds(SILU, (x,), got)[0] is K.WRONG_STRIDE


def test_unused_weight_is_missing_scale():
    x, weight, bias = normal(9, 40), normal(40, seed=4), normal(40, seed=5)
    assert kinds(AFFINE, (x, weight, bias), AFFINE.reference(x, torch.ones(40), bias))[0] is K.MISSING_SCALE


def test_constant_factor_is_missing_scale_with_value():
    x = normal(9, 40)
    (found,) = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), 0.125 * SILU.reference(x)))
    assert (found.kind, found.sentence) == (K.MISSING_SCALE, "output is 0.125 times the expected value")


def test_unused_bias_is_missing_bias():
    x, weight, bias = normal(9, 40), normal(40, seed=4), normal(40, seed=5)
    assert kinds(AFFINE, (x, weight, bias), AFFINE.reference(x, weight, torch.zeros(40)))[0] is K.MISSING_BIAS


def test_output_fitting_another_scalar_is_ignored_argument():
    x, y = normal(9, 40), normal(9, 40, seed=4)
    assert kinds(ADD, (x, y, 0.3), ADD.reference(x, y, -0.3)) == [K.IGNORED_ARGUMENT]


def test_padding_that_takes_part_is_a_wrong_identity():
    x = normal(9, 33)
    got = SOFTMAX.reference(torch.nn.functional.pad(x, (0, 31)))[:, :33]
    assert kinds(SOFTMAX, (x,), got)[0] is K.REDUCTION_IDENTITY


@pytest.mark.parametrize("rows", [1, 9])
def test_mean_over_padded_length_is_wrong_divisor(rows):
    x = normal(rows, 65)
    found = Explainer().diagnoses(MEAN, (x,), 0, compared(MEAN, (x,), MEAN.reference(x) * 65 / 128))
    assert (found[0].kind, found[0].sentence) == (K.MISSING_SCALE, "divided by the padded length 128 instead of 65")


def test_root_mean_square_over_padded_length_is_wrong_divisor():
    norm = operator("x", lambda x: (x.double() * x.double().square().mean(-1, keepdim=True).rsqrt()).to(x.dtype))
    x = normal(5, 497)
    assert kinds(norm, (x,), norm.reference(x) * math.sqrt(512 / 497))[0] is K.MISSING_SCALE


@pytest.mark.parametrize("kind", [torch.int16, torch.int32, torch.int64])
def test_integer_division_dropping_fraction_rounds_toward_zero(kind):
    generator = torch.Generator().manual_seed(3)
    most = torch.iinfo(kind).max
    x = torch.randint(-most, most, (334,), generator=generator, dtype=kind)
    y = torch.randint(2, 9, (334,), generator=generator, dtype=kind)
    got = torch.div(x, y, rounding_mode="trunc")
    assert kinds(QUOTIENT, (x, y), got) == [K.ROUNDING_MODE]


def test_quotients_all_larger_by_one_are_not_rounding():
    x = -torch.arange(2, 40)
    y = torch.full((38,), 3)
    assert K.ROUNDING_MODE not in kinds(QUOTIENT, (x, y), QUOTIENT.reference(x, y) + 1)


def test_nan_in_negative_lines_is_maximum_from_zero():
    x = normal(8, 30) + 1000.0 * (torch.arange(8) % 2 * 2 - 1)[:, None]
    got = SOFTMAX.reference(x).where(x > 0, math.nan)
    assert kinds(SOFTMAX, (x,), got)[0] is K.REDUCTION_IDENTITY


def test_nan_above_exp_range_is_overflow():
    x = normal(8, 30) + 1000.0 * (torch.arange(8) % 2)[:, None]
    got = SOFTMAX.reference(x).where(x < 500, math.nan)
    assert kinds(SOFTMAX, (x,), got)[0] is K.OVERFLOW


def test_sums_by_running_maximum_are_lost_rescale():
    x = normal(6, 64) * 3
    first, second = x.split(32, -1)
    top, so_far = x.amax(-1, keepdim=True), first.amax(-1, keepdim=True)
    total = (first - so_far).exp().sum(-1, keepdim=True) + (second - top).exp().sum(-1, keepdim=True)
    assert kinds(SOFTMAX, (x,), (x - top).exp() / total)[0] is K.LOST_RESCALE


def test_blocks_that_begin_again_are_a_lost_carry():
    x = normal(5, 200)
    got = torch.cat([CUMSUM.reference(part) for part in x.split(64, -1)], -1)
    assert kinds(CUMSUM, (x,), got)[0] is K.LOST_RESCALE


def test_integers_that_wrap_are_an_overflow():
    x = torch.full((5, 40), 3000, dtype=torch.int32)
    assert kinds(INTEGERS, (x,), INTEGERS.reference(x).to(torch.int16).long())[0] is K.OVERFLOW


def test_squares_beyond_half_precision_are_an_overflow():
    root = operator("x", lambda x: (x.double() / x.double().square().mean(-1, keepdim=True).sqrt()).to(x.dtype))
    x = (normal(5, 40) * 1000).half()
    assert kinds(root, (x,), torch.zeros_like(x))[0] is K.OVERFLOW


def test_products_of_rounded_operands_are_precision_loss():
    a, b = normal(17, 40), normal(40, 23)
    assert kinds(MM, (a, b), MM.reference(a.bfloat16().float(), b.bfloat16().float())) == [K.PRECISION]


def test_noise_of_narrow_type_is_precision_loss():
    x = normal(9, 40)
    right = SILU.reference(x)
    noise = normal(9, 40, seed=8) * 3e-4
    assert kinds(SILU, (x,), right + noise) == [K.PRECISION]


def test_noise_of_no_pattern_is_not_explained():
    x = normal(9, 40)
    assert kinds(SILU, (x,), normal(9, 40, seed=8)) == []


def test_single_wrong_element_is_not_explained_by_chance():
    x = (normal(1, 300) + 1).bfloat16()
    got = SUM.reference(x) * torch.tensor([1.3], dtype=torch.bfloat16)
    assert kinds(SUM, (x,), got) == []


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64])
def test_types_without_an_order_are_looked_at_too(dtype):
    flip = operator("x", lambda x: ~x if x.dtype == torch.bool else -x)
    x = (normal(9, 40) > 0).to(dtype)
    assert isinstance(kinds(flip, (x,), x.clone()), list)


def test_case_without_dimension_is_examined():
    x = torch.tensor(2.0)
    assert kinds(SILU, (x,), torch.tensor(7.0)) == []


def test_previous_explanation_is_tried_first():
    explainer, x, y = Explainer(), normal(9, 40), normal(9, 40, seed=4)
    calls = []
    counting = replace(ADD, reference=lambda *values: calls.append(values) or ADD.reference(*values))
    comparison = compared(ADD, (x, y, 0.3), ADD.reference(x, y, -0.3))
    first = explainer.diagnoses(counting, (x, y, 0.3), 0, comparison)
    tried = len(calls)
    assert explainer.diagnoses(counting, (x, y, 0.3), 0, comparison) == first
    assert len(calls) - tried <= tried


def test_hypothesis_memory_is_bounded_by_its_tensor():
    x = torch.zeros(65536, 8)
    sizes = []
    for supposition in suppositions(operator("x, n", SUM.reference), (x, 65536), torch.Size([65536])):
        try:
            sizes += [value.untyped_storage().nbytes() for value in supposition.arguments() if hasattr(value, "numel")]
        except ValueError:
            continue
    assert max(sizes) <= 16 * x.untyped_storage().nbytes() + (1 << 18)


def test_error_while_explaining_is_reported_and_output_stays_wrong():
    def refuses(*_):
        raise RuntimeError("not on this device")

    x = normal(9, 40)
    broken = replace(SILU, reference=refuses, tolerance=lambda case: TOLERANCE)
    content = content_of(SILU, x)
    hand = SimpleNamespace(
        problem=broken, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = normal(9, 40, seed=5)
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    (reported,) = Explainer().explained(hand, [got], (report,), repeated=None)
    assert reported.outcome is Outcome.WRONG_VALUE
    assert reported.explanation == Explanation(untried="not explained: RuntimeError: not on this device")


def test_hypotheses_are_computed_on_host_whatever_the_default():
    x, moved = normal(9, 40), operator("x", lambda x: x.double().add(torch.ones(x.shape)).to(x.dtype))
    content = content_of(moved, x)
    hand = SimpleNamespace(
        problem=moved, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = -content.expected[0]
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    with torch.device("meta"):
        (reported,) = Explainer().explained(hand, [got], (report,), repeated=None)
    assert (reported.explanation.untried, len(reported.explanation.feeds)) == ("", 1)


def test_foreign_reference_is_asked_a_limited_number_of_times():
    calls = []

    def counted(x):
        calls.append(x)
        return torch.softmax(x.double(), -1).to(x.dtype)

    x = normal(37, 97)
    origin = SuiteOrigin(suite="Suite", form=CandidateForm.FUNCTION, own_rule="")
    content = content_of(SOFTMAX, x)
    foreign = replace(operator("x", counted), suite=origin)
    hand = SimpleNamespace(
        problem=foreign, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = normal(37, 97, seed=5)
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    (reported,) = Explainer().explained(hand, [got], (report,), repeated=None)
    assert len(calls) == 40
    assert (reported.explanation.untried, reported.explanation.feeds, reported.explanation.feeding) == ("", (), None)


def test_output_without_request_is_not_explained():
    x = normal(9, 40)
    right = compare("return", SILU.reference(x), SILU.reference(x), TOLERANCE, poison=0xFF)
    wrong = compare("return", normal(9, 40, seed=5), SILU.reference(x), TOLERANCE, poison=0xFF)
    reported = left_unexplained(None, [x, x], (right, wrong), repeated=None)
    assert (reported[0], replace(reported[1], explanation=None)) == (right, wrong)
    assert reported[1].explanation.untried.startswith("only the first wrong cases of a run are explained")


def test_right_output_or_output_without_values_is_not_explained():
    x = normal(9, 40)
    content = content_of(SILU, x)
    hand = SimpleNamespace(problem=SILU, case=NEVER, content=content, base=content, poison=0xFF, first_outputs=[])
    right = compare("return", SILU.reference(x), content.expected[0], TOLERANCE, poison=0xFF)
    another = compare("return", torch.zeros(3), content.expected[0], TOLERANCE, poison=0xFF)
    assert Explainer().explained(hand, [x, another], (right, another), repeated=None) == (right, another)


def test_numbers_in_the_place_of_nan_are_counted():
    x = normal(4, 50)
    x[0, 3], x[2, 7] = math.nan, math.nan
    got = torch.nn.functional.silu(x.nan_to_num(nan=-100.0))
    found, *_ = Explainer().diagnoses(SILU, (x,), 0, compared(SILU, (x,), got))
    assert found.kind is K.DROPPED_NAN
    assert found.sentence == "NaN is dropped at 2 elements: the kernel returns a number there"
    assert found.evidence == "2 of 2 wrong elements should be NaN and are not"


FMAX = operator("x, y", lambda x, y: torch.fmax(x.double(), y.double()).to(x.dtype))
GREATER = operator("x, y", lambda x, y: x > y)
QUANTISE = operator("x", lambda x: x.double().clamp(-448, 448).to(torch.float8_e4m3fn))
SHIFTED = operator("x, bias: Tensor | None = None", lambda x, bias: x if bias is None else x + bias)
CHOOSE = operator("x, mask", lambda x, mask: torch.where(mask, x, 2 * x))


def first_words(problem, inputs, got, **options):
    return Explainer().diagnoses(problem, inputs, 0, compared(problem, inputs, got, **options).on_host)[0].sentence


def test_region_that_must_stay_is_named_as_overwritten():
    before = normal(9, 9)
    lower = operator("x", lambda x: torch.where(torch.ones(9, 9).tril() > 0, 2 * x, x))
    found = Explainer().diagnoses(lower, (before,), 0, compared(lower, (before,), 3 * before, before=before))
    assert K.OLD_CONTENT not in [one.kind for one in found]  # half of it is another mistake
    assert kinds(lower, (before,), 2 * before, before=before) == [K.OLD_CONTENT]


def test_nan_that_is_to_be_ignored_is_named():
    x, y = normal(8, 9), normal(8, 9, seed=4)
    y[3:5, 2], y[6] = math.nan, -math.inf
    words = "NaN of y is propagated, although the operator ignores it there"
    assert first_words(FMAX, (x, y), torch.where(x > y, x, y)) == words


def test_comparison_of_equal_operands_is_named():
    x, y = normal(80).round(), normal(80, seed=4).round()
    assert kinds(GREATER, (x, y), x >= y)[0] is K.WRONG_COMPARISON


@pytest.mark.parametrize("dim", [0, 1, None])
def test_last_of_several_maxima_is_a_wrong_tie(dim):
    largest = operator("x", lambda x: x.argmax(dim))
    x = torch.randint(0, 4, (30, 40), generator=torch.Generator().manual_seed(3)).float()
    flat = x.reshape(-1, 1) if dim is None else x.movedim(dim, 0)
    last = len(flat) - 1 - flat.flip(0).argmax(0).reshape(largest.reference(x).shape)
    words = "of equal elements of x another one is chosen: the rule for ties is wrong"
    assert first_words(largest, (x,), last) == words


def test_missing_saturation_is_an_overflow():
    x = 400 * normal(300)
    got = torch.where(x.abs() > 448, math.nan, x).to(torch.float8_e4m3fn)
    words = "values beyond the range of float8_e4m3fn become NaN or infinite instead of +-448"
    assert first_words(QUANTISE, (x,), got) == words


def test_optional_tensor_left_out_is_named():
    inputs = (normal(50), normal(50, seed=4))
    words = "output equals the answer for bias = None instead of the tensor"
    assert first_words(SHIFTED, inputs, inputs[0].clone()) == words


def test_mask_taken_for_true_is_named():
    inputs = (normal(50), normal(50, seed=4) > 0)
    words = "output equals the answer for mask = True everywhere instead of its elements"
    assert first_words(CHOOSE, inputs, inputs[0].clone()) == words


def test_conjugate_of_argument_is_named():
    x, y = torch.complex(normal(40), normal(40, seed=4)), torch.complex(normal(40, seed=5), normal(40, seed=6))
    product = operator("x, y", lambda x, y: x * y)
    words = "the conjugate of y is used where y is meant, or the other way round"
    assert first_words(product, (x, y), x * y.conj()) == words


def test_operands_of_tensor_cores_are_rounded_to_tensorfloat():
    a, b = normal(20, 30), normal(30, 20, seed=4)
    rounded = [((one.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32) for one in (a, b)]
    assert (
        first_words(MM, (a, b), MM.reference(*rounded))
        == "the inputs are rounded to TensorFloat-32 before they are used"
    )


def test_float64_with_error_of_float32_says_so():
    x = normal(400).double()
    tight = Tolerance(relative=0.0, absolute=1e-15)
    got = SILU.reference(x).float().double()
    assert (
        first_words(SILU, (x,), got, tolerance=tight) == "all errors are small: rounding of values or sums in float32"
    )
