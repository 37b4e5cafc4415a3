"""The elements of the arguments that an output element depends on, by derivative and by exchange."""

from __future__ import annotations

import pytest
import torch

from engine.judge.diagnosis.input_dependencies import MOST_SHOWN, dependencies
from engine.model import InputElement
from tests.operators import definition


def indices(found: tuple[InputElement, ...], argument: str) -> list[tuple[int, ...]]:
    return [one.index for one in found if one.argument == argument]


def test_product_depends_on_a_row_and_a_column():
    left, right = torch.randn(5, 4), torch.randn(4, 6)
    found, count = dependencies(definition("aten::mm"), (left, right), number=0, index=(2, 3))
    assert count == 8
    assert indices(found, "self") == [(2, 0), (2, 1), (2, 2), (2, 3)]
    assert indices(found, "mat2") == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert found[0].value == f"{left[2, 0].item():.9g}"


def test_many_inputs_are_counted_and_heaviest_shown():
    x = torch.zeros(3, 100)
    x[1, 40:60] = 5.0
    found, count = dependencies(definition("aten::softmax"), (x, -1), number=0, index=(1, 50))
    assert (count, len(found)) == (100, MOST_SHOWN)
    assert all(40 <= column < 60 for row, column in indices(found, "self"))
    assert (1, 50) in indices(found, "self")


def test_index_dependency_is_found_by_exchange():
    weight, chosen = torch.randn(30, 7), torch.arange(10, 18)
    found, count = dependencies(
        definition("aten::embedding"), (weight, chosen, -1, False, False), number=0, index=(5, 3)
    )
    assert indices(found, "weight") == [(15, 3)]
    assert indices(found, "indices") == [(5,)]
    assert (found[-1].value, count) == ("15", 2)


def test_integers_have_no_derivative_and_are_exchanged():
    x = torch.arange(60, dtype=torch.int32).view(4, 15)
    found, count = dependencies(definition("aten::sum"), (x, [1], False, None), number=0, index=(2,))
    assert {row for row, _ in indices(found, "self")} == {2}
    assert count is None


def test_the_arguments_are_left_as_they_were():
    x = torch.randn(3, 9)
    before = x.clone()
    dependencies(definition("aten::softmax"), (x, -1), number=0, index=(0, 0))
    assert torch.equal(x, before)
    assert not x.requires_grad


@pytest.mark.parametrize("number", [0, 1])
def test_each_output_is_fed_by_its_own_arguments(number):
    rope = definition("vllm::rotary_embedding")
    case = rope.cases[0]
    inputs = rope.make_inputs(case, torch.Generator().manual_seed(1))
    found, _ = dependencies(rope, inputs, number=number, index=(1, 0, 3))
    assert len(indices(found, ("query", "key")[number])) == 2
    assert indices(found, ("key", "query")[number]) == []
    assert indices(found, "positions") == [(1,)]
