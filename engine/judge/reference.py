"""The judge's end of a reference process: requests with a deadline, and replies that are not trusted."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
import torch

from engine import protocol
from engine.cpu_time.meter import Meter
from engine.errors import EngineError, MachineBusyError, ReferenceFaultError
from engine.judge.reference_deadline import ReferenceDeadline
from engine.model.problems.suite_origin import Precision
from engine.problem_source import OpenedReference, ReferenceUnavailableError
from engine.protocol import tensors
from engine.protocol.reference import (
    ANSWERS,
    MOST_HEAD_BYTES,
    QUESTIONS,
    WINDOW,
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
    answers,
)
from engine.protocol.transport.byte_stream import ByteStream, StreamError, checked_values
from engine.protocol.transport.byte_window import ByteWindow, WindowError

if TYPE_CHECKING:
    from engine.model import Arguments

_MOST_BYTES = 16 << 30


class Reference:
    """One reference process, which has one task open.  After a failure it answers no further requests."""

    def __init__(
        self,
        folder: Path,
        device: torch.device,
        *,
        deadline: ReferenceDeadline,
        most_bytes: int = _MOST_BYTES,
        knows_draws: bool | None = None,
    ) -> None:
        """`most_bytes` is the largest size of a reply.

        With `knows_draws`, as on a device, bytes of the last draw are not sent back; in host memory finding them equal
        takes as long as sending them.

        Raises:
            ReferenceFaultError: its pipes do not exist.
        """
        self._device = device
        self._most_bytes = most_bytes
        self._fault: EngineError | None = None
        self._deadline = deadline
        self._knows_draws = device.type != "cpu" if knows_draws is None else knows_draws
        self._drawn: list[torch.Tensor] = []
        try:
            self._stream = ByteStream(
                writes=_pipe(folder / QUESTIONS, os.O_WRONLY),
                reads=_pipe(folder / ANSWERS, os.O_RDONLY),
                window=ByteWindow(folder / WINDOW),
                waits=deadline.check,
            )
        except (OSError, WindowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ReferenceFaultError(f"the reference process has exited: {reason}") from error

    def allow(self, seconds: float) -> None:
        """Set the time of the process for all later requests together."""
        self._deadline.begin(seconds)

    def open(self, *, harness: str, file: str, files: Mapping[str, str], details: Mapping[str, str]) -> OpenedReference:
        """Have the process import the task."""
        asked = OpenTask(harness=harness, file=file, files=dict(files), details=dict(details))
        answer, _ = self._ask(asked, doing="while it was opened")
        return OpenedReference(notes=answer.notes, needed_bytes=answer.needed_bytes)

    def write_file(self, name: str, parts: Iterable[bytearray]) -> None:
        """Have the process write a file of the task, part by part, before the task is opened."""
        for part in parts:
            content = torch.frombuffer(part, dtype=torch.uint8) if part else torch.empty(0, dtype=torch.uint8)
            self._ask(WriteFile(name=name, bytes=len(part)), [content], doing="while its files were written")

    def draw(self, *, seed: int, weight_seed: int, case: str = "") -> Arguments:
        """The arguments for these seeds."""
        self._drawn = []
        answer, storages = self._ask(
            Draw(seed=seed, weight_seed=weight_seed, case=case), doing="while its inputs were made"
        )
        if self._knows_draws:
            self._drawn = [storage.clone() for storage in storages]
        return cast("Arguments", self._values(answer, storages))

    def expected(
        self, arguments: Arguments, precision: Precision, *, dtypes: Sequence[torch.dtype] = ()
    ) -> tuple[torch.Tensor, ...]:
        """The outputs for these arguments; at least one, all of them tensors."""
        specs, storages = tensors.lay_out(arguments)
        named, sent = self._named(storages)
        names = tuple(map(tensors.dtype_name, dtypes))
        asked = Compute(arguments=specs, storages=named, precision=precision, dtypes=names)
        outputs = self._values(*self._ask(asked, sent, doing="while it computed"))
        if not outputs or not all(isinstance(output, torch.Tensor) for output in outputs):
            raise self._failed("it did not return tensors only")
        return tuple(cast("torch.Tensor", output).contiguous() for output in outputs)

    def prepare_times(self, *, seeds: Sequence[tuple[int, int]], case: str = "") -> None:
        """Have the process prepare its reference for timing on contents of these pairs of seeds."""
        self._ask(PrepareTimes(seeds=tuple(seeds), case=case), doing="while it was prepared for timing")

    def time(self, command: protocol.TimeBaseline) -> protocol.Timed | protocol.Failed:
        """Times of the reference, measured in its process."""
        answer = self._answer(TakeTimes(command=command), doing="while it was timed")
        if not isinstance(answer, TimesTaken) or answer.reply.id != command.id:
            raise self._failed("it sent an unexpected reply", "while it was timed")
        return answer.reply

    def forget_times(self) -> None:
        """Have the process free the memory of timing; no operation if it has failed."""
        if self._fault is None:
            self._ask(ForgetTimes(), doing="while it freed memory")

    def passes_own_rule(self, arguments: Arguments, outputs: tuple[torch.Tensor, ...]) -> bool:
        """Whether outputs pass the task's own check."""
        specs, storages = tensors.lay_out((arguments, outputs))
        named, sent = self._named(storages)
        asked = ApplyOwnRule(values=specs, storages=named)
        (passed,) = self._values(*self._ask(asked, sent, doing="while it checked an output"))
        return passed is True

    def _named(self, storages: Sequence[torch.Tensor]) -> tuple[tuple[Storage, ...], list[torch.Tensor]]:
        """Transfer of each storage to the process, and the storages that are sent."""
        named = [self._same_of_draw(storage) or Sent(bytes=storage.numel()) for storage in storages]
        sent = [storage for storage, how in zip(storages, named, strict=True) if isinstance(how, Sent)]
        return tuple(named), sent

    def _same_of_draw(self, storage: torch.Tensor) -> Drawn | None:
        numbers = (number for number, drawn in enumerate(self._drawn) if torch.equal(drawn, storage))
        number = next(numbers, None) if storage.numel() else None
        return None if number is None else Drawn(number=number)

    def close(self) -> None:
        """Close the pipes, which ends the process."""
        self._stream.close()

    def _ask(
        self, question: Question, storages: Sequence[torch.Tensor] = (), *, doing: str
    ) -> tuple[Answered, list[torch.Tensor]]:
        answer = self._answer(question, storages, doing=doing)
        if not isinstance(answer, Answered):
            raise self._failed("it sent an unexpected reply", doing)
        with self._stream_faults(doing):
            return answer, self._stream.storages(answer.storages, most_bytes=self._most_bytes, device=self._device)

    def _answer(
        self, question: Question, storages: Sequence[torch.Tensor] = (), *, doing: str
    ) -> Answered | TimesTaken:
        """The head of a reply in which the reference carried out the request."""
        if self._fault is not None:
            raise self._fault
        with self._stream_faults(doing):
            self._stream.send(msgspec.json.encode(question), storages)
            answer = answers.decode(self._stream.line(most_bytes=MOST_HEAD_BYTES))
        if not isinstance(answer, CouldNot):
            return answer
        if answer.is_unavailable:
            raise ReferenceUnavailableError(answer.reason)
        raise ReferenceFaultError(f"the problem's reference failed {doing}: {answer.reason}")

    @contextlib.contextmanager
    def _stream_faults(self, doing: str) -> Iterator[None]:
        """Turn errors of the stream into errors that every later request gets too."""
        try:
            yield
        except (StreamError, msgspec.MsgspecError) as error:
            raise self._failed(str(error), doing) from error
        except MachineBusyError as error:
            self._fault = error
            raise

    def _values(self, answer: Answered, storages: Sequence[torch.Tensor]) -> tuple[object, ...]:
        try:
            return checked_values(answer.values, storages)
        except (StreamError, RuntimeError, ValueError) as error:
            raise self._failed(f"it answered with {error}") from error

    def _failed(self, what: str, doing: str = "") -> ReferenceFaultError:
        """The error, which every later request gets too: the stream is out of sync."""
        fault = ReferenceFaultError(f"the problem's reference process failed{' ' + doing if doing else ''}: {what}")
        self._fault = fault
        return fault


def reference_at(folder: Path, device: torch.device, *, pid: int) -> Reference:
    """The reference process with this id, whose pipes are in the folder.

    Raises:
        ReferenceFaultError: its pipes do not exist.
    """
    return Reference(folder, device, deadline=ReferenceDeadline(Meter(pid).look))


def _pipe(path: Path, flags: int) -> int:
    """The named pipe at the path; other kinds of files are refused."""
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISFIFO(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "one of its pipes is not a named pipe")
    return handle
