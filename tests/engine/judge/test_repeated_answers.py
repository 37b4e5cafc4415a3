"""Answers of later calls, compared with the reference and with the first answer."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from engine import protocol
from engine.judge.inputs.digests import outputs_digest
from engine.model import Outcome, Tolerance

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench

from tests.engine.judge.replies import failed, outcomes, reference_calls


def test_fresh_refill_has_new_content_in_same_memory(bench: Bench) -> None:
    bench.prepare("TWICE")
    x = bench.arguments[0]
    old = x.clone()
    bench.refill(fresh=True)
    assert x.tolist() != old.tolist()
    assert outcomes(bench.compared(*bench.hand_back(2 * old))) == [("return", Outcome.WRONG_VALUE)]
    assert outcomes(bench.compared(*bench.hand_back(2 * x))) == [("return", Outcome.PASS)]


def test_reference_is_called_only_for_compared_calls(bench: Bench) -> None:
    asked = reference_calls()
    bench.prepare("TWICE", seed=7, expects=False)
    bench.refill(fresh=True)
    assert reference_calls() == asked
    compared = bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    assert (outcomes(compared), reference_calls()) == ([("return", Outcome.PASS)], asked + 1)


def test_comparison_digests_are_those_of_its_bytes(bench: Bench) -> None:
    bench.prepare("TWICE", seed=7)
    inputs = bench.arguments[0].clone()
    compared = bench.compared(*bench.hand_back(2 * inputs), digests=True)
    digests = [hashlib.sha256(values.numpy().tobytes()).hexdigest() for values in (inputs, 2 * inputs)]
    assert compared.digests == protocol.ContentDigests(inputs=digests[0], expected=digests[1], outputs=digests[1])
    assert compared.outputs_digest is None
    hashed = bench.compared(*bench.hand_back(2 * inputs), hash_outputs=True)
    assert (hashed.digests, hashed.outputs_digest) == (None, digests[1])


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64]
)
def test_digests_tell_numbers_apart_but_not_kinds_of_nan(dtype: torch.dtype) -> None:
    nan = torch.tensor([1.0, math.nan]).to(dtype)
    other = nan.clone()
    other.view(torch.uint8)[-1] ^= 0x80  # its sign
    number = nan.clone()
    number[0] = -1.0
    digests = [outputs_digest([value]) for value in (nan, other, number)]
    assert (digests[0] == digests[1], digests[0] == digests[2]) == (True, False)
    assert nan.view(torch.uint8).tolist() != other.view(torch.uint8).tolist()


def test_new_content_with_other_scalars_is_refused(bench: Bench) -> None:
    bench.prepare("SCALAR", seed=1)
    assert failed(bench.ask(protocol.Refill(id="i", fresh=True, poison=0))) == (
        protocol.FailureKind.ENGINE,
        "ValueError: toy::scalar: shapes and scalars of one depend on the seed",
    )


def test_refill_on_same_content_undoes_writes_of_worker(bench: Bench) -> None:
    bench.prepare("TWICE")
    asked = reference_calls()
    x = bench.arguments[0]
    old = x.tolist()
    x.zero_()
    bench.refill(fresh=False)
    assert (x.tolist(), reference_calls()) == (old, asked)


def test_later_outputs_are_compared_bitwise_with_first(bench: Bench) -> None:
    bench.prepare("TWICE")
    right = 2 * bench.arguments[0]
    other = right.clone()
    other[2] += 1
    repeated = [bench.compared(*bench.hand_back(value)).repeated for value in (right, right.clone(), other, right)]
    assert repeated == [None, True, False, True]


@pytest.mark.parametrize(("other", "repeated"), [(torch.full((4,), -0.0), False), (torch.zeros(4), True)])
def test_equal_outputs_with_other_bits_are_different(bench: Bench, other: torch.Tensor, repeated: bool) -> None:
    bench.prepare("TWICE")
    bench.compared(*bench.hand_back(torch.zeros(4)))
    assert bench.compared(*bench.hand_back(other)).repeated is repeated


def test_one_differing_output_of_several_is_found(bench: Bench) -> None:
    bench.prepare("PAIR")
    x = bench.arguments[0]
    bench.compared(*bench.hand_back(x + 1, x - 1))
    assert bench.compared(*bench.hand_back(x + 1, x)).repeated is False
    assert bench.compared(*bench.hand_back(x, x - 1)).repeated is False
    assert bench.compared(*bench.hand_back(x + 1, x - 1)).repeated is True


def test_other_content_of_open_elements_is_the_same_output(bench: Bench) -> None:
    bench.prepare("OPEN_TAIL")
    first, other, wrong = 2 * bench.arguments[0].repeat(3, 1)
    other[2:] += 1
    wrong[1:] += 1
    assert [bench.compared(*bench.hand_back(value)).repeated for value in (first, other, wrong)] == [None, True, False]


def test_repeated_nan_is_the_same_output(bench: Bench) -> None:
    bench.prepare("TWICE")
    answers = [bench.compared(*bench.hand_back(torch.full((4,), torch.nan))).repeated for _ in range(2)]
    assert answers == [None, True]


def test_output_on_new_content_has_no_earlier_output(bench: Bench) -> None:
    bench.prepare("TWICE")
    bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    bench.refill(fresh=True)
    assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).repeated is None
    bench.refill(fresh=False)
    assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).repeated is True


def test_repeated_output_has_the_same_report(bench: Bench) -> None:
    bench.prepare("TWICE")
    right = 2 * bench.arguments[0]
    first = bench.compared(*bench.hand_back(right))
    assert bench.compared(*bench.hand_back(right)).reports == first.reports
    bench.prepare("TWICE", poison=0xFF)
    unwritten = torch.full((4,), torch.nan)
    unwritten.view(torch.uint8).fill_(0xFF)
    assert "4 of them were never written" in bench.compared(*bench.hand_back(unwritten)).reports[0].message
    bench.refill(fresh=False, poison=0x7B)
    again = bench.compared(*bench.hand_back(unwritten))
    assert again.repeated is True
    assert "never written" not in again.reports[0].message


def test_repeated_uncomparable_output_is_not_right(bench: Bench) -> None:
    bench.prepare("TWICE")
    prepared = bench.judge._place.prepared
    assert prepared is not None
    whole, broken = (
        prepared.problem,
        replace(prepared.problem, tolerance=lambda case: Tolerance(relative=-1.0, absolute=0.0)),
    )
    wrong = bench.hand_back(3 * bench.arguments[0])
    prepared.problem = broken
    assert failed(bench.compare(*wrong))[0] is protocol.FailureKind.ENGINE
    prepared.problem = whole
    assert outcomes(bench.compared(*wrong)) == [("return", Outcome.WRONG_VALUE)]


def test_answer_to_new_content_fails_on_first(bench: Bench) -> None:
    bench.prepare("TWICE")
    bench.refill(fresh=True)
    answer = 2 * bench.arguments[0]
    assert outcomes(bench.compared(*bench.hand_back(answer))) == [("return", Outcome.PASS)]
    bench.refill(fresh=False)
    for _ in range(2):
        assert outcomes(bench.compared(*bench.hand_back(answer))) == [("return", Outcome.WRONG_VALUE)]


def test_in_place_output_is_compared_with_first_call(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    bench.arguments[0].mul_(2)
    assert bench.compared().repeated is None
    bench.refill(fresh=False)
    assert bench.compared().repeated is False


def test_first_output_of_next_run_is_not_repeated(bench: Bench) -> None:
    for _ in range(2):
        bench.prepare("TWICE")
        assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).repeated is None
