"""The folder of compiled code for one command; separate from the store, so that the workbench can open without it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.artefacts import ArtefactStore
from kgtui.settings.paths import Paths, can_write


@contextlib.contextmanager
def artefact_folder(paths: Paths, *, is_kept: bool, warn: Callable[[str], None]) -> Iterator[ArtefactStore]:
    """Store of compiled code: the user's folder, or a temporary one if that is unusable."""
    if is_kept and can_write(paths.artefacts):
        yield ArtefactStore(folder=paths.artefacts)
        return
    if is_kept:
        warn(f"compiled code is not saved: {paths.artefacts} cannot be written; KGTUI_HOME names another folder")
    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        yield ArtefactStore(folder=Path(folder))
