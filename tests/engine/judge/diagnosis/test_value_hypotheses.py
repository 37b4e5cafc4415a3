"""Values taken for others, made by hand on a small operator, are told by what they leave in an output."""

from __future__ import annotations

import math

import pytest
import torch

from engine.judge.diagnosis.explain import Explainer
from engine.model import DiagnosisKind, Tolerance
from tests.engine.judge.diagnosis.mistakes import (
    ADD,
    AFFINE,
    CUMSUM,
    EXACT,
    SILU,
    SOFTMAX,
    SUM,
    compared,
    normal,
    operator,
)

K = DiagnosisKind
ROWS = operator("table, rows", lambda table, rows: table[rows])


def scattered(memory, slots, values):
    memory = memory.clone()
    for value, slot in zip(values, slots.tolist(), strict=True):
        if slot >= 0:
            memory[slot] = value
    return memory


SCATTER = operator("memory, slots, values", scattered, returns=0, mutates=("memory",))
TURNED = operator(
    "x, table", lambda x, table: x * table[:, :4].repeat(1, 2) + 2 * x.roll(4, 1) * table[:, 4:].repeat(1, 2)
)
SCALED = operator("x, y, alpha, beta", lambda x, y, alpha, beta: alpha * x + beta * y)
CLOSE = Tolerance(relative=1e-5, absolute=1e-5)
PRODUCT = operator("trans, x, y", lambda trans, x, y: (x.T if trans == "T" else x) @ y)


def reported(problem, inputs, got, **options):
    comparison = compared(problem, inputs, got, **options)
    assert comparison.wrong_count
    found = Explainer().diagnoses(problem, inputs, 0, comparison)
    return (found[0].kind, found[0].sentence) if found else None


def test_powers_of_two_instead_of_e_are_found():
    x = normal(9, 40) * 3
    words = "exp2 used instead of exp: multiply x by log2(e) = 1.442695"
    assert reported(SOFTMAX, (x,), torch.softmax(x.double() * math.log(2), -1).float()) == (K.MISSING_SCALE, words)
    assert reported(SILU, (x,), (x.double() / (1 + torch.exp2(-x.double()))).float()) == (K.MISSING_SCALE, words)


def test_powers_of_two_in_bfloat16_are_found():
    x = normal(9, 40).bfloat16()
    options = {"tolerance": AFFINE.tolerance(AFFINE.cases[0]).__class__(relative=2**-7, absolute=2**-8)}
    (kind, sentence) = reported(SOFTMAX, (x,), torch.softmax(x.double() * math.log(2), -1).bfloat16(), **options)
    assert (kind, sentence[:4]) == (K.MISSING_SCALE, "exp2")


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda x: SOFTMAX.reference(-x), "x has the wrong sign"),
        (lambda x: SOFTMAX.reference(x.abs()), "the sign of x is lost"),
    ],
)
def test_wrong_or_lost_sign_is_found(mistake, words):
    x = normal(9, 40)
    assert reported(SOFTMAX, (x,), mistake(x)) == (K.MISSING_SCALE, words)


def test_intermediate_sign_error_is_found():
    x = normal(9, 40)
    words = "sign error: output equals -f(-x)"
    assert reported(SILU, (x,), -SILU.reference(-x)) == (K.MISSING_SCALE, words)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda table: table.roll(4, 1),
            (K.WRONG_STRIDE, "the two halves of the last dimension of table are swapped"),
        ),
        (
            lambda table: torch.cat((table[:, :4], -table[:, 4:]), 1),
            (K.MISSING_SCALE, "the second half of the last dimension of table has the wrong sign"),
        ),
    ],
)
def test_swapped_or_negated_half_is_found(change, expected):
    x, table = normal(9, 8), normal(9, 8, seed=4)
    assert reported(TURNED, (x, table), TURNED.reference(x, change(table))) == expected


def test_one_based_index_is_found():
    table, rows = normal(12, 7), torch.tensor([3, 0, 11, 5, 5, 2])
    assert reported(ROWS, (table, rows), table[(rows - 1).clamp(min=0)]) == (
        K.WRONG_STRIDE,
        "every index in rows is read as one less than its value",
    )


def test_ignored_index_is_found():
    table, rows = normal(12, 7), torch.tensor([3, 0, 11, 5, 5, 2])
    assert reported(ROWS, (table, rows), table[:6]) == (
        K.IGNORED_ARGUMENT,
        "rows ignored: 0, 1, 2, ... along dimension 0 used instead",
    )


@pytest.mark.parametrize("last", [1, 3])
def test_negative_slots_clamped_to_zero_are_found(last):
    memory, slots, values = normal(6, 8), torch.tensor([2, -1, 4, -1]), normal(4, 8, seed=4)
    got = SCATTER.reference(memory, slots, values)
    got[0] = values[last]
    words = "negative indices in slots are clamped to 0, where 2 sources write: the last write wins"
    assert reported(SCATTER, (memory, slots, values), got, before=memory) == (K.RACE, words)


