"""Builds of a run's launches for each of several targets, summarised by target.

Several specialisations differ in their resources, so a target is described by its worst.  Values that no tool reported
are None: unknown usage is never shown as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Outcome

Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TargetReport:
    """One target: `launches` were to be compiled for it, `kernels` were, with or without success."""

    target: str
    launches: int
    kernels: tuple[CompiledKernel, ...]

    @property
    def built(self) -> tuple[CompiledKernel, ...]:
        """Kernels that built."""
        return tuple(kernel for kernel in self.kernels if kernel.outcome is Outcome.PASS)

    @property
    def first_failed(self) -> CompiledKernel | None:
        """The first kernel that did not build; a known failure comes before one that could not be checked."""
        failed = [kernel for kernel in self.kernels if kernel.outcome is not Outcome.PASS]
        return min(failed, key=lambda kernel: kernel.outcome is Outcome.UNSUPPORTED, default=None)

    @property
    def outcome(self) -> Outcome | None:
        """PASS when every launch built; None as long as some are missing and none has failed."""
        failed = self.first_failed
        if failed is not None:
            return failed.outcome
        return Outcome.PASS if self.launches and len(self.kernels) == self.launches else None

    @property
    def registers(self) -> int | None:
        """Registers per thread, the most of all kernels."""
        return _most(kernel.registers for kernel in self.built)

    @property
    def spill_bytes(self) -> int | None:
        """Spilled bytes per thread, the most of all kernels."""
        return _most(kernel.spill_bytes for kernel in self.built)

    @property
    def shared_bytes(self) -> int | None:
        """Bytes of shared memory per block, the most of all kernels."""
        return _most(kernel.shared_bytes for kernel in self.built)

    @property
    def occupancy_percent(self) -> float | None:
        """Theoretical occupancy, the least of all kernels; None if it cannot be determined."""
        known = [level.percent for kernel in self.built if (level := occupancy(kernel)) is not None]
        return min(known, default=None)


@dataclass(frozen=True, kw_only=True)
class Ports:
    """State of other targets; `outcome` is None while they are compiled, and before a request for them.

    `numbers` are those of the events of `kernels`, by which machine code is assigned.
    """

    targets: tuple[str, ...] = ()
    launches: int = 0
    kernels: tuple[CompiledKernel, ...] = ()
    numbers: tuple[int, ...] = ()
    outcome: Outcome | None = None
    message: str = ""

    @property
    def asked(self) -> bool:
        """Whether builds for other targets were requested."""
        return bool(self.targets)

    @property
    def running(self) -> bool:
        """Whether more builds will come."""
        return self.asked and self.outcome is None

    @property
    def complete(self) -> bool:
        """Whether every launch was compiled for every target; only texts of machine code may still come."""
        return self.asked and len(self.kernels) == self.planned

    @property
    def planned(self) -> int:
        """Number of planned builds."""
        return len(self.targets) * self.launches

    def of(self, target: str) -> TargetReport:
        """Report on one target."""
        kernels = tuple(kernel for kernel in self.kernels if kernel.target == target)
        return TargetReport(target=target, launches=self.launches, kernels=kernels)

    @property
    def reports(self) -> tuple[TargetReport, ...]:
        """Reports on all targets, in the order of the request."""
        return tuple(map(self.of, self.targets))


NOT_PORTED = Ports()


def plain_target(report: TargetReport) -> dict[str, Any]:  # Any: JSON values of every shape
    """One target for a JSON document."""
    failed = report.first_failed
    return {
        "target": report.target,
        "outcome": report.outcome,
        "built": len(report.built),
        "launches": report.launches,
        "message": failed.message if failed else "",
        "location": msgspec.to_builtins(failed.location) if failed else None,
        "registers": report.registers,
        "spill_bytes": report.spill_bytes,
        "shared_bytes": report.shared_bytes,
        "occupancy_percent": report.occupancy_percent,
        "kernels": msgspec.to_builtins(report.kernels),
    }


def target_table(reports: Sequence[TargetReport]) -> list[Row]:
    """A row for each target under a header; `first_errors` has the first error of each that does not build."""
    return [
        ("target", "builds", "registers", "spilled B", "shared B", "occupancy"),
        *(
            (
                report.target,
                f"{len(report.built)}/{report.launches}",
                _amount(report.registers),
                _amount(report.spill_bytes),
                _amount(report.shared_bytes),
                "-" if report.occupancy_percent is None else f"{report.occupancy_percent:.0f}%",
            )
            for report in reports
        ),
    ]


def first_errors(reports: Sequence[TargetReport]) -> list[str]:
    """Why each target without a build has none, in a line."""
    failed = [(report.target, kernel) for report in reports if (kernel := report.first_failed) is not None]
    return [
        f"{target}: {kernel.outcome}: {kernel.launch.kernel}"
        f"{f', line {kernel.location.line}' if kernel.location else ''}: {' '.join(kernel.message.split())}"
        for target, kernel in failed
    ]


def _amount(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
