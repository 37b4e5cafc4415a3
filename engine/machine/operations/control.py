"""Structured control flow and calls; where programs diverge, each part runs for its programs alone.

A condition or trip count that is the same for all programs costs nothing extra.  Programs that leave a loop wait for
the others; programs on two sides of an `scf.if` run one side after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.errors import LimitError, WaitError
from engine.machine.frame import Frame, FunctionPlan, Handler, Step, as_array, where
from engine.machine.numerics import Array
from engine.machine.values import Val, arrays_of, merge, select, shape_of, take

_CALL_DEPTH = 64


class Departures:
    """Programs that left a loop, with their final values."""

    def __init__(self) -> None:
        self._places: list[Array] = []
        self._values: list[list[Val]] = []

    def add(self, places: Array, values: list[Val]) -> None:
        """Record that these programs have left the loop."""
        self._places.append(places)
        self._values.append(values)

    def merged(self, programs: int) -> tuple[Val, ...]:
        """The results for all programs."""
        columns = zip(*self._values, strict=True)
        return tuple(merge(column, self._places, programs) for column in columns)


def decided(condition: Array) -> bool | None:
    """The condition if it is the same for all programs, None if they diverge.

    Raises:
        UnsupportedError: it differs within a program, as in a combine region.
    """
    if condition.ndim > 1:
        raise UnsupportedError("control flow in a combine region")
    if condition.all():
        return True
    return None if condition.any() else False


def _if(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    condition = as_array(operands[0])
    choice = decided(condition)
    if choice is not None:
        return _branch(frame.child(), step, choice)
    left = Departures()
    for side in (True, False):
        places = np.flatnonzero(condition == side)
        left.add(places, list(_branch(frame.child(places), step, side)))
    return left.merged(frame.count)


def _branch(frame: Frame, step: Step, side: bool) -> tuple[Val, ...]:
    region = 0 if side else 1
    if region >= len(step.regions) or not step.regions[region]:
        return ()
    return tuple(frame.run(step.regions[region][0], []))


def _for(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    low, high, stride = (as_array(operand) for operand in operands[:3])
    trips = -((low.astype(np.int64) - high.astype(np.int64)) // np.maximum(stride.astype(np.int64), 1))
    if bool((trips == trips[0]).all()):
        carried = list(operands[3:])
        for turn in range(int(trips[0])):
            frame.meter.work(1, step.operation)
            place = low + (stride * turn).astype(low.dtype)
            carried = frame.child().run(step.regions[0][0], [place, *carried])
        return tuple(carried)
    return _for_divergent(frame, step, low, stride, np.broadcast_to(trips, (frame.count,)), list(operands[3:]))


def _for_divergent(
    frame: Frame, step: Step, low: Array, stride: Array, trips: Array, carried: list[Val]
) -> tuple[Val, ...]:
    """Run a loop with different trip counts: each iteration runs the programs whose trip count is larger."""
    left, active = Departures(), np.arange(frame.count)
    scope, turn = frame.child(active), 0
    while True:
        going = trips[active] > turn
        if not going.all():
            out, kept = np.flatnonzero(~going), np.flatnonzero(going)
            left.add(active[out], [select(value, out) for value in carried])
            if not kept.size:
                return left.merged(frame.count)
            carried, active = [select(value, kept) for value in carried], active[kept]
            scope = frame.child(active)
        frame.meter.work(1, step.operation)
        place = take(low, active) + (take(stride, active) * turn).astype(low.dtype)
        carried = scope.child().run(step.regions[0][0], [place, *carried])
        turn += 1


def _while(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    left, active, carried = Departures(), np.arange(frame.count), list(operands)
    scope, idle_turns = frame.child(), 0
    before, after = step.regions[0][0], step.regions[1][0]
    while True:
        frame.meter.work(1, step.operation)
        changes = frame.services.memory.changes
        condition, *forwarded = scope.child().run(before, carried)
        going = np.broadcast_to(as_array(condition), (len(active),))
        choice = decided(as_array(condition))
        if choice is not True:
            out, kept = np.flatnonzero(~going), np.flatnonzero(going)
            left.add(active[out], [select(value, out) for value in forwarded])
            if not kept.size:
                return left.merged(frame.count)
            forwarded, active = [select(value, kept) for value in forwarded], active[kept]
            scope = frame.child(active)
        following = scope.child().run(after, forwarded)
        idle_turns = idle_turns + 1 if frame.services.memory.changes == changes else 0
        is_longest = idle_turns > frame.services.most_idle_turns
        if choice is True and idle_turns and (is_longest or _same(carried, following)):
            raise WaitError(
                f"{where(step.operation)}scf.while: the loop waits for a program that runs later; "
                "programs run one after the other"
            )
        carried = following


def _same(left: Sequence[Val], right: Sequence[Val]) -> bool:
    """Whether values are equal, so that the next iteration of a loop would be the same."""
    pairs = zip(left, right, strict=True)
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for one, other in pairs
        for a, b in zip(arrays_of(one), arrays_of(other), strict=True)
    )


def _execute_region(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    return tuple(frame.child().run(step.regions[0][0], []))


def _call(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    callee = str(step.operation.attributes["callee"])
    if frame.depth >= _CALL_DEPTH:
        raise LimitError(f"{where(step.operation)}calls are nested more than {_CALL_DEPTH} deep")
    services = frame.services
    return tuple(services.call(frame.fresh(), services.functions[callee], operands))


def _map_elementwise(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    """A function of scalars for each element, or for each `pack` elements that are neighbours in the last axis."""
    pack, shape = step.operation.attributes["pack"], shape_of(step.operation.operands[0].type)
    assert isinstance(pack, int)
    calls, rest = divmod(math.prod(shape), pack)
    if rest:
        raise UnsupportedError(f"a tensor of {math.prod(shape)} elements in packs of {pack}")
    arguments: list[Val] = []
    for operand in operands:
        packs = np.broadcast_to(as_array(operand), (frame.count, *shape)).reshape(-1, pack)
        arguments += [packs[:, place] for place in range(pack)]
    # Each call is a program of its own, so that calls may diverge.
    inner = frame.child(np.repeat(np.arange(frame.count), calls))
    function = FunctionPlan(name="", blocks=step.regions[0])
    results = frame.services.call(inner, function, arguments)
    columns = [np.broadcast_to(as_array(result), (inner.count,)) for result in results]
    return tuple(
        np.stack(columns[first : first + pack], axis=1).reshape(frame.count, *shape)
        for first in range(0, len(columns), pack)
    )


OPERATIONS: dict[str, Handler] = {
    "tt.map_elementwise": _map_elementwise,
    "scf.if": _if,
    "scf.for": _for,
    "scf.while": _while,
    "scf.execute_region": _execute_region,
    "tt.call": _call,
}