def test_single_negative_slot_maps_to_slot_zero():
    memory, slots, values = normal(6, 8), torch.tensor([2, -1, 4, 5]), normal(4, 8, seed=4)
    got = SCATTER.reference(memory, slots, values)
    got[0] = values[1]
    words = "negative indices in slots are clamped to 0 instead of skipped"
    assert reported(SCATTER, (memory, slots, values), got, before=memory) == (K.IGNORED_ARGUMENT, words)


def test_swapped_tensors_are_found():
    x, y = normal(9, 40), normal(9, 40, seed=4)
    assert reported(ADD, (x, y, 0.3), ADD.reference(y, x, 0.3)) == (K.IGNORED_ARGUMENT, "x and y are swapped")


def test_factor_multiplying_the_other_operand_is_found():
    x, y = normal(9, 40), normal(9, 40, seed=4)
    assert reported(SCALED, (x, y, 2.0, -0.5), SCALED.reference(x, y, 2.0, -1.0)) == (
        K.IGNORED_ARGUMENT,
        "output equals the answer for beta = alpha * beta (-1) instead of -0.5",
    )


def test_factor_truncated_to_integer_is_found():
    x, y = normal(9, 40), normal(9, 40, seed=4)
    words = "output equals the answer for alpha = 2.0 instead of 2.75"
    assert reported(ADD, (x, y, 2.75), ADD.reference(x, y, 2.0)) == (K.IGNORED_ARGUMENT, words)


def test_other_number_in_place_of_infinity_is_found():
    norm = operator("x, p", lambda x, p: torch.linalg.vector_norm(x.double(), p, dim=1).to(x.dtype))
    x = normal(9, 40)
    words = "output equals the answer for p = 1.0 instead of inf"
    assert reported(norm, (x, math.inf), norm.reference(x, 1.0)) == (K.IGNORED_ARGUMENT, words)


def test_hard_coded_epsilon_is_named():
    norm = operator("x, epsilon", lambda x, epsilon: x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt())
    x = normal(9, 40) * torch.logspace(-4, 0, 9).view(9, 1)
    words = "output equals the answer for epsilon = 1e-06 instead of 0.001"
    assert reported(norm, (x, 1e-3), norm.reference(x, 1e-6)) == (K.IGNORED_ARGUMENT, words)


def test_unwanted_transposition_is_found():
    x, y = normal(9, 9), normal(9, 5, seed=4)
    assert reported(PRODUCT, ("T", x, y), x @ y) == (
        K.IGNORED_ARGUMENT,
        "output equals the answer for trans = N instead of T",
    )


def test_factor_that_multiplies_instead_of_dividing_is_found():
    codes = operator("x, scale", lambda x, scale: (x.double() / scale).to(torch.float8_e4m3fn).view(torch.uint8))
    x = normal(9, 40)
    words = "output equals the answer for scale = 1 / scale (2) instead of 0.5"
    assert reported(codes, (x, 0.5), codes.reference(x, 2.0)) == (K.IGNORED_ARGUMENT, words)


@pytest.mark.parametrize(
    ("beta", "words"),
    [(-0.5, "its real part (-0.5)"), (-0.5 - 1j, "its conjugate ((-0.5-1j))")],
    ids=["real part", "conjugate"],
)
def test_wrong_imaginary_part_of_factor_is_found(beta, words):
    x, y = (torch.complex(normal(9, seed=seed), normal(9, seed=seed + 1)) for seed in (3, 5))
    expected = f"output equals the answer for beta = {words} instead of (-0.5+1j)"
    assert reported(SCALED, (x, y, 2.0, -0.5 + 1j), SCALED.reference(x, y, 2.0, beta), tolerance=CLOSE) == (
        K.IGNORED_ARGUMENT,
        expected,
    )


def test_conjugate_of_the_wrong_factor_is_found():
    dot = operator("x, y", lambda x, y: (x.conj() * y).sum().reshape(1))
    x, y = (torch.complex(normal(9, seed=seed), normal(9, seed=seed + 1)) for seed in (3, 5))
    words = "wrong conjugation of x and y: conjugated instead of plain, or vice versa"
    assert reported(dot, (x, y), (x * y.conj()).sum().reshape(1), tolerance=CLOSE) == (K.IGNORED_ARGUMENT, words)


