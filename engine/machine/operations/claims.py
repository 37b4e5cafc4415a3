"""Assumptions that a compiler may use; a false one makes the behaviour of a kernel undefined."""

from __future__ import annotations

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.results import FindingKind
from engine.machine.values import Val


def _assume(frame: Frame, step: Step, operands: list[Val]) -> tuple[Val, ...]:
    condition = as_array(operands[0])
    if not condition.all():
        holds = np.broadcast_to(condition.reshape(len(condition), -1).all(axis=1), (frame.count,))
        frame.services.memory.find_claim(FindingKind.ASSUMPTION, frame, step, np.flatnonzero(~holds))
    return ()


OPERATIONS: dict[str, Handler] = {"llvm.intr.assume": _assume}
