"""Compares outputs of calls on the same content: number of right elements, and number of changed ones.

Only bytes that the worker wrote count, copied before another process can write to them.  Callers interpret a change:
the order of a sum is free, and its last bits may differ in every call.
"""

from __future__ import annotations

import torch

from engine import protocol
from engine.judge.compare.measures import bytes_of
from engine.judge.compare.outputs import right_counts
from engine.judge.inputs import cases
from engine.judge.inputs.outputs import output_names, returned_count, returned_values, take
from engine.model import Outcome, OutputReport


class OutputReadings:
    """The outputs that were kept last, and the differences from them."""

    def __init__(self) -> None:
        self._prepared: cases.PreparedCase | None = None
        self._kept: list[torch.Tensor | OutputReport] = []

    def compare(
        self, prepared: cases.PreparedCase, command: protocol.CompareReading
    ) -> tuple[protocol.Difference, ...]:
        """One entry for each output of the watched call that the worker has just made.

        Raises:
            UntrustedFileError: the worker has left no readable file.
        """
        if self._prepared is not prepared:
            self._prepared, self._kept = prepared, []
        got = _handed_back(prepared, command)
        call = cases.finished_call(prepared, got)
        before: list[torch.Tensor | OutputReport | None] = [*self._kept] or [None] * len(got)
        differences = tuple(
            protocol.Difference(name=name, total=wanted.numel(), right=right, changed=_changed(value, kept))
            for name, value, wanted, right, kept in zip(
                call.names, got, call.expected, right_counts(call), before, strict=True
            )
        )
        if command.keep:
            self._kept = got
        return differences


def _handed_back(prepared: cases.PreparedCase, command: protocol.CompareReading) -> list[torch.Tensor | OutputReport]:
    """The returned values, and the arguments that the entry writes, both as the worker sent them."""
    problem, specs, expected = prepared.problem, prepared.content.specs, prepared.content.expected
    count = returned_count(problem, specs, expected)
    first = max(0, len(command.returned) - (len(expected) - count))
    raw = cases.returned_bytes(prepared, command)
    got = returned_values(problem, specs, command.returned[:first], expected, lambda: raw)
    names = output_names(problem, specs, expected)
    watched = zip(names[count:], command.returned[first:], expected[count:], strict=False)
    got += [take(name, spec, raw, wanted) for name, spec, wanted in watched]
    missing = (OutputReport(name=name, outcome=Outcome.WRONG_SHAPE) for name in names[len(got) :])
    return [*got, *missing]


def _changed(value: torch.Tensor | OutputReport, kept: torch.Tensor | OutputReport | None) -> int | None:
    """Number of elements whose bits differ; None if one of the two is not an output."""
    if not isinstance(value, torch.Tensor) or not isinstance(kept, torch.Tensor):
        return None
    if not value.numel():
        return 0
    if value.shape == kept.shape and value.dtype == kept.dtype and torch.equal(_bits(value), _bits(kept)):
        return 0
    return int((bytes_of(value) != bytes_of(kept)).any(dim=1).sum())


def _bits(values: torch.Tensor) -> torch.Tensor:
    """All bytes of a tensor in one dimension."""
    return bytes_of(values).view(-1)
