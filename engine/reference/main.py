"""The main loop of the reference process: open one task, then draw arguments and compute expected outputs of it.

The judge sends requests through two named pipes in the folder of this process.  The parent only starts and kills it.
"""

from __future__ import annotations

import importlib
import os
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import torch

from engine import protocol
from engine.clock.instruments import Instruments, instruments_of
from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError
from engine.loading.loader import hide_own_packages
from engine.model import DType, PlainObject, map_items
from engine.protocol import tensors
from engine.protocol.reference import (
    ANSWERS,
    MOST_HEAD_BYTES,
    QUESTIONS,
    WINDOW,
    Answer,
    Answered,
    ApplyOwnRule,
    Compute,
    CouldNot,
    Draw,
    Drawn,
    ForgetTimes,
    OpenTask,
    PrepareTimes,
    Question,
    Sent,
    Storage,
    TakeTimes,
    TimesTaken,
    WriteFile,
    questions,
)
from engine.protocol.transport.byte_stream import ByteStream, StreamError, checked_values
from engine.protocol.transport.byte_window import ByteWindow
from engine.protocol.transport.service import MessagePipes
from engine.reference.faults import described
from engine.reference.harness import CanBeTimed, ChecksItself, OpenedTask, UnavailableError
from engine.reference.timing import ReferenceTimes
from engine.sandbox.confinement import Measure
from engine.sandbox.readable_files import limit_reading
from engine.sandbox.variables import DEVICE_VARIABLE

if TYPE_CHECKING:
    from engine.model import Arguments

