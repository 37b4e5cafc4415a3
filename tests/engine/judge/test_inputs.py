"""Inputs of a case: seeds, kept content and new content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine import protocol
from engine.judge.inputs.cases import Content, Contents
from engine.model import Outcome

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench

from tests.engine.judge.replies import outcomes, reference_calls


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


def test_same_seed_makes_same_inputs(bench: Bench) -> None:
    contents = [inputs_of(bench, "large", seed) for seed in (7, 7, None, None)]
    assert contents[0] == contents[1]
    assert len(set(contents)) == 3


@pytest.mark.parametrize("case", ["one", "large"])
@pytest.mark.parametrize("fresh", [False, True])
def test_seed_of_released_case_reproduces_its_inputs(bench: Bench, case: str, fresh: bool) -> None:
    inputs_of(bench, case)
    bench.refill(fresh=fresh)
    last = tuple(bench.arguments[0].tolist())
    seed = bench.release()
    assert inputs_of(bench, case, seed) == last


def test_next_run_of_smoke_case_reuses_inputs(bench: Bench) -> None:
    first = inputs_of(bench, "one")
    bench.release()
    asked = reference_calls()
    assert inputs_of(bench, "one") == first
    assert reference_calls() == asked
    assert outcomes(bench.compared(*bench.hand_back(2 * bench.arguments[0]))) == [("return", Outcome.PASS)]


def test_next_run_of_larger_case_draws_other_inputs(bench: Bench) -> None:
    # On the CPU it gets no call on new content, so what an earlier candidate has met may not be kept.
    assert inputs_of(bench, "large") != inputs_of(bench, "large")


def test_worker_writes_do_not_reach_the_next_run(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    first = bench.arguments[0].tolist()
    bench.arguments[0].fill_(5.0)
    bench.compared()
    bench.prepare("IN_PLACE")
    assert bench.arguments[0].tolist() == first
    bench.arguments[0].mul_(2)
    assert outcomes(bench.compared()) == [("x", Outcome.PASS)]


def test_given_seed_leaves_kept_inputs_unchanged(bench: Bench) -> None:
    first = inputs_of(bench, "one")
    assert inputs_of(bench, "one", 7) != first
    assert inputs_of(bench, "one") == first


def test_new_content_differs_from_all_earlier_runs(bench: Bench) -> None:
    met = []
    for _ in range(3):
        met.append(inputs_of(bench, "one"))
        bench.refill(fresh=True)
        met.append(tuple(bench.arguments[0].tolist()))
    assert len(set(met)) == 4  # the kept inputs, and each time others


def test_first_content_can_be_restored(bench: Bench) -> None:
    first = inputs_of(bench, "large")
    bench.refill(fresh=True)
    bench.refill(fresh=False)
    assert tuple(bench.arguments[0].tolist()) == first
    assert outcomes(bench.compared(*bench.hand_back(2 * bench.arguments[0]))) == [("return", Outcome.PASS)]


def test_seed_is_reported_only_after_case_ends(bench: Bench) -> None:
    prepared = bench.prepare("TWICE", seed=123456789)
    compared = bench.compared(*bench.hand_back(bench.arguments[0]))
    assert b"123456789" not in protocol.encode(prepared) + protocol.encode(compared)
    assert bench.release() == 123456789
    assert [storage.bytes for storage in prepared.arena.storages] == [16]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Content]:
    """The contents that the judge has made since."""
    make, contents = Contents.make, []

    def make_noted(self: Contents, *arguments: Any) -> Content:
        contents.append(make(self, *arguments))
        return contents[-1]

    monkeypatch.setattr(Contents, "make", make_noted)
    return contents


def test_content_made_ahead_is_that_of_next_new_one(bench: Bench, made: list[Content]) -> None:
    contents, counts = {}, {}
    for ahead in (False, True):
        made.clear()
        bench.prepare("TWICE", case="large", draw_seed=7, fresh_ahead=ahead)
        counts[ahead] = [len(made)]
        for seed in (5, None, None):
            bench.refill(fresh=True, seed=seed)
            contents.setdefault(ahead, []).append(bench.arguments[0].tolist())
            counts[ahead].append(len(made))
    assert counts == {False: [1, 2, 3, 4], True: [2, 3, 3, 4]}
    assert contents[True] == contents[False]
    assert len(set(map(tuple, contents[True]))) == 3


def test_answer_to_content_made_ahead_is_compared_with_its_own(bench: Bench) -> None:
    bench.prepare("TWICE", fresh_ahead=True)
    first = 2 * bench.arguments[0]
    bench.refill(fresh=True)
    for answer, outcome in ((2 * bench.arguments[0], Outcome.PASS), (first, Outcome.WRONG_VALUE)):
        assert outcomes(bench.compared(*bench.hand_back(answer))) == [("return", outcome)]
