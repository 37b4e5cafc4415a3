"""The store and the folder of compiled code for one command, as far as they can be used.

Trouble with either is reported once, on the error stream, and the run continues without.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.errors import StoreError
from kgtui.history.recorder import StoreRecording
from kgtui.settings.paths import Paths, can_write
from sessions import open_store
from sessions.store import BUSY_TIMEOUT_S


@contextlib.contextmanager
def open_recording(
    paths: Paths,
    *,
    label: str,
    environment: Mapping[str, str],
    warn: Callable[[str], None],
    busy_timeout_s: float = BUSY_TIMEOUT_S,
) -> Iterator[StoreRecording | None]:
    """One session of the user's store; None where the store cannot be opened, which is reported."""
    try:
        store = open_store(paths.sessions, busy_timeout_s=busy_timeout_s)
    except StoreError as error:
        warn(f"the run continues, but is not saved: {error}")
        yield None
        return
    recording = StoreRecording(store, label=label, environment=environment)
    recording.listen(lambda sentence, numbers: warn(sentence))
    try:
        yield recording
    finally:
        try:
            recording.close()
        except StoreError as error:
            warn(str(error))


@contextlib.contextmanager
def artefact_folder(paths: Paths, *, is_kept: bool, warn: Callable[[str], None]) -> Iterator[ArtefactStore]:
    """Where compiled code goes: the user's folder, or one that is removed afterwards where that cannot be."""
    if is_kept and can_write(paths.artefacts):
        yield ArtefactStore(folder=paths.artefacts)
        return
    if is_kept:
        warn(f"compiled code is not saved: {paths.artefacts} cannot be written; KGTUI_HOME names another folder")
    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        yield ArtefactStore(folder=Path(folder))
