"""Services that the application gets from the rest of the project, by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kgtui.history.run_history import StoreOpener
    from kgtui.ports.protocols import ArtefactReader, EngineFactory, Problems, Scaffold, WatcherFactory
    from kgtui.screens.base.host import Diagnose


@dataclass(frozen=True, kw_only=True)
class Services:
    """The rest of the project as the application uses it; each is opened or started when first needed."""

    engine_factory: EngineFactory
    store_opener: StoreOpener
    has_store: Callable[[], bool]
    problems: Problems
    watcher_factory: WatcherFactory
    read_artefact: ArtefactReader
    scaffold: Scaffold
    diagnose: Diagnose
