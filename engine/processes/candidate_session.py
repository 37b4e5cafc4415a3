"""One candidate's own worker: loaded once, called case by case, replaced after it has exited.

The loaded snapshot is a separate file, never the user's: a second save during a run must not change the code under
test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import protocol
from engine.errors import ChildDiedError, EngineError, EngineLostError, KilledError, is_no_evidence
from engine.loading.generated import CANDIDATE_FOLDER, MODULES_FOLDER
from engine.model import Candidate, CandidateForm, Limits, Stream
from engine.processes.resources.control_group import ControlGroup
from engine.processes.warm_pool import PooledProcess, WarmPool


class LoadError(EngineError):
    """The candidate did not load; `failed` is the worker's reply."""

    def __init__(self, failed: protocol.Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed


@dataclass(frozen=True, kw_only=True)
class LoadRequest:
    """The candidate that a process loads, its entry, and the compiled code that the process may read.

    `form` is the kind of entry, `fp4` the positions of its arguments that are fp4; `target` is the compilation target,
    None if nothing is compiled.
    """

    candidate: Candidate
    entry: str
    form: CandidateForm = CandidateForm.FUNCTION
    target: str | None = None
    cache_folders: tuple[Path, ...] = ()
    extensions: protocol.ExtensionAccess | None = None
    fp4: tuple[int, ...] = ()


class CandidateSession:
    """The worker (or compiler) that has one candidate loaded.

    `group` is the control group of the run, which the worker joins before the candidate is loaded.
    """

    def __init__(
        self,
        load_request: LoadRequest,
        *,
        spare: WarmPool,
        limits: Limits,
        on_log: Callable[[Stream, str], None],
        group: ControlGroup | None = None,
    ) -> None:
        self.limits = limits
        self._request = load_request
        self._spare = spare
        self._on_log = on_log
        self._group = group
        self._process: PooledProcess | None = None
        self._leaving: list[asyncio.Task[None]] = []
        self._has_called = False
        self.kills = 0
        """Number of workers killed from outside while they had to reply."""
        self.failures = 0
        """Number of times that no worker could be started, or that the machine was too busy for it to reply."""

    @property
    def digest(self) -> str:
        """SHA-256 of the candidate's source."""
        return self._request.candidate.digest

    @property
    def shared(self) -> Path:
        """Shared-memory folder of the current worker."""
        assert self._process is not None
        return self._process.workspace.shared

    @property
    def cache(self) -> Path:
        """Triton's cache folder of the current worker."""
        assert self._process is not None
        return self._process.workspace.cache

    @property
    def occupied(self) -> bool:
        """Whether a worker has the candidate loaded; False for one that was lost with its fork server."""
        return self._process is not None and not self._process.child.lost

    @property
    def lost(self) -> bool:
        """Whether its worker was lost with its fork server, and what was laid out in its folder with it."""
        return self._process is not None and self._process.child.lost

    async def load(self) -> protocol.Loaded | protocol.Done:
        """Take a warm worker and load the candidate; retry with another one unless the candidate is at fault.

        Raises:
            LoadError: the candidate's top level failed.
            EngineError: the worker exited, timed out, or sent an invalid reply.
        """
        try:
            return await self._load()
        except LoadError:
            raise
        except EngineError as error:
            if not is_no_evidence(error):
                raise
            return await self._load()

    async def _load(self) -> protocol.Loaded | protocol.Done:
        self.begin_clear()
        try:
            self._process = await self._spare.take()
        except (EngineError, OSError):
            self.failures += 1
            raise
        self._has_called = False
        self._process.child.on_log = self._on_log
        if self._group is not None:
            self._group.add(self._process.child.pid)
            self._process.child.group = self._group
        command = self.load_command(self._process)
        reply = await self._answer(self._process, command, deadline_s=self.limits.load_s)
        if isinstance(reply, protocol.Failed):
            await self.clear()  # otherwise the next case would call a missing entry
            raise LoadError(reply)
        if not isinstance(reply, protocol.Loaded | protocol.Done):
            raise ChildDiedError(f"the {self._process.child.kind} answered a load with {type(reply).__name__}")
        return reply

    def load_command(self, process: PooledProcess) -> protocol.Load:
        """Command that loads a snapshot of the candidate; writes the snapshot to the process's folder first."""
        request = self._request
        folder = request.candidate.folder
        view = process.workspace.view_of(folder)
        cache_folders = tuple(map(str, request.cache_folders))
        published = (request.extensions.folder,) if request.extensions is not None else ()
        modules = _modules(process.workspace.folder, request.candidate)
        return protocol.Load(
            id=protocol.new_id(),
            path=str(_snapshot(process.workspace.folder, request.candidate)),
            folder=str(folder) if folder is not None else None,
            entry=request.entry,
            modules=str(modules) if modules is not None else None,
            cache_folders=cache_folders,
            readable=(*view.readable, *cache_folders, *published),
            listed=view.listed,
            target=request.target,
            form=request.form,
            extensions=request.extensions,
            fp4=request.fp4,
        )

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        """Send a command to the worker.

        Raises:
            EngineError: there is no worker, or it did not reply properly.
        """
        if self._process is None:
            raise ChildDiedError("the candidate has no worker")
        reply = await self._answer(self._process, command, deadline_s=deadline_s)
        self._has_called = self._has_called or isinstance(command, protocol.Call | protocol.Record)
        return reply

    async def _answer(
        self, process: PooledProcess, command: protocol.AnyCommand, *, deadline_s: float
    ) -> protocol.AnyReply:
        try:
            return await process.child.ask(command, deadline_s=deadline_s)
        except (KilledError, EngineLostError):
            self.kills += 1
            raise
        except EngineError as error:
            self.failures += is_no_evidence(error)
            raise

    @property
    def untried(self) -> bool:
        """Whether the worker has not replied to a call yet; one-time set-up happens in its first call."""
        return not self._has_called

    @property
    def unrecorded(self) -> str:
        """Reason why the worker cannot read the device's activity record, as reported before loading a candidate."""
        ready = self._process.child.ready if self._process is not None else None
        return ready.unrecorded if ready is not None else "there is no worker"

    @property
    def fault(self) -> EngineError | None:
        """The invalid output that the worker wrote instead of a reply; None if there is none."""
        return self._process.child.fault if self._process is not None else None

    def another(self) -> CandidateSession:
        """A session for the same candidate whose worker has not called it yet; its prints are not reported."""
        return CandidateSession(
            self._request, spare=self._spare, limits=self.limits, on_log=lambda *_: None, group=self._group
        )

    def end_other(self, other: CandidateSession) -> None:
        """Start ending the worker of another session; `clear` of this one waits for that, too."""
        other.begin_clear()
        self._leaving += other._leaving
        other._leaving = []

    def begin_clear(self) -> None:
        """Kill the worker and all that it started without waiting; `clear` waits until it has exited."""
        if self._process is not None:
            process, self._process = self._process, None
            self._leaving.append(asyncio.create_task(process.end()))

    async def clear(self) -> None:
        """Kill the worker with all that it started and remove its folders.  Safe to call twice."""
        self.begin_clear()
        while self._leaving:
            leaving = self._leaving[0]
            await asyncio.wait([leaving])  # not cancelled with this task: the next caller waits for it
            if leaving in self._leaving:
                self._leaving.remove(leaving)
            leaving.result()


def _modules(folder: Path, candidate: Candidate) -> Path | None:
    """Folder to which the candidate's modules were written; None if it has none."""
    if not candidate.modules:
        return None
    place = folder / MODULES_FOLDER
    place.mkdir(mode=0o755, exist_ok=True)
    for name, text in candidate.modules:
        path = place / Path(name).name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)
    return place


def _snapshot(folder: Path, candidate: Candidate) -> Path:
    # A separate folder, so that no other file of the child can be imported beside the candidate.
    place = folder / CANDIDATE_FOLDER
    place.mkdir(mode=0o755, exist_ok=True)
    # The assembly of its kernels has the name in quotes, and ptxas rejects some names that are not ASCII.
    name = "".join(
        sign if sign.isascii() and sign.isprintable() and sign not in '"\\' else "_"
        for sign in Path(candidate.filename).name
    )
    path = place / (name or "kernel.py")
    path.write_bytes(candidate.source)
    path.chmod(0o644)
    return path
