"""Assumptions and hints that a compiler may use; a false one makes the behaviour of a kernel undefined.

Hints are the attributes of `tl.multiple_of`, `tl.max_contiguous` and `tl.max_constancy` on the operation that made a
value.  Only what their definition excludes is found: along a dimension, each run of as many elements as the contiguity
counts up by one, the first element of each such run is a multiple of the divisibility, and each run of as many elements
as the constancy is one value.  In a loop only the first execution of a chunk of programs is checked, to save time.
"""

from __future__ import annotations

import msgspec
import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Constant, Operation, Scalar
from engine.machine.lanes import widened
from engine.machine.numerics import Array
from engine.machine.results import FindingKind
from engine.machine.values import Pointers, Val, element_of, shape_of

_FUNCTIONS = {
    "tt.contiguity": "tl.max_contiguous",
    "tt.divisibility": "tl.multiple_of",
    "tt.constancy": "tl.max_constancy",
}
_ALIGNED_BYTES = 256  # of every allocation on a GPU: no offset in it shows whether larger multiples hold


class _Hint(msgspec.Struct, frozen=True, kw_only=True):
    """One hint: a number per dimension; `contiguity` is that of the same value, None if it has no such hint."""

    attribute: str
    numbers: tuple[int, ...]
    contiguity: tuple[int, ...] | None

    def run_of(self, axis: int, length: int) -> int:
        """Elements of a contiguous run: the whole axis where only its first element is known to begin one."""
        return max(1, length if self.contiguity is None else min(length, self.contiguity[axis]))

    def shown(self, operation: Operation) -> str:
        """The call in the source, as far as it is known."""
        name = operation.location.variable if operation.location is not None else ""
        numbers = str(self.numbers[0] if len(self.numbers) == 1 else list(self.numbers))
        return f"{_FUNCTIONS[self.attribute]}({name or '...'}, {numbers})"


def with_hints(operation: Operation, handler: Handler) -> Handler:
    """The handler of an operation, with a check of its result if that has hints."""
    hints = _hints_of(operation)
    if not hints:
        return handler

    def handle(frame: Frame, step: Step, operands: list[Val]) -> Val | tuple[Val, ...]:
        results = handler(frame, step, operands)
        if frame.count and frame.services.memory.needs_check(frame, step):
            _check(frame, step, results[0] if isinstance(results, tuple) else results, hints)
        return results

    return handle


def _hints_of(operation: Operation) -> tuple[_Hint, ...]:
    if len(operation.results) != 1 or operation.name == "ub.poison":
        return ()
    element = element_of(operation.results[0].type)
    if isinstance(element, Scalar) and (element.is_float or element is Scalar.I1):
        return ()
    rank = max(1, len(shape_of(operation.results[0].type)))
    numbers = {name: _numbers(operation, name, rank) for name in _FUNCTIONS}
    contiguity = numbers["tt.contiguity"]
    return tuple(
        _Hint(attribute=name, numbers=found, contiguity=contiguity)
        for name, found in numbers.items()
        if found is not None and max(found) > 1
    )


def _numbers(operation: Operation, name: str, rank: int) -> tuple[int, ...] | None:
    """The numbers of an attribute, one per dimension."""
    attribute = operation.attributes.get(name)
    if not isinstance(attribute, Constant):
        return None
    found = attribute.bits * rank if len(attribute.bits) == 1 else attribute.bits
    return found if len(found) == rank else None


def _check(frame: Frame, step: Step, value: Val, hints: tuple[_Hint, ...]) -> None:
    """Record the first hint that is false, with its first element and program."""
    if isinstance(value, Pointers):
        if not isinstance(value.origin, int):
            return
        index, unit, start = value.index, value.unit, value.start
    elif isinstance(value, np.ndarray):
        index, unit, start = value, 1, 0
    else:
        return
    shape = shape_of(step.operation.results[0].type)
    wide = widened(index, (index.shape[0], *shape)) if shape else index.reshape(-1, 1)
    for hint in hints:
        for axis, number in enumerate(hint.numbers):
            if number <= 1:
                continue
            along = wide if axis == wide.ndim - 2 else np.moveaxis(wide, axis + 1, -1)
            if hint.attribute == "tt.divisibility":
                limit = number if unit == 1 else min(number, _ALIGNED_BYTES)
                found = _first_indivisible(along, hint.run_of(axis, along.shape[-1]), limit, unit, start)
            else:
                found = _first_break(along, number, int(hint.attribute == "tt.contiguity"))
            if found is not None:
                place, element, text = found
                where = f"element {_index(element, axis)}" if shape else "it"
                detail = f"{hint.shown(step.operation)} is false: {where} is {text}"
                frame.services.memory.find_claim(FindingKind.HINT, frame, step, np.array([place]), detail)
                return


def _first_indivisible(
    numbers: Array, run: int, number: int, unit: int, start: int
) -> tuple[int, tuple[int, ...], str] | None:
    """Program, element and number of the first head of a run, along the last axis, that is no multiple."""
    heads = numbers[..., ::run].astype(np.int64, copy=False)
    if unit != 1:
        heads = heads * unit + start
    rest = heads & ((number & -number) - 1)
    if not rest.any():
        return None
    first = tuple(int(at) for at in np.argwhere(rest)[0])
    text = f"{int(heads[first])}" if unit == 1 else f"at byte {int(heads[first])}"
    return first[0], (*first[1:-1], first[-1] * run), text


def _first_break(numbers: Array, number: int, step: int) -> tuple[int, tuple[int, ...], str] | None:
    """Program, element and number where a run along the last axis does not go on by `step`; None without one."""
    length = numbers.shape[-1]
    run = min(number, length)
    if run <= 1 or length % run:
        return None
    runs = numbers.reshape(*numbers.shape[:-1], length // run, run) if run != length else numbers[..., None, :]
    wrong = (runs[..., 1:] - runs[..., :-1]) != step
    if not wrong.any():
        return None
    *outer, group, place = (int(at) for at in np.argwhere(wrong)[0])
    row = runs[(*outer, group)]
    text = f"{int(row[place + 1])} after {int(row[place])}"
    return outer[0], (*outer[1:], group * run + place + 1), text


def _index(element: tuple[int, ...], axis: int) -> str:
    """An element of a block whose dimension `axis` was moved to the end."""
    *outer, last = element
    outer.insert(axis, last)
    return str(outer[0] if len(outer) == 1 else tuple(outer))


def _assume(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    condition = as_array(operands[0])
    if not condition.all():
        holds = np.broadcast_to(condition.reshape(len(condition), -1).all(axis=1), (frame.count,))
        frame.services.memory.find_claim(FindingKind.ASSUMPTION, frame, step, np.flatnonzero(~holds))
    return ()


OPERATIONS: dict[str, Handler] = {"llvm.intr.assume": _assume}
