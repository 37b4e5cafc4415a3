"""Launches are withheld for one call only, and every one of them is counted."""

from __future__ import annotations

import pytest
import torch

from engine import protocol
from engine.worker.launches.withholding import Withholding


def first() -> None:
    """Stands for the function of a kernel."""


def second() -> None:
    """Stands for another."""


FIRST = protocol.Kernel(name="first", line=first.__code__.co_firstlineno)
SECOND = protocol.Kernel(name="second", line=second.__code__.co_firstlineno)


def test_withholding_is_off_until_requested() -> None:
    withholding = Withholding()
    assert not withholding.withholds(first)
    with withholding.during(None):
        assert not withholding.withholds(first)
    assert withholding.take_ledger() == ()


def test_without_names_every_kernel_is_withheld() -> None:
    withholding = Withholding()
    with withholding.during(protocol.Withhold()):
        assert withholding.withholds(first)
        assert withholding.withholds(second)
    assert withholding.take_ledger() == (
        protocol.Withheld(kernel=FIRST, launches=1, withheld=1),
        protocol.Withheld(kernel=SECOND, launches=1, withheld=1),
    )


def test_withholding_by_name_launches_and_counts_others() -> None:
    withholding = Withholding()
    with withholding.during(protocol.Withhold(kernels=(SECOND,))):
        assert [withholding.withholds(function) for function in (first, first, second)] == [False, False, True]
    assert withholding.take_ledger() == (
        protocol.Withheld(kernel=FIRST, launches=2, withheld=0),
        protocol.Withheld(kernel=SECOND, launches=1, withheld=1),
    )


def test_kernels_of_same_name_differ_by_line() -> None:
    withholding = Withholding()
    with withholding.during(protocol.Withhold(kernels=(protocol.Kernel(name="first", line=FIRST.line + 1),))):
        assert not withholding.withholds(first)


def test_raising_call_ends_withholding_and_keeps_count() -> None:
    withholding = Withholding()
    with pytest.raises(ValueError, match="no answer"), withholding.during(protocol.Withhold()):
        withholding.withholds(first)
        raise ValueError("no answer")
    assert not withholding.withholds(first)
    assert [entry.withheld for entry in withholding.take_ledger()] == [1]
    assert withholding.take_ledger() == ()


def test_inspected_call_launches_all_and_counts_moves() -> None:
    withholding = Withholding()
    x, y = torch.arange(4.0), torch.zeros(4)
    with withholding.during(protocol.Withhold(look=True)):
        for factor in (1, 2):
            assert not withholding.withholds(first)
            with withholding.launching(first, (x, y)):
                y.copy_(factor * x)
    assert withholding.take_ledger() == (protocol.Withheld(kernel=FIRST, launches=2, withheld=0, moved=1),)


@pytest.mark.parametrize(
    ("asked", "ledger"),
    [
        (None, ()),
        (
            protocol.Withhold(kernels=(SECOND,)),
            (protocol.Withheld(kernel=FIRST, launches=1, withheld=0, moved=0),),
        ),
    ],
    ids=["nothing withheld", "another kernel withheld"],
)
def test_other_calls_are_not_inspected(asked: protocol.Withhold | None, ledger: tuple[protocol.Withheld, ...]) -> None:
    withholding = Withholding()
    x, y = torch.arange(4.0), torch.zeros(4)
    with withholding.during(asked):
        withholding.withholds(first)
        with withholding.launching(first, (x, y)):
            y.copy_(x)
    assert withholding.take_ledger() == ledger


@pytest.mark.parametrize("may_copy_case", [True, False])
def test_copy_of_case_counts_unless_allowed(may_copy_case: bool) -> None:
    withholding = Withholding()
    x, y = torch.randn(8), torch.zeros(8)
    withhold = protocol.Withhold(look=True, may_copy_case=may_copy_case)
    with withholding.during(withhold, case=[x.view(torch.uint8)]), withholding.launching(first, (x, y)):
        y.copy_(x)
    (ledger,) = withholding.take_ledger()
    assert ledger.moved == (not may_copy_case)
