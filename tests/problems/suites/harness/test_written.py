"""Which tensors a reference writes, which of them it does not read, and what it leaves in them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.model.problems.suite_origin import Precision
from problems.suites.harness.values import answered
from problems.suites.harness.written import Effects, effects_of

X, BUFFER = torch.tensor([-1.0, 2.0]), torch.tensor([5.0, 5.0])


def fills(given: tuple[Any, ...]) -> None:
    given[1].copy_(given[0] * 2)


def adds(given: tuple[Any, ...]) -> torch.Tensor:
    given[1].add_(given[0])
    return given[1].sum()


def returns(given: tuple[Any, ...]) -> torch.Tensor:
    return given[0] * 2


def overwrites_beyond_versions(given: tuple[Any, ...]) -> None:
    given[1].detach().numpy()[:] = 3.0


@pytest.mark.parametrize(
    ("compute", "written", "unread"),
    [
        (fills, (1,), (1,)),
        (adds, (1,), ()),
        (returns, (), ()),
        (overwrites_beyond_versions, (1,), (1,)),
        (lambda given: given[0].relu_(), (0,), ()),
    ],
    ids=["fills", "adds", "returns", "without version", "in place"],
)
def test_effects_of_a_reference_found(compute: Any, written: tuple[int, ...], unread: tuple[int, ...]) -> None:
    assert effects_of(compute, (X, BUFFER)) == Effects(written=written, unread=unread)
    assert (X.tolist(), BUFFER.tolist()) == ([-1.0, 2.0], [5.0, 5.0])


def test_buffer_like_the_output_found_unread() -> None:
    assert effects_of(returns, (X, BUFFER), has_buffers=True) == Effects(written=(), unread=(1,))


def test_write_that_changes_nothing_found() -> None:
    assert effects_of(lambda given: given[0].relu_(), (torch.ones(2),)).written == (0,)


def test_index_that_other_content_breaks_kept() -> None:
    def gathers(given: tuple[Any, ...]) -> torch.Tensor:
        found = given[0][given[1]]
        given[1].fill_(0)
        return found

    assert effects_of(gathers, (torch.ones(1), torch.tensor([0]))) == Effects(written=(1,), unread=())


def test_unread_tensors_overwritten() -> None:
    arguments = (X.clone(), BUFFER.clone())

    Effects(written=(1,), unread=(1,)).poison(arguments)

    assert (arguments[0].tolist(), arguments[1].tolist()) == (X.tolist(), [7.0, 7.0])


@pytest.mark.parametrize("precision", list(Precision))
def test_written_arguments_follow_returned_values(precision: Precision) -> None:
    outputs = answered(adds, (X, BUFFER), precision, written=(1,))

    assert [output.tolist() for output in outputs] == [11.0, [4.0, 7.0]]
    assert BUFFER.tolist() == [5.0, 5.0]


def test_call_that_only_writes_has_its_written_arguments() -> None:
    (output,) = answered(fills, (X, BUFFER), Precision.OWN, written=(1,))

    assert output.tolist() == [-2.0, 4.0]


def test_equal_views_stay_one_tensor_in_double() -> None:
    def accumulates(given: tuple[Any, ...]) -> None:
        given[1].add_(given[0]).add_(given[0])

    shared = torch.ones(2)
    (output,) = answered(accumulates, (shared[:], shared[:]), Precision.DOUBLE, written=(1,))

    assert output.tolist() == [4.0, 4.0]
