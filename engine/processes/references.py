"""The reference process of a foreign problem: started, attached to the judge, and replaced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from engine import protocol
from engine.errors import EngineError
from engine.model import ProblemId
from engine.processes.child import Child
from engine.processes.warm_pool import PooledProcess

_END_S = 2.0  # the judge sees the end of a pipe first; a driver may take a second to release a device


class References:
    """At most one reference process, kept as long as problem, judge and process stay the same."""

    def __init__(
        self,
        *,
        start: Callable[[], Awaitable[PooledProcess]],
        judge: Callable[[], Awaitable[Child]],
        ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]],
        not_preloaded: Callable[[], str],
    ) -> None:
        """`not_preloaded` is the reason why a process must import common libraries itself; "" if it need not."""
        self._start = start
        self._judge = judge
        self._ask_judge = ask_judge
        self._not_preloaded = not_preloaded
        self._process: PooledProcess | None = None
        self._attached: tuple[ProblemId, int] | None = None
        self._reply: protocol.AnyReply | None = None

    @property
    def pid(self) -> int | None:
        """The process that the judge may be waiting for; None if there is none."""
        return self._process.child.pid if self._process is not None else None

    async def attach(self, problem: ProblemId) -> protocol.AnyReply:
        """The judge's reply for the problem: ReferenceAttached, or Failed with the side at fault.

        Raises:
            EngineError: no process could be started, or the judge did not reply.
        """
        wanted = (problem, (await self._judge()).pid)
        alive = self._process is not None and self._process.child.alive
        if alive and self._attached == wanted and self._reply is not None:
            return self._reply
        await self.close()
        self._process = await self._start()
        folder = str(self._process.workspace.folder)
        try:
            reply = await self._ask_judge(
                protocol.AttachReference(
                    id=protocol.new_id(), problem=problem, folder=folder, pid=self._process.child.pid
                )
            )
        except EngineError:
            await self.close()
            raise
        if isinstance(reply, protocol.ReferenceAttached):
            if reason := self._not_preloaded():
                note = f"opening a reference takes longer: its libraries could not be imported ahead ({reason})"
                reply = msgspec.structs.replace(reply, notes=(*reply.notes, note))
            self._attached, self._reply = (problem, (await self._judge()).pid), reply
        else:
            await self.close()
        return reply

    async def audit(self, problem: ProblemId) -> protocol.AnyReply:
        """Reply to the judge's audit of the problem with a separate reference process: Audited, or Failed.

        Raises:
            EngineError: no process could be started, or the judge did not reply.
        """
        await self.close()
        self._process = await self._start()
        folder, pid = str(self._process.workspace.folder), self._process.child.pid
        try:
            return await self._ask_judge(
                protocol.AuditProblem(id=protocol.new_id(), problem=problem, folder=folder, pid=pid)
            )
        finally:
            await self.close()

    async def ending(self) -> str:
        """Exit reason of a process that ended by itself; "" if it runs or there is none."""
        return await self._process.child.ending(within_s=_END_S) if self._process is not None else ""

    async def close(self) -> None:
        """End the process.  Safe to call twice."""
        self._attached = self._reply = None
        if self._process is not None:
            process, self._process = self._process, None
            await process.end()