@pytest.mark.parametrize(("name", "given", "other"), [("diag", "U", "N"), ("uplo", "L", "U"), ("side", "R", "L")])
def test_swapped_letter_argument_is_found(name, given, other):
    letters = operator(f"{name}, x", lambda letter, x: x + x.sum(0) if letter == given else x * x.sum(0))
    words = f"output equals the answer for {name} = {other} instead of {given}"
    x = normal(9, 5)
    assert reported(letters, (given, x), letters.reference(other, x)) == (K.IGNORED_ARGUMENT, words)


def test_word_that_is_ignored_is_found():
    gather = operator("x, reduce: str | None = None", lambda x, reduce: x if reduce is None else x + x.sum(0))
    words = "output equals the answer for reduce = None instead of add"
    x = normal(9, 5)
    assert reported(gather, (x, "add"), gather.reference(x, None) + 0.0) == (K.IGNORED_ARGUMENT, words)


def test_reversed_scan_is_found():
    x = normal(9, 40)
    assert reported(CUMSUM, (x,), CUMSUM.reference(x.flip(1)).flip(1)) == (
        K.WRONG_STRIDE,
        "dimension 1 of x is read in reverse",
    )


def test_sum_excluding_own_element_is_found():
    x = normal(9, 40)
    right = CUMSUM.reference(x)
    words = "correct values in wrong positions: element i has the value of element i - 1 of dimension 1, "
    assert reported(CUMSUM, (x,), torch.cat((torch.zeros(9, 1), right[:, :-1]), 1)) == (
        K.WRONG_STRIDE,
        words + "and the first is 0",
    )


def test_reversed_output_is_found():
    x = normal(9, 40)
    words = "correct values in wrong positions: element i has the value of element 39 - i of dimension 1"
    assert reported(SILU, (x,), SILU.reference(x).flip(1)) == (K.WRONG_STRIDE, words)


def test_dimension_walked_with_wrong_stride_is_found():
    table, rows = normal(8, 8), torch.tensor([3, 0, 7, 5, 5, 2])
    assert reported(ROWS, (table, rows), torch.stack([table.flatten()[row : row + 8] for row in rows.tolist()])) == (
        K.WRONG_STRIDE,
        "dimension 0 of table is read with stride 1, but its stride is 8",
    )


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (-1, "the last element of dimension 1 of x is left out: a mask ends one element early"),
        (0, "the first element of dimension 1 of x is left out: a loop or mask starts one element late"),
    ],
)
def test_element_missing_at_an_end_is_found(left_out, words):
    x = normal(9, 40)
    part = x.clone()
    part[:, left_out] = 0
    assert reported(SUM, (x,), SUM.reference(part)) == (K.TAIL_MASK, words)


def test_tail_counted_twice_is_found():
    x = normal(9, 40)
    more = x.clone()
    more[:, 32:] *= 2
    words = "elements from 32 on in dimension 1 of x count twice: blocks or programs overlap"
    assert reported(SUM, (x,), SUM.reference(more)) == (K.TAIL_MASK, words)


def test_last_block_of_one_element_is_named():
    x = normal(9, 33)
    part = x.clone()
    part[:, -1] = 0
    kind, sentence = reported(SUM, (x,), SUM.reference(part))
    assert (kind, "the tail after the last whole block of 32" in sentence) == (K.TAIL_MASK, True)


@pytest.mark.parametrize(
    ("factor", "origin"),
    [
        (1 / 40, "0.025 times the expected value: 1 / 40, the size of dimension 1 of x"),
        (40**-0.5, "0.158114 times the expected value: 1 / sqrt(40), of the size of dimension 1 of x"),
        (0.3, "0.3 times the expected value"),
    ],
)
def test_factor_is_reported_with_its_origin(factor, origin):
    x = normal(9, 40)
    assert reported(SUM, (x,), factor * SUM.reference(x)) == (K.MISSING_SCALE, f"output is {origin}")


def test_factor_of_minus_one_is_reported_as_sign():
    x = normal(9, 40)
    words = "output is -1 times the expected value: the sign is wrong"
    assert reported(SILU, (x,), -SILU.reference(x)) == (K.MISSING_SCALE, words)


def test_argument_not_added_is_found():
    added = operator("x, y", lambda x, y: torch.where(torch.arange(40) % 2 == 0, x + y, y), returns=0, mutates=("y",))
    x, y = normal(40), normal(40, seed=4)
    got = torch.where(torch.arange(40) % 2 == 0, x, y)
    assert reported(added, (x, y), got, before=y) == (K.MISSING_BIAS, "y is not added")


def test_small_numbers_do_not_match_other_small_numbers():
    x = normal(8, 257) + 1
    options = {"tolerance": EXACT.__class__(relative=2**-6, absolute=2**-4)}
    found = reported(SUM, (x,), SUM.reference(x) / 257, **options)
    assert found == (
        K.MISSING_SCALE,
        "output is 0.00389105 times the expected value: 1 / 257, the size of dimension 1 of x",
    )
