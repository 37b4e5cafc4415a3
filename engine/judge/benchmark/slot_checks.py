"""Checks of timed calls: the content of a slot after a call against the content that the judge wrote there.

First several calls are checked together, with the result left on the device so that there is one synchronisation per
chunk; then full reports are made for the suspects alone.  Both use the same private copy of the slot: the worker may
still be writing to its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.judge.compare.measures import raw
from engine.judge.compare.outputs import Call, reports_of
from engine.judge.compare.quick import wrong_among
from engine.judge.inputs import cases
from engine.judge.inputs.outputs import (
    expected_outputs,
    output_names,
    returned_values,
    written_specs,
    written_values,
)
from engine.model import Case, Outcome, OutputReport, ProblemDefinition, Tolerance
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments


@dataclass(frozen=True)
class Layout:
    """Offsets in each slot of a case; `bytes` is the distance of two slots, guard zones included."""

    problem: ProblemDefinition
    case: Case
    specs: tuple[protocol.ValueSpec, ...]
    storages: tuple[protocol.StorageSpec, ...]
    outputs: protocol.StorageSpec
    bytes: int

    @property
    def content_bytes(self) -> int:
        """The memory of one input set and its outputs."""
        returned = self.outputs.bytes if self.problem.returns != 0 else 0
        return sum(storage.bytes for storage in self.storages) + returned

    @cached_property
    def written_only(self) -> frozenset[int]:
        """The storages of arguments that are overwritten, whose content before a call is ignored."""
        by_name = zip(self.problem.arguments, self.specs, strict=True)
        return frozenset(
            part.storage
            for name, spec in by_name
            if name in self.problem.written_only
            for part in protocol.tensor_specs(spec)
        )

    @property
    def zones(self) -> list[protocol.StorageSpec]:
        """The guard zones: zone n is before storage n, or before the outputs; the last one is behind the outputs."""
        return tensors.guard_zones(protocol.ArenaSpec(storages=self.storages, outputs=self.outputs, bytes=self.bytes))

    def parts(self, image: torch.Tensor) -> list[torch.Tensor]:
        """The storages in the image of a slot."""
        return [tensors.part(image, storage) for storage in self.storages]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A slot before and after a call; `poison` filled the memory that had no content to be read."""

    image: torch.Tensor
    final: torch.Tensor
    poison: int


@dataclass(frozen=True, kw_only=True)
class Left:
    """Outputs and arguments after a call, and their expected values."""

    written: Written
    arguments: Arguments
    got: tuple[torch.Tensor | OutputReport, ...]
    expected: tuple[torch.Tensor, ...]


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One report for each output, and other errors of the call."""

    reports: tuple[OutputReport, ...]
    trouble: str | None

    @property
    def is_wrong(self) -> bool:
        """Whether the call made any error."""
        return self.trouble is not None or any(report.outcome is not Outcome.PASS for report in self.reports)


def look(
    layout: Layout,
    written: Sequence[Written],
    finals: torch.Tensor,
    returned: Sequence[tuple[protocol.ReturnedSpec, ...]],
) -> tuple[list[Left], torch.Tensor]:
    """Compute the expected results of each call, and check everything against them without synchronising.

    `finals`, (n, bytes) uint8, are the `final` of all n calls.  The second result are the suspects: (n,) booleans on
    the device.
    """
    left = [_left(layout, one, specs) for one, specs in zip(written, returned, strict=True)]
    suspects = _changed(layout, written, finals)
    if layout.problem.compare is not None:  # a comparer of the problem cannot be applied to all slots at once
        return left, torch.ones_like(suspects)
    tolerance = layout.problem.tolerance(layout.case)
    outputs = (zip(*(one.got for one in left), strict=True), zip(*(one.expected for one in left), strict=True))
    for got, expected in zip(*outputs, strict=True):
        suspects |= _wrong(got, expected, tolerance)
    return left, suspects


def explain(layout: Layout, left: Left) -> Explained:
    """The error of a wrong call, explained."""
    call = Call(
        problem=layout.problem,
        case=layout.case,
        arguments=left.arguments,
        names=output_names(layout.problem, layout.specs, left.expected),
        got=left.got,
        expected=left.expected,
    )
    reports = reports_of(call, poison=left.written.poison)
    image, final = left.written.image, left.written.final
    mutated = cases.mutated(layout.problem, layout.specs, layout.parts(image), layout.parts(final))
    return Explained(reports=reports, trouble=_overrun(layout, left.written) or mutated)


def _left(layout: Layout, written: Written, returned: tuple[protocol.ReturnedSpec, ...]) -> Left:
    """Outputs and arguments of one call, and their expected values."""
    problem = layout.problem
    storages, final = layout.parts(written.image), layout.parts(written.final)
    arguments = tuple(tensors.value_of(spec, storages) for spec in layout.specs)
    expected = expected_outputs(problem, arguments)
    got = (
        *returned_values(
            problem, layout.specs, returned, expected, lambda: tensors.part(written.final, layout.outputs)
        ),
        *written_values(problem, layout.specs, final),
    )
    return Left(written=written, arguments=arguments, got=got, expected=expected)


def _wrong(
    got: Sequence[torch.Tensor | OutputReport], expected: Sequence[torch.Tensor], tolerance: Tolerance
) -> torch.Tensor:
    """Whether this output of each call is wrong: another type or shape, or by its values, compared together."""
    alike = {
        number: (value, wanted)
        for number, (value, wanted) in enumerate(zip(got, expected, strict=True))
        if isinstance(value, torch.Tensor) and (value.dtype, value.shape) == (wanted.dtype, wanted.shape)
    }
    wrong = torch.ones(len(got), dtype=torch.bool, device=expected[0].device)
    if not alike:
        return wrong
    # Raw bytes, since a copy of booleans need not keep bytes other than 0 and 1.
    values, wanted = (torch.stack([raw(value) for value in those]) for those in zip(*alike.values(), strict=True))
    found = wrong_among(values, wanted, tolerance)
    if len(alike) == len(got):  # the usual case: no indexing on the device is needed
        return found
    wrong[list(alike)] = found
    return wrong


def _changed(layout: Layout, written: Sequence[Written], finals: torch.Tensor) -> torch.Tensor:
    """Whether anything changed that the entry may not write: a boolean for each call, on the device."""
    allowed = torch.stack([one.image for one in written])
    outputs = slice(layout.outputs.offset, layout.outputs.offset + layout.outputs.bytes)
    allowed[:, outputs] = finals[:, outputs]
    for _, part in written_specs(layout.problem, layout.specs):
        for one, row in zip(written, allowed, strict=True):
            final, parts = layout.parts(one.final), layout.parts(row)
            tensors.view(part, parts[part.storage]).copy_(tensors.view(part, final[part.storage]))
    return (finals != allowed).any(dim=1)


def _overrun(layout: Layout, written: Written) -> str | None:
    """Description of the first write to a guard zone; None if there is none."""
    zones = [tensors.part(written.final, zone) for zone in layout.zones]
    damage = tensors.first_damage(zones, guard=written.poison)
    return cases.overrun(layout.problem, layout.specs, damage) if damage is not None else None
