"""Calls of the candidate that may request an extension: it is built, and the case is begun again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, TypeVar

from engine import protocol
from engine.verdict.decide import Stop

Build: TypeAlias = Callable[[protocol.ExtensionRequest], Awaitable[Stop | None]]
"""Has an extension built; why that stops the run, or None where it is built."""


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
    """Make the `calls` of a case, from the first one on again after each extension that one lacked is built.

    Returns what stopped them, or why an extension was not built.
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
