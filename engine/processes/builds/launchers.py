"""Builds the C launchers that some Triton versions need, once per list of argument types.

A launcher depends on the types alone, never on a candidate's code, so it is kept until the engine closes.  It is built
by compilers that never load a candidate, so no candidate can affect the launcher of another.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import msgspec

from engine import protocol
from engine.devices.hardware.targets import target_named
from engine.errors import EngineError
from engine.processes.builds.kernel_cache import publish
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.profile import Profile

_BUILDERS = 4
_BUILD_S = 30.0
_MOST_BUILT = 1024  # over all candidates
_MOST_ARGUMENTS = 256
_ANY_POINTER = "*i8"
_PLAIN_TYPE = re.compile(r"\*{0,2}[a-z][a-z0-9_]{0,20}")


class Launchers:
    """Builds launchers into the kernel cache, several at once; `close` at the end."""

    def __init__(self, *, spare: WarmPool, cache_folder: Path, target: str) -> None:
        self.cache_folder = cache_folder
        self._spare = spare
        self._target = target
        self._built: dict[tuple[str, ...], asyncio.Task[None]] = {}
        self._idle: asyncio.Queue[PooledProcess | None] = asyncio.Queue()
        for _ in range(_BUILDERS):
            self._idle.put_nowait(None)
        self._needed: bool | None = None  # unknown until a compiler has reported what its Triton needs

    def need(self, specialisation: str, profile: Profile) -> asyncio.Future[None] | None:
        """Future that is done when the launcher for this specialisation is built; None if none is needed.

        The specialisation is Triton's own description.  If the build fails, the worker builds it at its first launch.
        """
        types = _types_of(specialisation) if self._needed is not False else ()
        if not types:
            return None
        if types not in self._built:
            if len(self._built) == _MOST_BUILT:
                return None
            self._built[types] = asyncio.create_task(self._build(types, profile))
        return self._built[types]

    async def close(self) -> None:
        """End the processes that build.  Safe to call twice."""
        for task in self._built.values():
            task.cancel()
        await asyncio.gather(*self._built.values(), return_exceptions=True)
        while not self._idle.empty():
            process = self._idle.get_nowait()
            if process is not None:
                await process.end()

    async def _build(self, types: tuple[str, ...], profile: Profile) -> None:
        process = await self._idle.get()
        try:
            if not await self._is_needed():
                return
            if process is not None and not process.child.alive:
                await process.end()
                process = None
            process = process or await self._spare.take()
            command = protocol.BuildLauncher(id=protocol.new_id(), types=types, target=self._target)
            with profile.span("build launcher"):
                reply = await process.child.ask(command, deadline_s=_BUILD_S)
            if isinstance(reply, protocol.Compiled):
                publish(reply.cache, process.workspace.cache, self.cache_folder)
        except (EngineError, OSError):
            if process is not None:
                await process.end()
            process = None
        finally:
            self._idle.put_nowait(process)

    async def _is_needed(self) -> bool:
        """Whether the compilers' Triton needs launchers, as reported by a compiler without a candidate."""
        if self._needed is None:
            ready = (await self._spare.wait()).child.ready
            self._needed = ready is not None and target_named(self._target).backend in ready.launchers_for
        return self._needed


def _types_of(specialisation: str) -> tuple[str, ...]:
    """Argument types of a launch; () if some are not plain types, or none are reported.

    They come from a worker and become part of a C program, so only known forms are accepted.  A launcher treats every
    pointer as an address, so all pointer types share one launcher.
    """
    try:
        signature = msgspec.json.decode(specialisation, type=_Description).signature if specialisation else {}
    except msgspec.MsgspecError:
        return ()
    types = tuple(signature.values())
    plain = all(isinstance(kind, str) and _PLAIN_TYPE.fullmatch(kind) for kind in types)
    if not plain or len(types) > _MOST_ARGUMENTS or any(kind.startswith("tensordesc") for kind in types):
        return ()
    return tuple(_ANY_POINTER if kind.startswith("*") else kind for kind in types)


class _Description(msgspec.Struct, frozen=True):
    """The fields used here of Triton's own description of a specialisation."""

    signature: dict[str, Any]  # Any: types as text, or nested lists of them
