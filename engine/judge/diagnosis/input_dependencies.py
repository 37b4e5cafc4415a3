"""Which elements of the arguments an output element depends on, by the reference.

If the reference can be differentiated, these are the elements whose float64 derivative is not 0.  Indices and integers
have none: groups of their elements are exchanged for other values of the same tensor, and halved as long as the output
element changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.judge.compare.values import text_of, unravel_index
from engine.judge.diagnosis.hypotheses.hypothesis import replaced, tensor_at
from engine.judge.inputs.copies import private_copies
from engine.judge.inputs.outputs import expected_outputs
from engine.model import InputElement, ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments

MOST_SHOWN = 12
_MOST_CALLS = 48


def dependencies(
    problem: ProblemDefinition, inputs: Arguments, *, number: int, index: tuple[int, ...]
) -> tuple[tuple[InputElement, ...], int | None]:
    """Elements that output `number` depends on at `index`, and their count; None if not all were found.

    Raises:
        Exception: any exception of the reference.
    """
    weights = _derivatives(problem, inputs, number, index)
    found: dict[int, list[int]] = {}
    count: int | None = 0
    total: int | None
    for place, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor) or not value.numel():
            continue
        if place in weights:
            flat, total = _heaviest(weights[place])
        elif weights and value.is_floating_point():
            continue  # no gradient reaches this input
        else:
            flat, total = _Exchange(problem, inputs, number, index, place).dependent()
        count = None if count is None or total is None else count + total
        if flat:
            found[place] = flat
    return _shared_out(problem, inputs, found), count


def _derivatives(
    problem: ProblemDefinition, inputs: Arguments, number: int, index: tuple[int, ...]
) -> dict[int, torch.Tensor]:
    """By position, the derivative of the output element by every element of a floating argument; {} if none exists."""
    copies = private_copies(inputs)
    doubled = [
        value.double().requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for value in copies
    ]
    leaves = {
        place: value for place, value in enumerate(doubled) if isinstance(value, torch.Tensor) and value.requires_grad
    }
    with torch.enable_grad():
        try:
            outputs = problem.reference(*doubled)
        except RuntimeError:  # the reference writes into an argument, which autograd forbids for a leaf
            return {}
        output = outputs if isinstance(outputs, torch.Tensor) else outputs[number]
        if not (leaves and output.requires_grad):
            return {}
        derivatives = torch.autograd.grad(output[index], list(leaves.values()), allow_unused=True)
    return {place: derivative for place, derivative in zip(leaves, derivatives, strict=True) if derivative is not None}


def _heaviest(derivative: torch.Tensor) -> tuple[list[int], int]:
    """Positions of the largest derivatives, and how many are not 0; NaN counts as large."""
    sizes = derivative.flatten().abs().nan_to_num(nan=torch.inf)
    count = int((sizes > 0).sum())
    return sizes.topk(min(count, MOST_SHOWN)).indices.tolist(), count


class _Exchange:
    """Searches for elements of one argument that the output element depends on, by giving them other values."""

    def __init__(
        self, problem: ProblemDefinition, inputs: Arguments, number: int, index: tuple[int, ...], place: int
    ) -> None:
        self._problem, self._inputs, self._number, self._index, self._place = problem, inputs, number, index, place
        self._values = tensor_at(inputs, place).flatten()
        self._others = self._values.roll(1)
        self._calls = 0
        self._found: list[int] = []
        self._usual = self._output(self._values)

    def dependent(self) -> tuple[list[int], int | None]:
        """Positions, and their number; None if the search was not complete."""
        self._search(0, self._values.numel())
        return self._found, None if self._is_exhausted() else len(self._found)

    def _search(self, first: int, behind: int) -> None:
        if self._is_exhausted() or not self._matters(first, behind):
            return
        if behind - first == 1:
            self._found.append(first)
            return
        middle = (first + behind) // 2
        self._search(first, middle)
        self._search(middle, behind)

    def _is_exhausted(self) -> bool:
        return self._calls >= _MOST_CALLS or len(self._found) >= MOST_SHOWN

    def _matters(self, first: int, behind: int) -> bool:
        """Whether the output element changes when the values in between are exchanged."""
        self._calls += 1
        changed = self._values.clone()
        changed[first:behind] = self._others[first:behind]
        try:
            return not torch.equal(self._output(changed), self._usual)
        except Exception:  # a reference may reject other values with any exception
            return False

    def _output(self, values: torch.Tensor) -> torch.Tensor:
        """The bytes of the output element for these values of the argument."""
        arguments = replaced(self._inputs, self._place, values.view(tensor_at(self._inputs, self._place).shape))
        return expected_outputs(self._problem, arguments)[self._number][self._index].reshape(1).view(torch.uint8)


def _shared_out(problem: ProblemDefinition, inputs: Arguments, found: dict[int, list[int]]) -> tuple[InputElement, ...]:
    """As many elements of each argument as there is room for, argument by argument."""
    room = dict.fromkeys(found, 0)
    left = MOST_SHOWN
    while left and any(room[place] < len(flat) for place, flat in found.items()):
        for place, flat in found.items():
            if left and room[place] < len(flat):
                room[place], left = room[place] + 1, left - 1
    return tuple(
        _element(problem.arguments[place], inputs[place], flat)
        for place, positions in found.items()
        for flat in sorted(positions[: room[place]])
    )


def _element(name: str, value: object, flat: int) -> InputElement:
    assert isinstance(value, torch.Tensor)
    index = unravel_index(flat, value.shape)
    return InputElement(argument=name, index=index, value=text_of(value[index]))
