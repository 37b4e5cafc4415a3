"""The store for one command, if it can be used.

A problem with it is reported once, on the error stream, and the run continues without it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from engine.errors import StoreError
from kgtui.history.recorder import StoreRecording
from kgtui.settings.paths import Paths
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
    refusal: str = "",
) -> Iterator[StoreRecording | None]:
    """One session of the user's store; None, and a message, if the store cannot be opened.

    Raises:
        StoreError: it cannot be opened, and there is a `refusal`, the reason why the command needs it.
    """
    try:
        store = open_store(paths.sessions, busy_timeout_s=busy_timeout_s)
    except StoreError as error:
        if refusal:
            raise StoreError(f"{refusal}: {error}") from error
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
