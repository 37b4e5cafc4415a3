"""Two tapes of different contents of one case."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from engine.protocol.proof.tape import Addressed, Filled, Given, LookedUp, Moved, TapedPlace
from engine.replay.agreement import Agreement, Disagreement, agreement, count_different_numbers, with_other_seeds
from tests.engine.replay.tapes import BYTES, ELEMENTS, launch_record, launched, tape, vector

PLAIN = tape(launched(vector(0), vector(1)))


def test_equal_tapes_agree():
    assert agreement(PLAIN, PLAIN) == Agreement(difference=Disagreement.NONE)


def test_constants_that_differ_are_named_by_step():
    one, other = (tape(Given(storage=1, data=bytes([value]) * BYTES)) for value in (1, 2))
    assert agreement(one, other) == Agreement(difference=Disagreement.NONE, varying=(0,))


def test_a_scalar_that_differs_is_named():
    agreed = agreement(PLAIN, tape(launched(vector(0), vector(1), n=5)))
    assert agreed.difference is Disagreement.SCALAR
    assert agreed.message == "a scalar that depends on the data: argument n of kernel double"


def test_a_grid_that_differs_is_named():
    other = tape(msgspec.structs.replace(launched(vector(0), vector(1)), grid=(2, 1, 1)))
    assert agreement(PLAIN, other).message == "a grid that depends on the data: kernel double"


def test_another_number_of_launches_differs():
    agreed = agreement(PLAIN, tape(*PLAIN.steps, *PLAIN.steps))
    assert (agreed.difference, agreed.message) == (
        Disagreement.STEPS,
        "two calls of this case launch 1 and 2 kernels",
    )


def test_other_memory_of_an_output_differs():
    other = msgspec.structs.replace(PLAIN, returned=(vector(0),))
    assert agreement(PLAIN, other).message == "two calls of this case use memory differently"


@pytest.mark.parametrize(
    ("changes", "difference", "seeds"),
    [
        ({"n": 5}, Disagreement.NONE, 1),
        ({"n": ELEMENTS}, Disagreement.NONE, 0),
    ],
    ids=["other", "same"],
)
def test_seeds_of_a_random_operator_may_differ(changes, difference, seeds):
    one, other = tape(launched(vector(0), vector(1))), tape(launched(vector(0), vector(1), **changes))
    agreed = agreement(one, other, seeds_differ=True)
    assert (agreed.difference, agreed.seeds) == (difference, seeds)


def test_other_memory_of_a_random_operator_disagrees():
    one, other = tape(launched(vector(0), vector(1))), tape(launched(vector(1), vector(1), n=5))
    assert agreement(one, other, seeds_differ=True).difference is not Disagreement.NONE


def test_another_grid_of_a_random_operator_disagrees():
    launch = launched(vector(0), vector(1))
    wider = msgspec.structs.replace(launch, grid=(2, 1, 1))
    assert agreement(tape(launch), tape(wider), seeds_differ=True).difference is Disagreement.SCALAR


LAUNCH = launched(vector(0), vector(1))


@pytest.mark.parametrize(
    ("other", "numbers"),
    [
        (tape(LAUNCH), 0),
        (tape(launched(vector(0), vector(1), n=5)), 1),
        (tape(launched(vector(0, offset_bytes=4), vector(1), n=5)), 2),
        (tape(msgspec.structs.replace(LAUNCH, grid=(2, 3, 1))), 2),
        (tape(LAUNCH, LAUNCH), 7),
        (tape(Filled(target=vector(1), element=bytes(4)), LAUNCH), 14),
        (tape(Given(storage=1, data=bytes(BYTES)), LAUNCH), 0),
        (tape(launched(vector(1), vector(1))), 1),
        (tape(LAUNCH, Moved(target=vector(1), source=vector(0))), 6),
        (tape(LAUNCH, LookedUp(target=vector(1), source=vector(0), positions=vector(0), dimension=0)), 9),
        (tape(LAUNCH, Addressed(storage=1, words=(TapedPlace(storage=0, offset_bytes=4),) * 3)), 3),
        (tape(LAUNCH, returned=(vector(1, offset_bytes=4),)), 1),
    ],
    ids=[
        "same", "scalar", "place", "grid", "another launch", "a fill before", "memory", "other memory", "a move",
        "a look-up", "pointers", "returned place",
    ],
)  # fmt: skip
def test_numbers_passed_by_the_host_are_counted(other, numbers):
    assert count_different_numbers(tape(LAUNCH), other) == numbers


@pytest.mark.parametrize(
    ("changes", "numbers"),
    [
        ({"constants": {"BLOCK": "8"}}, 1),
        ({"constants": {"VALUES": "(0.12345678901234567, 1.5)"}}, 4),
        ({"closure": "value=0.5"}, 2),
        ({"kernel": "other"}, 1),
        ({"line": 2}, 1),
    ],
)
def test_texts_of_specialisations_are_counted(changes, numbers):
    one, other = (
        msgspec.structs.replace(
            tape(LAUNCH),
            specialisations=(dataclasses.replace(launch_record(), **{"constants": {"BLOCK": "4"}, **own}),),
        )
        for own in ({}, changes)
    )
    assert count_different_numbers(one, other) == numbers


def test_generated_sources_are_counted_in_pieces_of_numbers():
    recorded = tape(LAUNCH)
    one, other = (
        msgspec.structs.replace(
            recorded, specialisations=(dataclasses.replace(recorded.specialisations[0], generated_source=text),)
        )
        for text in ("0123456789abcdef" * 2, "0123456789ABCDEF0123456789abcde")
    )
    assert count_different_numbers(one, other) == 2


def with_count(number, *more):
    """A tape of launches with these counts."""
    return tape(*(launched(vector(0), vector(1), n=count) for count in (number, *more)))


def counts_of(recorded):
    """The count of each launch."""
    return [launch.arguments[2].value.value for launch in recorded.launches]


@pytest.mark.parametrize(
    ("number", "drawn", "seed"),
    [
        (7, 0x1234567, 0x1234567),
        (7, 0x80000007, 7),
        (7, 0x10, 0x11),
        (32, 0x1237, 0x1230),
        (-7, 0x1234567, -0x1234567),
        (2**40 + 1, 5, 2**31 + 1),
        (2**40, 2**50 + 3, 2**50),
        (7, 0, 2),
    ],
    ids=["small", "range of int32", "no multiple of 16", "multiple of 16", "sign", "int64", "large multiple", "not 1"],
)
def test_other_seeds_keep_what_a_kernel_was_compiled_for(number, drawn, seed):
    changed = with_other_seeds(with_count(number), with_count(number + 16), lambda purpose: drawn)
    assert counts_of(changed) == [seed]


def test_only_numbers_that_differ_from_call_to_call_are_replaced():
    numbers = iter((21, 23))
    changed = with_other_seeds(with_count(5, 6, 5, 9), with_count(7, 6, 7, 11), lambda purpose: next(numbers))
    assert counts_of(changed) == [21, 6, 21, 23]
