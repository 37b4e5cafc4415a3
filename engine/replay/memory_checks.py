"""What the machine finds about the accesses of the launches of a tape."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine import protocol
from engine.machine.conflicts.warps import Warps
from engine.machine.ir import Module
from engine.machine.reports import memory_report_of, out_of_bounds_of
from engine.machine.results import Execution, FindingKind
from engine.model import Launch, OutOfBounds
from engine.protocol.executing import MOST_REPORTS, MemoryReport
from engine.protocol.proof.tape import Launched

_MESSAGE_CHARACTERS = 1000


class MemoryChecks:
    """Collects the findings of launches; a warp of their target has so many `warp_threads`."""

    def __init__(self, *, warp_threads: int) -> None:
        self._warp_threads = warp_threads
        self._reports: list[MemoryReport] = []
        self._out_of_bounds: OutOfBounds | None = None

    def warps_of(self, launch: Launch) -> Warps:
        """The warps of each program of a launch."""
        has_one_block = launch.options.get("num_ctas", "1") == "1"
        return Warps.of_launch(launch.num_warps, has_one_block=has_one_block, threads=self._warp_threads)

    def note(
        self, execution: Execution, launch: Launch, step: Launched, module: Module, names: Mapping[str, str]
    ) -> None:
        """Keep the findings of a launch; `names` are the parameters of its kernel by the names of storages."""
        location = module.kernel.location
        filename = location.file if location is not None else ""
        x, y, z = step.grid
        for found in execution.findings:
            finding = msgspec.structs.replace(found, storage=names.get(found.storage, found.storage))
            if finding.kind is FindingKind.OUT_OF_BOUNDS:
                self._out_of_bounds = out_of_bounds_of(finding, launch.kernel, (x, y, z), filename)
            report = memory_report_of(finding, launch.kernel, (x, y, z), filename)
            if report is not None and len(self._reports) < MOST_REPORTS:
                self._reports.append(report)

    def reply(self, command: protocol.CheckMemory, *, stopped: str = "") -> protocol.MemoryChecked:
        """The findings so far; `stopped` is why a launch was not executed to its end."""
        return protocol.MemoryChecked(
            id=command.id,
            memory=tuple(self._reports),
            stopped=stopped[:_MESSAGE_CHARACTERS],
            out_of_bounds=self._out_of_bounds,
        )
