"""The composition root: the only module that imports engine, store, watcher and screen.

Each is imported and created when the application first needs it.
"""

from __future__ import annotations

import contextlib
import gc
import os
from functools import partial
from typing import TYPE_CHECKING

from kgtui.app.services import Services
from kgtui.files.templates import scaffold
from kgtui.runner.run_environment import environment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.artefacts import ArtefactStore
    from engine.devices import Device
    from kgtui.app.application import WorkbenchApp
    from kgtui.app.start import PreparedBatch, Settings, Start
    from kgtui.history.run_history import StoredRuns
    from kgtui.ports.file_events import Saved, WatchTrouble
    from kgtui.ports.protocols import EngineRuns, Watching
    from kgtui.screens.base.host import Diagnose
    from kgtui.settings.paths import Paths
    from problems.index import ProblemIndex

LABEL = "workbench"


def compose(
    *, settings: Settings, start: Start | None, device: Device, paths: Paths, artefacts: ArtefactStore,
    diagnose: Diagnose, problems: ProblemIndex, batch: PreparedBatch | None = None,
) -> WorkbenchApp:  # fmt: skip
    """The application with all its dependencies; starts nothing and writes nothing."""
    from kgtui.app.application import WorkbenchApp

    def make_engine() -> EngineRuns:
        from engine.engine import Engine

        return Engine(
            device=device.platform, artefacts=artefacts, environment=settings.environment, warm_target=settings.target,
            peaks_folder=paths.peaks,
        )  # fmt: skip

    def open_recording() -> StoredRuns:
        from kgtui.history.recorder import StoreRecording
        from sessions import open_store

        return StoreRecording(
            open_store(paths.sessions), label=LABEL, environment=environment_of(device),
            remove_artefact=artefacts.remove,
        )  # fmt: skip

    services = Services(
        engine_factory=make_engine,
        store_opener=open_recording,
        has_store=partial(os.path.exists, paths.sessions),
        problems=problems,
        watcher_factory=_watch,
        read_artefact=artefacts.read,
        scaffold=scaffold,
        diagnose=diagnose,
    )
    return WorkbenchApp(services=services, settings=settings, start=start, batch=batch, started=resume_collector)


@contextlib.contextmanager
def paused_collector() -> Iterator[None]:
    """Context without garbage collections until resumed: at the start they free nothing and delay the first paint."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def resume_collector() -> None:
    """Resume collecting, except for existing objects, which live as long as the application."""
    gc.freeze()
    gc.enable()


def _watch(
    path: Path, on_save: Callable[[Saved], None], on_trouble: Callable[[WatchTrouble], None], *,
    known_digest: str | None,
) -> Watching:  # fmt: skip
    from kgtui.files.watcher import Watcher

    return Watcher(path, on_save, on_trouble, known_digest=known_digest)
