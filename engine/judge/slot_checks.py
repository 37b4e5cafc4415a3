"""What a timed call left in its slot, held against what the judge wrote there.

First a look, whose answer stays on the device so that a whole chunk is waited for once; then, only for
what that look suspects, the full reports.  Both see the same private copy of the slot: the worker may
still be writing to its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from engine import tensors, wire
from engine.judge import cases
from engine.judge.compare import compare
from engine.judge.quick import wrong_anywhere
from engine.model import Case, Outcome, OutputReport, Problem


@dataclass(frozen=True)
class Layout:
    """Where everything lies in each slot of a case; `bytes` from one slot to the next, guard zones included."""

    problem: Problem
    case: Case
    specs: tuple[wire.ValueSpec, ...]
    storages: tuple[wire.StorageSpec, ...]
    outputs: wire.StorageSpec
    bytes: int

    @property
    def content_bytes(self) -> int:
        """The memory of one input set and its outputs."""
        returned = self.outputs.bytes if self.problem.returns else 0
        return sum(storage.bytes for storage in self.storages) + returned

    @cached_property
    def written_only(self) -> frozenset[int]:
        """The storages of arguments that are overwritten, whose content says nothing."""
        by_name = zip(self.problem.arguments, self.specs, strict=True)
        return frozenset(
            part.storage
            for name, spec in by_name
            if name in self.problem.written_only
            for part in cases.tensor_specs(spec)
        )

    @property
    def zones(self) -> list[wire.StorageSpec]:
        """The guard zones: zone n lies before storage n, or before the outputs, the last one behind them."""
        return tensors.guard_zones(wire.ArenaSpec(storages=self.storages, outputs=self.outputs, bytes=self.bytes))

    def parts(self, image: torch.Tensor) -> list[torch.Tensor]:
        """The storages in the image of a slot."""
        return [tensors.part(image, storage) for storage in self.storages]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A slot before and after a call; `poison` is what lay where nothing was to be read."""

    image: torch.Tensor
    final: torch.Tensor
    poison: int


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a call left, and what should have come of it; `suspect` is a boolean on the device."""

    written: Written
    got: tuple[torch.Tensor | OutputReport, ...]
    expected: tuple[torch.Tensor, ...]
    suspect: torch.Tensor


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One report for each output, and what else was wrong."""

    reports: tuple[OutputReport, ...]
    trouble: str | None

    @property
    def is_wrong(self) -> bool:
        """Whether the call did anything wrong."""
        return self.trouble is not None or any(report.outcome is not Outcome.PASS for report in self.reports)


def look(layout: Layout, written: Written, returned: tuple[wire.ReturnedSpec, ...]) -> Left:
    """Work out what should have come of the call, and hold everything against it without waiting."""
    problem = layout.problem
    storages, final = layout.parts(written.image), layout.parts(written.final)
    arguments = tuple(tensors.value_of(spec, storages) for spec in layout.specs)
    expected = cases.expected_outputs(problem, arguments)
    got = (
        *cases.returned_values(problem, returned, expected, lambda: tensors.part(written.final, layout.outputs)),
        *cases.written_values(problem, layout.specs, final),
    )
    tolerance = problem.tolerance(layout.case)
    suspects = [_changed(layout, written)]
    for value, wanted in zip(got, expected, strict=True):
        if isinstance(value, OutputReport) or value.dtype != wanted.dtype or value.shape != wanted.shape:
            suspects.append(torch.ones((), dtype=torch.bool, device=written.final.device))
        else:
            suspects.append(wrong_anywhere(value, wanted, tolerance))
    return Left(written=written, got=got, expected=expected, suspect=torch.stack(suspects).any())


def explain(layout: Layout, left: Left) -> Explained:
    """What exactly is wrong, if anything is."""
    tolerance = layout.problem.tolerance(layout.case)
    names = cases.output_names(layout.problem, layout.specs)
    reports = tuple(
        value
        if isinstance(value, OutputReport)
        else compare(name, value, wanted, tolerance, poison=left.written.poison)
        for name, value, wanted in zip(names, left.got, left.expected, strict=True)
    )
    image, final = left.written.image, left.written.final
    mutated = cases.mutated(layout.problem, layout.specs, layout.parts(image), layout.parts(final))
    return Explained(reports=reports, trouble=_overrun(layout, left.written) or mutated)


def _changed(layout: Layout, written: Written) -> torch.Tensor:
    """Whether anything changed but what the entry may write: one boolean on the device."""
    allowed = written.image.clone()
    tensors.part(allowed, layout.outputs).copy_(tensors.part(written.final, layout.outputs))
    final, parts = layout.parts(written.final), layout.parts(allowed)
    for name, spec in zip(layout.problem.arguments, layout.specs, strict=True):
        if name in layout.problem.mutates:
            for part in cases.tensor_specs(spec):
                tensors.view(part, parts[part.storage]).copy_(tensors.view(part, final[part.storage]))
    return (written.final != allowed).any()


def _overrun(layout: Layout, written: Written) -> str | None:
    """In words: the first guard zone that was written to, and from which side."""
    zones = [tensors.part(written.final, zone) for zone in layout.zones]
    damage = tensors.first_damage(zones, guard=written.poison)
    return cases.overrun(layout.problem, layout.specs, damage) if damage is not None else None