_HOST = torch.device("cpu")
_THREADS = 2
_MOST_BYTES = 1 << 40
_TASK = "task"
_MESSAGE_CHARACTERS, _TRACE_CHARACTERS = 2000, 20_000


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Create the pipes, report that the process is ready, and reply to the judge until it closes its end."""
    folder = Path.cwd()
    stream = _opened(folder)
    torch.set_num_threads(_THREADS)
    answering = Answering(folder, limits_reading=Measure.READING in in_force)
    versions = {"torch": str(torch.__version__)}
    MessagePipes(commands, replies).reply(protocol.Ready(id="ready", confinement=in_force, versions=versions))
    answer_all(stream, answering)


def answer_all(stream: ByteStream, answering: Answering) -> None:
    """Reply to requests until the other end is closed."""
    try:
        while True:
            question = questions.decode(stream.line(most_bytes=MOST_HEAD_BYTES))
            device = _HOST if isinstance(question, WriteFile) else answering.device
            storages = stream.storages(_sent_with(question), most_bytes=_MOST_BYTES, device=device)
            answer, made = answering.answer(question, storages)
            stream.send(msgspec.json.encode(answer), made)
    except StreamError:
        stream.close()


def _sent_with(question: Question) -> list[int]:
    """The sizes of the storages that follow a request."""
    if isinstance(question, WriteFile):
        return [question.bytes]
    named = question.storages if isinstance(question, Compute | ApplyOwnRule) else ()
    return [storage.bytes for storage in named if isinstance(storage, Sent)]


def _opened(folder: Path) -> ByteStream:
    """Both pipes and the file; no open waits for the judge, which gets end of file when this process ends."""
    for name in (QUESTIONS, ANSWERS):
        os.mkfifo(folder / name, 0o600)
    reads = os.open(folder / QUESTIONS, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    writes = os.open(folder / ANSWERS, os.O_RDWR | os.O_CLOEXEC)
    return ByteStream(reads=reads, writes=writes, window=ByteWindow(folder / WINDOW, creates=True))


class Answering:
    """Replies to requests about one task; an exception of its code becomes a CouldNot."""

    def __init__(self, folder: Path, *, limits_reading: bool, keeps_draws: bool | None = None) -> None:
        """The bytes of the last draw are kept on a device, where the judge refers to them, or with `keeps_draws`."""
        self._folder = folder
        self._limits_reading = limits_reading
        self.device = torch.device(os.environ.get(DEVICE_VARIABLE, "cpu"))
        torch.ones(1, device=self.device).item()  # opens the driver before file access is restricted
        self._task: OpenedTask | None = None
        self._keeps_draws = self.device.type != "cpu" if keeps_draws is None else keeps_draws
        self._drawn: list[torch.Tensor] = []
        self._times: ReferenceTimes | None = None
        self._instruments: Instruments | None = None

    def answer(self, question: Question, storages: Sequence[torch.Tensor]) -> tuple[Answer, list[torch.Tensor]]:
        """The reply and the bytes that follow it."""
        try:
            return self._answered(question, storages)
        except UnavailableError as error:
            return CouldNot(reason=str(error), is_unavailable=True), []
        except MemoryError as error:
            reason = f"it needs more memory than the process may use: {error}"
            return CouldNot(reason=reason[:_MESSAGE_CHARACTERS]), []
        except BaseException as error:  # the suite's code may raise anything, also SystemExit; all of it is reported
            return CouldNot(
                reason=described(error)[:_MESSAGE_CHARACTERS], trace=traceback.format_exc()[-_TRACE_CHARACTERS:]
            ), []

    def _answered(self, question: Question, storages: Sequence[torch.Tensor]) -> tuple[Answer, list[torch.Tensor]]:
        match question:
            case OpenTask():
                self._task = self._open(question)
                return Answered(notes=self._task.notes, needed_bytes=self._task.needed_bytes()), []
            case WriteFile():
                self._write(question.name, storages[0])
                return Answered(), []
            case Draw():
                self._drawn = []
                arguments = self._opened_task().draw(
                    seed=question.seed, weight_seed=question.weight_seed, case=question.case
                )
                answer, made = _carried(arguments)
                self._drawn = made if self._keeps_draws else []
                return answer, made
            case Compute():
                given = cast("Arguments", checked_values(question.arguments, self._found(question.storages, storages)))
                with torch.no_grad():
                    outputs = self._opened_task().expected(given, question.precision)
                if question.dtypes:
                    names = zip(outputs, question.dtypes, strict=True)
                    outputs = tuple(output.to(tensors.dtype_named(name)) for output, name in names)
                return _carried(outputs)
            case PrepareTimes():
                self._prepare_times(question)
                return Answered(), []
            case TakeTimes():
                if self._times is None:
                    raise UnavailableError("no call was prepared for timing")
                return TimesTaken(reply=self._times.time(question.command)), []
            case ForgetTimes():
                self._forget_times()
                return Answered(), []
            case ApplyOwnRule():
                sent, returned = checked_values(question.values, self._found(question.storages, storages))
                with torch.no_grad():
                    return _carried((self._own_rule(sent, returned),))

    def _prepare_times(self, question: PrepareTimes) -> None:
        """Prepare the reference for timing; an exception in that does not affect trust in its outputs."""
        task = self._opened_task()
        if not isinstance(task, CanBeTimed):
            raise UnavailableError("the task's reference is not timed")
        self._forget_times()
        try:
            self._instruments = self._instruments or instruments_of(self.device)
            contents = [task.draw(seed=one, weight_seed=other, case=question.case) for one, other in question.seeds]
            self._times = ReferenceTimes(task, contents, self._instruments)
        except Exception as error:  # the suite's code
            self._forget_times()
            raise UnavailableError(f"the reference cannot be timed: {type(error).__name__}: {error}") from error

    def _forget_times(self) -> None:
        if self._times is not None:
            self._times.forget()
            self._times = None
            runtime_of(self.device).release_cached_memory()  # the slots of a benchmark are allocated by the driver

    def _found(self, named: Sequence[Storage], sent: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The storages of a request.  Those of the last draw are copied: the task may write to its arguments."""
        rest = iter(sent)
        return [self._drawn[one.number].clone() if isinstance(one, Drawn) else next(rest) for one in named]

    def _own_rule(self, arguments: object, outputs: object) -> bool:
        """Whether the task's own code accepts the outputs."""
        task = self._opened_task()
        if not isinstance(task, ChecksItself):
            raise UnavailableError("the task has no code that checks an output")
        return task.passes_own_rule(cast("Arguments", arguments), cast("tuple[torch.Tensor, ...]", outputs))

    def _write(self, name: str, content: torch.Tensor) -> None:
        """Append bytes to a file beside the task's own."""
        target = self._folder / _TASK / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab") as file:
            file.write(content.numpy().data.cast("B"))

    def _open(self, question: OpenTask) -> OpenedTask:
        harness = importlib.import_module(question.harness)
        place = self._folder / _TASK
        for name, text in {question.file: "", **question.files}.items():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        if self._limits_reading:
            try:
                limit_reading((str(self._folder),))
            except UnsupportedError as error:
                raise UnavailableError(str(error)) from error
        hide_own_packages(place)
        task: OpenedTask = harness.open_task(place / question.file, question.details, self.device)
        return task

    def _opened_task(self) -> OpenedTask:
        if self._task is None:
            raise UnavailableError("no task was opened")
        return self._task


def _carried(values: Sequence[object]) -> tuple[Answered, list[torch.Tensor]]:
    """Values as they are sent: specs, and the bytes of their storages."""
    specs, storages = tensors.lay_out(cast("Arguments", tuple(_plain(value) for value in values)))
    return Answered(values=specs, storages=tuple(storage.numel() for storage in storages)), storages


def _plain(value: Any) -> Any:  # Any: whatever the code of a suite makes
    """A value in a form that can be sent: parameters as plain tensors; other types without a spec are refused."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or tensors.dtype_name(value.dtype) not in frozenset(DType):
            kind = f"a tensor of {value.dtype} with layout {value.layout}"
            raise UnavailableError(f"{kind} cannot be handed to a candidate")
        return value.detach().as_subclass(torch.Tensor)
    if isinstance(value, list | tuple | PlainObject) or (
        isinstance(value, dict) and all(isinstance(key, str) for key in value)
    ):
        return map_items(value, _plain)
    if value is None or isinstance(value, bool | int | float | complex | str | torch.dtype):
        return value
    raise UnavailableError(f"a value of type {type(value).__name__} cannot be passed to a candidate")
