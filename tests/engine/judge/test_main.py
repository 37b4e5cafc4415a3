"""The judge: what it hands out, what it believes, and what it notices."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch

from engine import protocol
from engine.judge.inputs import cases
from engine.model import Outcome, ProblemId, Tolerance
from engine.protocol import tensors
from engine.protocol.service import Line

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench


def toy(name: str) -> ProblemId:
    """The id of a problem of toy_problems.py."""
    return ProblemId(source="toy_problems", name=name)


def outcomes(compared: protocol.Compared) -> list[tuple[str, Outcome]]:
    return [(report.name, report.outcome) for report in compared.reports]


def failed(reply: protocol.AnyReply) -> tuple[protocol.FailureKind, str]:
    assert isinstance(reply, protocol.Failed), reply
    return reply.kind, reply.message


def reference_calls() -> int:
    """How often the reference of any toy problem has been asked."""
    return len(importlib.import_module("toy_problems").REFERENCE_CALLS)


def test_a_right_answer_passes(bench: Bench) -> None:
    bench.prepare("TWICE", seed=7)
    compared = bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    assert (outcomes(compared), compared.mutated) == ([("return", Outcome.PASS)], None)


def test_a_wrong_answer_fails(bench: Bench) -> None:
    bench.prepare("TWICE")
    compared = bench.compared(*bench.hand_back(3 * bench.arguments[0]))
    assert outcomes(compared) == [("return", Outcome.WRONG_VALUE)]


def inputs_of(bench: Bench, case: str, seed: int | None = None) -> tuple[float, ...]:
    """The inputs that the next run of this case meets."""
    bench.prepare("TWICE", case=case, seed=seed)
    return tuple(bench.arguments[0].tolist())


def test_the_same_seed_makes_the_same_inputs_and_none_makes_others(bench: Bench) -> None:
    contents = [inputs_of(bench, "large", seed) for seed in (7, 7, None, None)]
    assert contents[0] == contents[1]
    assert len(set(contents)) == 3


@pytest.mark.parametrize("case", ["one", "large"])
@pytest.mark.parametrize("fresh", [False, True])
def test_the_seed_of_a_released_case_makes_the_inputs_again_that_were_in_hand(
    bench: Bench, case: str, fresh: bool
) -> None:
    inputs_of(bench, case)
    bench.refill(fresh=fresh)
    last = tuple(bench.arguments[0].tolist())
    seed = bench.release()
    assert inputs_of(bench, case, seed) == last


def test_the_next_run_of_a_smoke_case_meets_the_same_inputs_without_asking_the_reference(bench: Bench) -> None:
    first = inputs_of(bench, "one")
    bench.release()
    asked = reference_calls()
    assert inputs_of(bench, "one") == first
    assert reference_calls() == asked
    assert outcomes(bench.compared(*bench.hand_back(2 * bench.arguments[0]))) == [("return", Outcome.PASS)]


def test_the_next_run_of_a_larger_case_meets_other_inputs(bench: Bench) -> None:
    # On the CPU it gets no call on new content, so what an earlier candidate has met may not be kept.
    assert inputs_of(bench, "large") != inputs_of(bench, "large")


def test_what_a_worker_wrote_does_not_reach_the_next_run_of_a_kept_case(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    first = bench.arguments[0].tolist()
    bench.arguments[0].fill_(5.0)
    bench.compared()
    bench.prepare("IN_PLACE")
    assert bench.arguments[0].tolist() == first
    bench.arguments[0].mul_(2)
    assert outcomes(bench.compared()) == [("x", Outcome.PASS)]


def test_a_given_seed_leaves_the_kept_inputs_as_they_were(bench: Bench) -> None:
    first = inputs_of(bench, "one")
    assert inputs_of(bench, "one", 7) != first
    assert inputs_of(bench, "one") == first


def test_new_content_is_content_that_no_run_has_met(bench: Bench) -> None:
    met = []
    for _ in range(3):
        met.append(inputs_of(bench, "one"))
        bench.refill(fresh=True)
        met.append(tuple(bench.arguments[0].tolist()))
    assert len(set(met)) == 4  # the kept inputs, and each time others


def test_going_back_to_the_first_content_brings_it_back(bench: Bench) -> None:
    first = inputs_of(bench, "large")
    bench.refill(fresh=True)
    bench.refill(fresh=False)
    assert tuple(bench.arguments[0].tolist()) == first
    assert outcomes(bench.compared(*bench.hand_back(2 * bench.arguments[0]))) == [("return", Outcome.PASS)]


def test_the_seed_is_reported_only_when_the_case_has_ended(bench: Bench) -> None:
    prepared = bench.prepare("TWICE", seed=123456789)
    compared = bench.compared(*bench.hand_back(bench.arguments[0]))
    assert b"123456789" not in protocol.encode(prepared) + protocol.encode(compared)
    assert bench.release() == 123456789
    assert [storage.bytes for storage in prepared.arena.storages] == [16]


def test_each_of_several_outputs_is_judged_by_its_own_name(bench: Bench) -> None:
    bench.prepare("PAIR")
    x = bench.arguments[0]
    compared = bench.compared(*bench.hand_back(x + 1, x + 1))
    assert outcomes(compared) == [("return[0]", Outcome.PASS), ("return[1]", Outcome.WRONG_VALUE)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_returned_values_is_a_wrong_shape(bench: Bench, count: int) -> None:
    bench.prepare("PAIR")
    compared = bench.compared(*bench.hand_back(*(bench.arguments[0] for _ in range(count))))
    assert outcomes(compared) == [("return[0]", Outcome.WRONG_SHAPE), ("return[1]", Outcome.WRONG_SHAPE)]
    assert compared.reports[0].message == f"the entry returned {count} values, expected 2"


@pytest.mark.parametrize("type_name", ["NoneType", "float", "ndarray", "AgreeableTensor"])
def test_what_is_no_tensor_is_reported_by_its_type(bench: Bench, type_name: str) -> None:
    bench.prepare("TWICE")
    bench.hand_back()
    compared = bench.compared(protocol.ReturnedSpec(type_name=type_name))
    assert outcomes(compared) == [("return", Outcome.WRONG_DTYPE)]
    assert compared.reports[0].message == f"the entry returned {type_name}, expected Tensor"


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), offset=0, bytes=12),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(5,), offset=0, bytes=20),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), offset=1, bytes=16),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), offset=2**70, bytes=16),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2**40,), offset=0, bytes=2**42),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(0,), offset=0, bytes=0),
            Outcome.WRONG_SHAPE,
        ),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(0, 2**62, 4)), Outcome.WRONG_SHAPE),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(0, 2**64)), Outcome.WRONG_SHAPE),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2**63, 0)), Outcome.WRONG_SHAPE),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2, 2), offset=0, bytes=16),
            Outcome.WRONG_SHAPE,
        ),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="int32", shape=(4,), offset=0, bytes=16), Outcome.WRONG_DTYPE),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="complex32", shape=(4,), offset=0, bytes=16),
            Outcome.WRONG_DTYPE,
        ),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="", shape=(4,), offset=0, bytes=16), Outcome.WRONG_DTYPE),
    ],
)
def test_a_claim_that_does_not_fit_the_bytes_or_the_problem_is_wrong(
    bench: Bench, spec: protocol.ReturnedSpec, outcome: Outcome
) -> None:
    bench.prepare("TWICE")
    bench.hand_back(2 * bench.arguments[0])
    assert outcomes(bench.compared(spec)) == [("return", outcome)]


def test_an_answer_beyond_the_limit_or_no_file_at_all_is_tampering(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    assert failed(bench.compare(*returned, max_bytes=15)) == (
        protocol.FailureKind.TAMPERED,
        "case.out is no regular file of at most 15 bytes",
    )
    bench.outputs.unlink()
    assert failed(bench.compare(*returned))[0] is protocol.FailureKind.TAMPERED


def test_shared_memory_that_was_cut_is_tampering(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.arguments.clear()
    with bench.arena.open("r+b") as file:
        file.truncate(3)
    assert failed(bench.compare(*returned)) == (
        protocol.FailureKind.TAMPERED,
        "the shared memory of the case was cut short",
    )


def test_an_input_that_changed_is_named(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.arguments[0][3] += 1
    compared = bench.compared(*returned)
    assert outcomes(compared) == [("return", Outcome.PASS)]
    assert compared.mutated == "input x was changed; the signature does not say that it is written"


def test_an_input_in_a_list_is_watched_too(bench: Bench) -> None:
    bench.prepare("ALIASES")
    returned = bench.hand_back(bench.arguments[0][0] + bench.arguments[0][1])
    bench.arguments[0][1][0] = 0.0
    compared = bench.compared(*returned)
    assert compared.mutated == "input xs was changed; the signature does not say that it is written"


def test_what_is_written_in_place_is_judged_and_no_mutation(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    bench.arguments[0].mul_(2)
    compared = bench.compared()
    assert (outcomes(compared), compared.mutated) == ([("x", Outcome.PASS)], None)


def test_what_was_not_written_in_place_is_wrong(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    assert outcomes(bench.compared()) == [("x", Outcome.WRONG_VALUE)]


def test_a_reference_that_writes_its_arguments_changes_neither_inputs_nor_expectations(bench: Bench) -> None:
    bench.prepare("IN_PLACE", seed=3)
    given = bench.arguments[0].clone()
    assert given.tolist() == torch.randn(4, generator=torch.Generator().manual_seed(3)).tolist()
    for _ in range(2):
        bench.arguments[0].copy_(2 * given)
        assert outcomes(bench.compared()) == [("x", Outcome.PASS)]
        bench.refill(fresh=False)
        assert bench.arguments[0].tolist() == given.tolist()


def test_an_output_that_is_only_written_arrives_as_poison_and_so_does_the_space_between(bench: Bench) -> None:
    bench.prepare("INTO", poison=0x7B)
    out = bench.arguments[1]
    assert out.stride() == (4, 1)
    assert set(bytes(out.untyped_storage().tolist())) == {0x7B}
    bench.refill(fresh=False, poison=0xFF)
    assert set(bytes(out.untyped_storage().tolist())) == {0xFF}


def test_a_strided_output_is_judged_by_its_elements(bench: Bench) -> None:
    bench.prepare("INTO")
    bench.arguments[1].copy_(bench.arguments[0] + 1)
    compared = bench.compared()
    assert (outcomes(compared), compared.mutated) == ([("out", Outcome.PASS)], None)


def test_memory_between_the_elements_of_an_output_must_stay(bench: Bench) -> None:
    bench.prepare("INTO")
    x, out = bench.arguments
    torch.as_strided(out, (2, 4), (4, 1), 0)[:, :3] = 0.0
    out.copy_(x + 1)
    compared = bench.compared()
    assert outcomes(compared) == [("out", Outcome.PASS)]
    assert compared.mutated == "memory between the elements of out was overwritten"


def test_an_unwritten_output_is_reported_as_never_written(bench: Bench) -> None:
    bench.prepare("INTO", poison=0x7B)
    message = bench.compared().reports[0].message
    assert message.endswith("4 of them were never written")


def test_an_argument_that_would_be_written_but_is_none_is_not_judged(bench: Bench) -> None:
    bench.prepare("OPTIONAL")
    assert bench.arguments[1] is None
    compared = bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    assert (outcomes(compared), compared.mutated) == ([("return", Outcome.PASS)], None)


def test_an_empty_answer_to_an_empty_case_passes(bench: Bench) -> None:
    bench.prepare("EMPTY")
    assert bench.arguments[0].shape == (0, 3)
    assert outcomes(bench.compared(*bench.hand_back(torch.empty(0)))) == [("return", Outcome.PASS)]


def test_a_fresh_refill_brings_new_content_to_the_same_memory_and_expects_its_answer(bench: Bench) -> None:
    bench.prepare("TWICE")
    x = bench.arguments[0]
    old = x.clone()
    bench.refill(fresh=True)
    assert x.tolist() != old.tolist()
    assert outcomes(bench.compared(*bench.hand_back(2 * old))) == [("return", Outcome.WRONG_VALUE)]
    assert outcomes(bench.compared(*bench.hand_back(2 * x))) == [("return", Outcome.PASS)]


def test_the_reference_is_called_only_for_calls_that_are_compared(bench: Bench) -> None:
    asked = reference_calls()
    bench.prepare("TWICE", seed=7, expects=False)
    bench.refill(fresh=True)
    assert reference_calls() == asked
    compared = bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    assert (outcomes(compared), reference_calls()) == ([("return", Outcome.PASS)], asked + 1)


def test_digests_of_a_comparison_are_those_of_its_bytes(bench: Bench) -> None:
    bench.prepare("TWICE", seed=7)
    inputs = bench.arguments[0].clone()
    compared = bench.compared(*bench.hand_back(2 * inputs), digests=True)
    digests = [hashlib.sha256(values.numpy().tobytes()).hexdigest() for values in (inputs, 2 * inputs)]
    assert compared.digests == protocol.ContentDigests(inputs=digests[0], expected=digests[1], outputs=digests[1])


def test_new_content_with_other_scalars_is_refused_since_the_worker_was_reported_the_old_ones(bench: Bench) -> None:
    bench.prepare("SCALAR", seed=1)
    assert failed(bench.ask(protocol.Refill(id="i", fresh=True, poison=0))) == (
        protocol.FailureKind.ENGINE,
        "ValueError: toy::scalar: shapes and scalars of one depend on the seed",
    )


def test_a_refill_on_the_same_content_undoes_what_the_worker_wrote_and_asks_the_reference_once(bench: Bench) -> None:
    bench.prepare("TWICE")
    asked = reference_calls()
    x = bench.arguments[0]
    old = x.tolist()
    x.zero_()
    bench.refill(fresh=False)
    assert (x.tolist(), reference_calls()) == (old, asked)


def test_later_outputs_are_the_first_to_the_bit_or_not(bench: Bench) -> None:
    bench.prepare("TWICE")
    right = 2 * bench.arguments[0]
    other = right.clone()
    other[2] += 1
    repeated = [bench.compared(*bench.hand_back(value)).repeated for value in (right, right.clone(), other, right)]
    assert repeated == [None, True, False, True]


@pytest.mark.parametrize(("other", "repeated"), [(torch.full((4,), -0.0), False), (torch.zeros(4), True)])
def test_outputs_that_are_equal_and_not_the_same_bits_are_another_answer(
    bench: Bench, other: torch.Tensor, repeated: bool
) -> None:
    bench.prepare("TWICE")
    bench.compared(*bench.hand_back(torch.zeros(4)))
    assert bench.compared(*bench.hand_back(other)).repeated is repeated


def test_one_of_several_outputs_that_differs_is_another_answer(bench: Bench) -> None:
    bench.prepare("PAIR")
    x = bench.arguments[0]
    bench.compared(*bench.hand_back(x + 1, x - 1))
    assert bench.compared(*bench.hand_back(x + 1, x)).repeated is False
    assert bench.compared(*bench.hand_back(x, x - 1)).repeated is False
    assert bench.compared(*bench.hand_back(x + 1, x - 1)).repeated is True


def test_nan_that_comes_again_is_the_same_answer(bench: Bench) -> None:
    bench.prepare("TWICE")
    answers = [bench.compared(*bench.hand_back(torch.full((4,), torch.nan))).repeated for _ in range(2)]
    assert answers == [None, True]


def test_an_answer_on_new_content_is_held_against_no_earlier_one(bench: Bench) -> None:
    bench.prepare("TWICE")
    bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    bench.refill(fresh=True)
    assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).repeated is None
    bench.refill(fresh=False)
    assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).repeated is True


def test_the_same_answer_has_the_same_report_when_it_comes_again(bench: Bench) -> None:
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


def test_an_answer_that_could_not_be_compared_is_not_right_when_it_comes_again(bench: Bench) -> None:
    bench.prepare("TWICE")
    hand = bench.judge._place.hand
    assert hand is not None
    whole, broken = hand.problem, replace(hand.problem, tolerance=lambda case: Tolerance(relative=-1.0, absolute=0.0))
    wrong = bench.hand_back(3 * bench.arguments[0])
    hand.problem = broken
    assert failed(bench.compare(*wrong))[0] is protocol.FailureKind.ENGINE
    hand.problem = whole
    assert outcomes(bench.compared(*wrong)) == [("return", Outcome.WRONG_VALUE)]


def test_what_was_right_on_new_content_is_wrong_where_the_first_comes_back(bench: Bench) -> None:
    bench.prepare("TWICE")
    bench.refill(fresh=True)
    answer = 2 * bench.arguments[0]
    assert outcomes(bench.compared(*bench.hand_back(answer))) == [("return", Outcome.PASS)]
    bench.refill(fresh=False)
    for _ in range(2):
        assert outcomes(bench.compared(*bench.hand_back(answer))) == [("return", Outcome.WRONG_VALUE)]


def test_what_is_written_in_place_is_held_against_the_first_call_too(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    bench.arguments[0].mul_(2)
    assert bench.compared().repeated is None
    bench.refill(fresh=False)
    assert bench.compared().repeated is False


def test_the_first_answer_of_the_next_run_is_held_against_none(bench: Bench) -> None:
    for _ in range(2):
        bench.prepare("TWICE")
        assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).repeated is None


@pytest.mark.parametrize(
    ("zone", "at_its_end", "where"),
    [
        (0, False, "before the beginning of argument x"),
        (0, True, "before the beginning of argument x"),
        (1, False, "past the end of argument x"),
        (1, True, "before the beginning of argument out"),
        (2, False, "past the end of argument out"),
        (2, True, "past the end of argument out"),
    ],
)
def test_a_byte_written_beside_the_arguments_names_the_nearest(
    bench: Bench, zone: int, at_its_end: bool, where: str
) -> None:
    bench.prepare("INTO", poison=0x7B)
    bench.arguments[1].copy_(bench.arguments[0] + 1)
    there = tensors.guard_zones(bench.spec)[zone]
    bench.write_byte(there.offset + (there.bytes - 1 if at_its_end else 0), 0x7A)
    compared = bench.compared()
    message = f"memory {where} was written (1 byte): a store without a mask, or with a wrong one"
    assert (outcomes(compared), compared.mutated) == ([("out", Outcome.PASS)], message)


def test_the_guard_is_looked_at_with_the_poison_of_the_last_refill(bench: Bench) -> None:
    bench.prepare("INTO", poison=0x7B)
    bench.refill(fresh=False, poison=0xFF)
    bench.arguments[1].copy_(bench.arguments[0] + 1)
    assert bench.compared().mutated is None
    bench.write_byte(0, 0x7B)
    assert bench.compared().mutated is not None


def test_a_refill_renews_what_was_written_beside_the_arguments(bench: Bench) -> None:
    bench.prepare("TWICE")
    bench.write_byte(0, 0)
    bench.refill(fresh=True)
    assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).mutated is None


@pytest.mark.parametrize(
    ("zone", "nearer_to_end", "where"),
    [
        (0, False, "before the beginning of argument x"),
        (1, False, "past the end of argument x"),
        (1, True, "before the beginning of argument out"),
        (2, False, "past the end of argument out"),
        (2, True, "before the beginning of the place for outputs"),
        (3, True, "past the end of the place for outputs"),
    ],
)
def test_an_overrun_on_a_device_with_its_place_for_outputs_is_named(
    bench: Bench, zone: int, nearer_to_end: bool, where: str
) -> None:
    problem = importlib.import_module("toy_problems").INTO
    specs = bench.prepare("INTO").arguments
    damage = tensors.Damage(zone=zone, zones=4, changed_bytes=3, nearer_to_end=nearer_to_end)
    expected = f"memory {where} was written (3 bytes): a store without a mask, or with a wrong one"
    assert cases.overrun(problem, specs, damage) == expected


def test_an_overrun_past_a_list_names_the_list(bench: Bench) -> None:
    prepared = bench.prepare("ALIASES")
    problem = importlib.import_module("toy_problems").ALIASES
    damage = tensors.Damage(zone=1, zones=2, changed_bytes=3, nearer_to_end=False)
    assert cases.overrun(problem, prepared.arguments, damage).startswith("memory past the end of argument xs was")


def described(bench: Bench, problem: str, *names: str) -> tuple[protocol.Shape, ...]:
    reply = bench.ask(protocol.Describe(id="i", problem=toy(problem), cases=names))
    assert isinstance(reply, protocol.Described), reply
    return reply.shapes


@pytest.mark.parametrize("problem", ["TWICE", "INTO", "OPTIONAL", "ALIASES", "EMPTY"])
def test_a_case_is_described_as_it_is_prepared(bench: Bench, problem: str) -> None:
    shapes = described(bench, problem, "large", "one")
    for shape, case in zip(shapes, ("large", "one"), strict=True):
        prepared = bench.prepare(problem, case=case)
        assert shape.arguments == prepared.arguments
        assert shape.storages == tuple(storage.bytes for storage in prepared.arena.storages)


def test_describing_a_case_that_is_kept_makes_the_content_that_is_prepared_next(bench: Bench) -> None:
    [shape] = described(bench, "SCALAR", "one")
    assert bench.prepare("SCALAR").arguments == shape.arguments


def test_describing_leaves_the_case_in_hand(bench: Bench) -> None:
    bench.prepare("TWICE")
    described(bench, "IN_PLACE", "one", "large")
    assert outcomes(bench.compared(*bench.hand_back(2 * bench.arguments[0]))) == [("return", Outcome.PASS)]


def test_a_case_that_cannot_be_described_is_our_fault(bench: Bench) -> None:
    reply = bench.ask(protocol.Describe(id="i", problem=toy("TWICE"), cases=("one", "two")))
    assert failed(reply) == (protocol.FailureKind.ENGINE, "KeyError: 'two'")


def test_every_command_needs_a_case_in_hand(bench: Bench) -> None:
    for reply in (bench.ask(protocol.Refill(id="i", fresh=False, poison=0)), bench.compare()):
        assert failed(reply) == (protocol.FailureKind.ENGINE, "RuntimeError: no case was prepared")


def test_a_case_that_was_released_is_forgotten(bench: Bench) -> None:
    bench.prepare("TWICE")
    assert bench.release() is not None
    assert bench.release() is None
    assert failed(bench.compare())[1] == "RuntimeError: no case was prepared"


@pytest.mark.parametrize(
    ("opened", "case", "message"),
    [
        (toy("BROKEN"), "one", "ValueError: this reference is broken"),
        (toy("MISSING"), "one", "EngineError: toy_problems has no MISSING"),
        (
            ProblemId(source="no_such_module", name="x"),
            "one",
            "EngineError: 'no_such_module' is no source of problems: No module named 'no_such_module'",
        ),
        (
            ProblemId(source="math", name="x"),
            "one",
            "EngineError: 'math' is no source of problems: module 'math' has no attribute 'open_source'",
        ),
        (toy("TWICE"), "two", "KeyError: 'two'"),
    ],
)
def test_a_problem_that_cannot_be_prepared_is_our_fault_and_keeps_the_judge(
    bench: Bench, opened: ProblemId, case: str, message: str
) -> None:
    command = protocol.Prepare(id="i", problem=opened, case=case, arena_path=str(bench.arena), poison=0)
    assert failed(bench.ask(command)) == (protocol.FailureKind.ENGINE, message)
    bench.prepare("TWICE")


def test_a_fault_of_any_length_is_reported(bench: Bench) -> None:
    reply = bench.ask(
        protocol.Prepare(
            id="i", problem=ProblemId(source="x" * 100_000, name="x"), case="one", arena_path=str(bench.arena), poison=0
        )
    )
    assert failed(reply)[0] is protocol.FailureKind.ENGINE
    assert protocol.decode_reply(protocol.encode(reply)) == reply


def test_a_judge_answers_what_it_cannot_read_and_keeps_its_case(bench: Bench, tmp_path: Path) -> None:
    bench.prepare("TWICE")
    [right] = bench.hand_back(2 * bench.arguments[0])
    asked, reported = tmp_path / "asked", tmp_path / "reported"
    compares = (
        protocol.Compare(id=name, outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=(right,) * count)
        for name, count in (("a", 100_000), ("b", 1))
    )
    asked.write_bytes(b"".join(map(protocol.encode, compares)))
    Line(os.open(asked, os.O_RDONLY), os.open(reported, os.O_CREAT | os.O_WRONLY)).serve(bench.judge.carry_out)
    refused, compared = map(protocol.decode_reply, reported.read_bytes().splitlines())
    assert (refused.id, *failed(refused)) == (
        "a",
        protocol.FailureKind.ENGINE,
        "not a command: Expected `array` of length <= 64 - at `$.returned`",
    )
    assert isinstance(compared, protocol.Compared)
    assert outcomes(compared) == [("return", Outcome.PASS)]


def test_a_command_for_another_child_is_refused(bench: Bench) -> None:
    reply = bench.ask(protocol.Load(id="i", path="/k.py", folder=None, entry="f"))
    assert failed(reply) == (protocol.FailureKind.ENGINE, "a judge does not load")


def test_preparing_the_next_case_lets_go_of_the_one_before(bench: Bench, open_descriptors: Callable[[], int]) -> None:
    bench.prepare("TWICE")
    before = open_descriptors()
    for _ in range(5):
        bench.prepare("TWICE")
    assert open_descriptors() == before


def test_a_case_that_is_in_hand_apart_is_let_alone_by_what_is_done_to_the_other(bench: Bench) -> None:
    apart = protocol.Prepare(
        id="i", problem=toy("TWICE"), case="one", arena_path=str(bench.folder / "apart"), poison=0, apart=True
    )
    assert isinstance(bench.ask(apart), protocol.Prepared)
    bench.prepare("TWICE")
    right = bench.hand_back(2 * bench.arguments[0])
    contrast = protocol.Contrast(
        id="c", outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=right, keep=True
    )
    for command in (contrast, msgspec.structs.replace(contrast, apart=True)):
        reply = bench.ask(command)
        assert isinstance(reply, protocol.Contrasted)
        assert [(output.right, output.changed) for output in reply.outputs] == [(4, None)]
    bench.release()
    assert isinstance(bench.ask(protocol.Refill(id="i", fresh=True, poison=1, apart=True)), protocol.Done)
    reply = bench.ask(msgspec.structs.replace(contrast, apart=True))
    assert isinstance(reply, protocol.Contrasted)
    assert [(output.right, output.changed) for output in reply.outputs] == [(0, 0)]
    assert isinstance(bench.ask(protocol.Release(id="i", apart=True)), protocol.Released)
