"""The workbench's record of an opened file, and the stored run that the first paint shows."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from engine.errors import UsageError
from kgtui.files import disk

if TYPE_CHECKING:
    from pathlib import Path

    from engine.model import Problem
    from kgtui.app.start import Settings, Start
    from kgtui.history.run_history import RunHistory
    from kgtui.runner.engine_service import EngineService
    from kgtui.state.workbench.workbench import Workbench


def workbench_on(problem: Problem, path: Path, content: bytes, *, settings: Settings) -> Workbench:
    """The record of a file without runs."""
    from kgtui.state.workbench.workbench import Workbench

    return Workbench(problem=problem, path=path, saved=content, device=settings.device, target=settings.target)


async def look_up_stored_run(
    start: Start, *, settings: Settings, run_history: RunHistory, service: EngineService
) -> None:
    """Open the store, and read its run of this version of the file."""
    await run_history.open()
    with contextlib.suppress(UsageError):  # an unreadable file is reported when it is opened
        content = disk.read(start.path)
        await service.look_up(workbench_on(start.problem, start.path, content, settings=settings).order())
