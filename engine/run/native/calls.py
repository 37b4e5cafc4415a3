"""Calls of the candidate that may request an extension: it is built, and the case is started again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, TypeVar

from engine import protocol
from engine.verdict.decide import Stop

Build: TypeAlias = Callable[[protocol.ExtensionRequest], Awaitable[Stop | None]]
"""Builds an extension; None if it was built, else why that stops the run."""


class Called(Protocol):
    """A case whose calls were made; `failed` is the reply that ended them, if one did."""

    failed: protocol.Failed | None


C = TypeVar("C", bound=Called)


async def with_extensions(
    case: C,
    calls: Callable[[C], Awaitable[Stop | None]],
    *,
    build: Build | None,
    restart: Callable[[C], Awaitable[None]],
) -> Stop | None:
    """Make the `calls` of a case, and start again after each missing extension is built.

    Returns the reason for a stop, or why an extension was not built; None if all calls were made.
    """
    while True:
        stop = await calls(case)
        request = case.failed.extension if case.failed is not None else None
        if request is None or build is None:
            return stop
        stop = await build(request)
        if stop is not None:
            return stop
        await restart(case)
