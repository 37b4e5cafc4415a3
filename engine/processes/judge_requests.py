"""Requests to the judge that several stages make: a case that is laid out for calls, and the words for a failure."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from engine import protocol
from engine.errors import EngineError
from engine.processes.process_pool import ProcessPool


@contextlib.asynccontextmanager
async def prepared_case(process_pool: ProcessPool, prepare: protocol.Prepare) -> AsyncIterator[protocol.Prepared]:
    """Context in which the judge has the inputs of a case laid out, and after which it forgets them.

    Raises:
        EngineError: the judge could not make them.
    """
    try:
        prepared = await process_pool.ask_judge(prepare)
        if not isinstance(prepared, protocol.Prepared):
            raise EngineError(f"the judge could not make inputs of {prepare.case}{reason_in(prepared)}")
        yield prepared
    finally:
        with contextlib.suppress(EngineError):  # a judge that has exited holds no case
            await process_pool.ask_judge(protocol.Release(id=protocol.new_id(), place=prepare.place))


def reason_in(reply: protocol.AnyReply) -> str:
    """The message of a Failed as the end of a sentence; "" for any other reply."""
    return f": {reply.message}" if isinstance(reply, protocol.Failed) else ""
