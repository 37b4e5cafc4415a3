"""The launches of a timed case for the clock: a tape of the candidate's worker, executed by a replayer."""

from __future__ import annotations

import asyncio
import secrets

from engine import protocol
from engine.devices import Device
from engine.errors import WireError
from engine.model import Case
from engine.processes.candidate_session import CandidateSession
from engine.protocol.proof.tape import MOST_TAPE_BYTES, Tape, read_tape
from engine.run.proving.kernels import NotLoweredError
from engine.run.proving.replay_processes import ReplayProcesses
from engine.run.proving.replayer import PersistentReplayer
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted
from engine.timing.kernel_times import NotTimedError

_CALL_S = 20.0  # one call of a timed case, including compilation
_UNKNOWN_MEMORY_BYTES = 16 << 30


class TapedKernels:
    """Tapes one call of each timed case, after its timing, when tuners have chosen."""

    def __init__(
        self,
        *,
        session: CandidateSession,
        processes: ReplayProcesses,
        device: Device,
    ) -> None:
        self._session = session
        self._kernels, self._replayer = processes.kernels, processes.replayer
        self._most_bytes = device.memory_bytes or _UNKNOWN_MEMORY_BYTES

    async def side(self, case: Case, arranged: protocol.Arranged) -> PersistentReplayer:
        """The replayer with the tape of this case.

        Raises:
            NotTimedError: the launches cannot be timed separately.
            EngineError: a process failed.
        """
        tape = await self._tape(case)
        try:
            kernels = await self._kernels.of_tape(tape)
        except NotLoweredError as error:
            raise NotTimedError(str(error)) from error
        if refused := await self._replayer.hold(kernels, tape.specialisations):
            raise NotTimedError(refused)
        command = protocol.TimeTape(
            id=protocol.new_id(),
            tape=tape,
            kernels=tuple(kernel.name for kernel in kernels),
            arguments=arranged.arguments,
            sizes=tuple(storage.bytes for storage in arranged.layouts[0].storages),
            most_bytes=self._most_bytes,
        )
        reply = await self._replayer.ask(command, deadline_s=_CALL_S)
        if isinstance(reply, protocol.Failed):
            raise NotTimedError(reply.message)
        return self._replayer

    async def _tape(self, case: Case) -> Tape:
        path = self._session.shared / f"{secrets.token_hex(8)}.tape"
        command = protocol.TapeSlot(id=protocol.new_id(), case=case.name, slot=0, tape=str(path))
        try:
            reply = await self._session.ask(command, deadline_s=_CALL_S)
            if not isinstance(reply, protocol.Done):
                said = reply.message if isinstance(reply, protocol.Failed) else type(reply).__name__
                raise NotTimedError(f"the call was not recorded: {said}")
            tape = read_tape(await asyncio.to_thread(read_untrusted, path, max_bytes=MOST_TAPE_BYTES))
        except (UntrustedFileError, WireError) as error:
            raise NotTimedError(f"the call was not recorded: {error}") from error
        finally:
            path.unlink(missing_ok=True)
        if tape.incomplete:
            raise NotTimedError(f"the call was not recorded: {tape.incomplete}")
        return tape
