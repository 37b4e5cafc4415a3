"""Compiles the launches of a run for a list of other targets.

Needs no device of those targets, and decides nothing: a verdict is about the target of the run alone.  These events
follow the run's own, so that a stored run shows them again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from engine.artefacts import ArtefactStore
from engine.errors import EngineError
from engine.model import Artefact, Candidate, CompiledKernel, Launch, Limits, Outcome, events, specialisation
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.processes.process_pool import ProcessPool
from engine.profile import Profile
from engine.run.compile_queue import Builder
from engine.run.event_stream import EventEmitter

PORTABILITY_TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950", "gfx1100")


class Retargeting:
    """Compiles the launches of one candidate, target after target; `stream` is called once.

    `after_s` is the time of the run's last event, from which times continue.
    """

    def __init__(
        self,
        *,
        candidate: Candidate,
        entry: str,
        launches: Sequence[Launch],
        targets: Sequence[str],
        process_pool: ProcessPool,
        artefacts: ArtefactStore,
        limits: Limits,
        after_s: float = 0.0,
    ) -> None:
        self._launches = tuple({specialisation(launch): launch for launch in launches}.values())
        self._targets = tuple(dict.fromkeys(targets))
        self._process_pool = process_pool
        self._artefacts = artefacts
        self._limits = limits
        clock = asyncio.get_running_loop().time
        started = clock() - after_s
        self._profile = Profile(clock, started=started)
        self._emitter = EventEmitter(clock, started=started)
        self._kernels = 0
        request = LoadRequest(candidate=candidate, entry=entry, extensions=process_pool.extensions.access)
        self._sessions = tuple(
            CandidateSession(request, spare=process_pool.compiler, limits=limits, on_log=lambda *_: None)
            for _ in range(process_pool.most_compilers)
        )

    async def stream(self, cancelled: asyncio.Event) -> AsyncGenerator[events.Event, None]:
        """All events, in order.  Ends early, with the compilers killed, when `cancelled` is set."""
        working = asyncio.create_task(self._work(cancelled))
        try:
            async for event in self._emitter.stream():
                yield event
            await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def _work(self, cancelled: asyncio.Event) -> None:
        self._emitter.emit(
            events.PortingStarted(at_s=self._emitter.now(), targets=self._targets, launches=len(self._launches))
        )
        compiling = asyncio.create_task(self._compile_all())
        asked = asyncio.create_task(cancelled.wait())
        outcome, message = Outcome.CANCELLED, "cancelled before all launches were compiled for all targets"
        try:
            await asyncio.wait((compiling, asked), return_when=asyncio.FIRST_COMPLETED)
            if compiling.done():
                compiling.result()
                outcome, message = Outcome.PASS, ""
        except (EngineError, OSError) as error:
            outcome, message = Outcome.ENGINE_ERROR, f"the launches could not be compiled: {error}"
        finally:
            for task in (compiling, asked):
                task.cancel()
            await asyncio.gather(compiling, asked, return_exceptions=True)
            await asyncio.shield(asyncio.create_task(self._clean_up()))
            self._emitter.emit(events.PortingFinished(at_s=self._emitter.now(), outcome=outcome, message=message))
            self._emitter.close()

    async def _compile_all(self) -> None:
        """Compile for every target first; machine code is disassembled after all targets."""
        built: list[tuple[int, Builder]] = []
        for target in self._targets:
            before = self._kernels
            builder = Builder(
                sessions=self._sessions,
                target=target,
                limits=self._limits,
                artefacts=self._artefacts,
                profile=self._profile,
                on_kernel=self._kernel_after(before),
            )
            for launch in self._launches:
                builder.add(launch)
            builder.finish()
            await builder.run()
            built.append((before, builder))
        for before, builder in built:
            await builder.disassemble(self._disassembled_after(before))

    def _kernel_after(self, before: int) -> Callable[[int, int, CompiledKernel], None]:
        def emit(number: int, _: int, kernel: CompiledKernel) -> None:
            self._kernels = before + number
            total = len(self._targets) * len(self._launches)
            self._emitter.emit(
                events.KernelPorted(at_s=self._emitter.now(), number=self._kernels, total=total, kernel=kernel)
            )

        return emit

    def _disassembled_after(self, before: int) -> Callable[[int, Artefact], None]:
        def emit(number: int, artefact: Artefact) -> None:
            self._emitter.emit(
                events.PortDisassembled(at_s=self._emitter.now(), number=before + number, artefact=artefact)
            )

        return emit

    async def _clean_up(self) -> None:
        await asyncio.gather(*(session.clear() for session in self._sessions), return_exceptions=True)
        self._process_pool.compiler.prepare()
