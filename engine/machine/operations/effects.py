"""Device prints, assertions and barriers."""

from __future__ import annotations

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.numerics import Array, decode
from engine.machine.values import Pointers, Val, scalar_of

_SHOWN_PROGRAMS = 8
_SHOWN_ELEMENTS = 8


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


def _nothing(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    return ()


OPERATIONS: dict[str, Handler] = {
    "tt.print": _print,
    "tt.assert": _assert,
    "tt.debug_barrier": _nothing,
    "gpu.barrier": _nothing,
    "ttg.barrier": _nothing,
}
UNSUPPORTED = {"tt.elementwise_inline_asm": "inline assembly is not executed"}
