"""The stored run that answers a request, so that a save of known content needs no engine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.errors import StoreError
from engine.static.source import imported_files
from kgtui.ports.requests import RunHeader

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.model.events import Event
    from kgtui.ports.protocols import Recording
    from kgtui.ports.requests import RunRequest


async def stored_run(
    request: RunRequest, *, recording: Recording | None, on_trouble: Callable[[str], None]
) -> tuple[RunHeader, tuple[Event, ...]] | None:
    """The stored run that answers exactly this request; None if there is none, or a new run is requested."""
    if request.again or request.cases or recording is None:
        return None
    if request.draw_seed is not None:
        return None  # the request is for this seed
    if request.problem.version:
        return None  # the store does not have the version of a user's own problem
    folder = request.candidate.folder
    siblings = await asyncio.to_thread(imported_files, request.candidate.source, folder) if folder else ()
    if siblings:
        return None  # its imported files may have changed, and the hash covers one file only
    try:
        number = await asyncio.to_thread(recording.cached, request)
        if number is None:
            return None
        events = await asyncio.to_thread(recording.events, number)
    except StoreError as error:
        on_trouble(str(error))
        return None
    try:
        await asyncio.to_thread(recording.answered, number, request)
    except StoreError as error:
        on_trouble(str(error))  # the stored answer is still valid
    return RunHeader(number=number, cached=True, digest=request.candidate.digest), events
