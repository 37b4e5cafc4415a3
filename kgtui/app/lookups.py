"""Lookups of screens: an operator by its name, the text of an artefact by its hash."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import App

from engine.errors import KgtuiError, UsageError

if TYPE_CHECKING:
    from engine.model import Problem
    from kgtui.ports.protocols import ArtefactReader, Problems


def find_or_notify(problems: Problems, app: App[None], name: str) -> Problem | None:
    """The operator called `name`; None, and a message, when there is none or its file is broken."""
    try:
        return problems.find(name)
    except KgtuiError as error:
        app.notify(str(error), severity="error", markup=False)
        return None


async def artefact_text(read: ArtefactReader, digest: str) -> str:
    """The text of the artefact with this hash.

    Raises:
        UsageError: it cannot be read, such as after its run was deleted.
    """
    try:
        content = await asyncio.to_thread(read, digest)
    except OSError as error:
        words = f"the code with the hash {digest[:12]} cannot be read: {error.strerror}; r compiles it again"
        raise UsageError(words) from error
    return content.decode("utf-8", errors="replace")
