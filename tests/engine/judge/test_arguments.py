"""Arguments after a call: inputs that changed, outputs written in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.model import Outcome

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench

from tests.engine.judge.replies import outcomes


def test_an_input_that_changed_is_named(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.arguments[0][3] += 1
    compared = bench.compared(*returned)
    assert outcomes(compared) == [("return", Outcome.PASS)]
    assert compared.mutated == "input x was changed; the signature does not say that it is written"


def test_changed_input_in_list_is_reported(bench: Bench) -> None:
    bench.prepare("ALIASES")
    returned = bench.hand_back(bench.arguments[0][0] + bench.arguments[0][1])
    bench.arguments[0][1][0] = 0.0
    compared = bench.compared(*returned)
    assert compared.mutated == "input xs was changed; the signature does not say that it is written"


def test_argument_written_in_place_is_compared_as_output(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    bench.arguments[0].mul_(2)
    compared = bench.compared()
    assert (outcomes(compared), compared.mutated) == ([("x", Outcome.PASS)], None)


def test_argument_not_written_in_place_is_wrong(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    assert outcomes(bench.compared()) == [("x", Outcome.WRONG_VALUE)]


def test_reference_writing_arguments_changes_no_inputs(bench: Bench) -> None:
    bench.prepare("IN_PLACE", seed=3)
    given = bench.arguments[0].clone()
    assert given.tolist() == torch.randn(4, generator=torch.Generator().manual_seed(3)).tolist()
    for _ in range(2):
        bench.arguments[0].copy_(2 * given)
        assert outcomes(bench.compared()) == [("x", Outcome.PASS)]
        bench.refill(fresh=False)
        assert bench.arguments[0].tolist() == given.tolist()


def test_write_only_output_arrives_filled_with_poison(bench: Bench) -> None:
    bench.prepare("INTO", poison=0x7B)
    out = bench.arguments[1]
    assert out.stride() == (4, 1)
    assert set(bytes(out.untyped_storage().tolist())) == {0x7B}
    bench.refill(fresh=False, poison=0xFF)
    assert set(bytes(out.untyped_storage().tolist())) == {0xFF}


def test_strided_output_ignores_bytes_between_elements(bench: Bench) -> None:
    bench.prepare("INTO")
    bench.arguments[1].copy_(bench.arguments[0] + 1)
    compared = bench.compared()
    assert (outcomes(compared), compared.mutated) == ([("out", Outcome.PASS)], None)


def test_memory_between_output_elements_must_stay(bench: Bench) -> None:
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


def test_missing_written_argument_is_not_compared(bench: Bench) -> None:
    bench.prepare("OPTIONAL")
    assert bench.arguments[1] is None
    compared = bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    assert (outcomes(compared), compared.mutated) == ([("return", Outcome.PASS)], None)


def test_an_empty_answer_to_an_empty_case_passes(bench: Bench) -> None:
    bench.prepare("EMPTY")
    assert bench.arguments[0].shape == (0, 3)
    assert outcomes(bench.compared(*bench.hand_back(torch.empty(0)))) == [("return", Outcome.PASS)]
