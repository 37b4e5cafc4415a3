"""What is kept of a case for the next run: at most so many bytes, and those that were met last."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from engine.judge.cases import Content, Contents, private
from engine.model import Case, Cost, DType, Problem, Tier, Tolerance

CASES = tuple(Case(name=name, dtype=DType.UINT8, tier=Tier.SMOKE, params={}) for name in "abcd")
MIB = 1 << 20


def answering(size_bytes: int, *, origin: str = "m:P") -> Problem:
    """A problem whose expected output is of this size; nothing is ever written to it, so that it costs no memory."""
    return Problem(
        name="toy::large", entry="f", signature="f(x: Tensor) -> Tensor", summary="", category="toy", cases=CASES,
        make_inputs=lambda case, rng: (torch.rand(8, generator=rng, device=rng.device),),
        reference=lambda x: torch.empty(size_bytes, dtype=torch.uint8), eager=lambda x: x,
        tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1), origin=origin,
    )  # fmt: skip


Ask = Callable[[str], Content]


def asking(contents: Contents, problem: Problem) -> Ask:
    return lambda name: contents.of_case(problem, problem.case(name), None)


@pytest.fixture
def contents() -> Contents:
    return Contents(torch.device("cpu"))


def test_all_cases_of_a_usual_problem_are_kept(contents: Contents) -> None:
    ask = asking(contents, answering(MIB))
    first = [ask(name) for name in "abcd"]
    again = [ask(name) for name in "abcd"]
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_cases_of_one_name_in_two_problems_are_two(contents: Contents) -> None:
    first = asking(contents, answering(1, origin="m:P"))("a")
    second = asking(contents, answering(1, origin="m:Q"))("a")
    assert first.seed != second.seed
    assert asking(contents, answering(1, origin="m:P"))("a") is first


def test_the_content_that_was_met_longest_ago_makes_room(contents: Contents) -> None:
    ask = asking(contents, answering(200 * MIB))
    kept = {name: ask(name) for name in "ab"}
    assert ask("a") is kept["a"]
    kept["c"] = ask("c")
    assert (ask("a") is kept["a"], ask("c") is kept["c"]) == (True, True)
    assert ask("b").seed != kept["b"].seed


def test_a_content_that_alone_is_more_than_is_kept_is_kept_alone(contents: Contents) -> None:
    small, large = asking(contents, answering(MIB, origin="m:P")), asking(contents, answering(600 * MIB, origin="m:Q"))
    before = small("a")
    first = large("a")
    assert large("a") is first
    assert small("a").seed != before.seed


def test_inputs_and_expected_outputs_both_count(contents: Contents) -> None:
    assert asking(contents, answering(100))("a").bytes == 8 * 4 + 100


def test_content_of_a_given_seed_is_made_and_not_kept(contents: Contents) -> None:
    problem = answering(1)
    given = contents.of_case(problem, CASES[0], 7)
    drawn = contents.of_case(problem, CASES[0], None)
    assert given.seed == 7
    assert drawn.seed != 7
    assert contents.of_case(problem, CASES[0], 7) is not given
    assert contents.of_case(problem, CASES[0], None) is drawn


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and there is none")
@pytest.mark.parametrize("tier", list(Tier))
def test_on_a_device_every_case_is_kept_since_each_gets_a_call_on_new_content(tier: Tier) -> None:
    contents = Contents(torch.device("cuda"))
    case = Case(name="a", dtype=DType.UINT8, tier=tier, params={})
    first = contents.of_case(answering(1), case, None)
    assert contents.of_case(answering(1), case, None) is first


def test_a_private_copy_shares_no_memory_and_keeps_strides_and_nesting() -> None:
    base = torch.arange(12.0).view(3, 4)
    view = base.T[1:]
    copied = private((view, [base, 3, None]))
    assert isinstance(copied, tuple)
    copy, items = copied
    assert isinstance(copy, torch.Tensor)
    assert (copy.tolist(), copy.stride(), copy.storage_offset()) == (view.tolist(), view.stride(), 1)
    copy.zero_()
    assert base[0, 1] == 1.0
    assert isinstance(items, list)
    assert items[1:] == [3, None]
