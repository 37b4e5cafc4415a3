"""Device prints, assertions and barriers."""

from __future__ import annotations

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Operation
from engine.machine.numerics import Array, decode
from engine.machine.values import Pointers, Val, scalar_of

BARRIERS = frozenset({"tt.debug_barrier", "gpu.barrier", "ttg.barrier"})
_MOVES_ELEMENTS = frozenset(
    {"tt.reduce", "tt.scan", "tt.dot", "tt.dot_scaled", "tt.histogram", "tt.gather"}
    | {"tt.trans", "tt.reshape", "tt.cat", "tt.join", "tt.split", "tt.expand_dims"}
    | {"tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll"}
    | {"tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_gather", "tt.descriptor_scatter"}
    | {"tt.descriptor_reduce", "tt.map_elementwise", "tt.call"}
)
"""Operations for which a compiler may move elements between threads, and order them by a barrier."""
_SHOWN_PROGRAMS = 8
_SHOWN_ELEMENTS = 8


def with_barrier(operation: Operation, handler: Handler) -> Handler:
    """The handler; after an operation that may be or have a barrier, the accesses of a program before it are ordered.

    A volatile load is ordered, too.
    """
    if operation.name not in _MOVES_ELEMENTS and not operation.attributes.get("isVolatile"):
        return handler

    def run(frame: Frame, step: Step, operands: list[Val]) -> Val | tuple[Val, ...]:
        results = handler(frame, step, operands)
        frame.services.memory.synchronize(frame)
        return results

    return run


def _print(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    """A line for each of the first programs, with the first elements of each operand."""
    prefix = str(step.operation.attributes.get("prefix", ""))
    for row, program in enumerate(frame.programs[:_SHOWN_PROGRAMS]):
        texts = [_shown(step, place, value, row) for place, value in enumerate(operands)]
        frame.meter.print_line(f"program {int(program)}: {prefix.strip()} {' '.join(texts)}".rstrip())
    return ()


def _shown(step: Step, place: int, value: Val, row: int) -> str:
    if isinstance(value, Pointers):
        return "<pointer>"
    array: Array = decode(scalar_of(step.operation.operands[place].type), as_array(value))
    elements = array[min(row, len(array) - 1)].reshape(-1)
    shown = ", ".join(str(element) for element in elements[:_SHOWN_ELEMENTS])
    return f"[{shown}, ...]" if elements.size > _SHOWN_ELEMENTS else shown


def _assert(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    condition = as_array(operands[0])
    if not condition.all():
        failing = np.flatnonzero(~condition.reshape(len(condition), -1).all(axis=1))
        frame.services.memory.fail(frame, step, failing, str(step.operation.attributes.get("message", "")))
    return ()


def _barrier(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    frame.services.memory.synchronize(frame)
    return ()


OPERATIONS: dict[str, Handler] = {"tt.print": _print, "tt.assert": _assert, **dict.fromkeys(BARRIERS, _barrier)}
UNSUPPORTED = {"tt.elementwise_inline_asm": "inline assembly is not executed"}
