"""Whether host code stops, or skips its kernels, only because this machine has no GPU.

Determined by a second call on copies, in which tensors and torch report a GPU.  If that continues with another launch,
or requests a device from torch, only a GPU can verify the code.  Launches are skipped meanwhile, and the results of the
call are dropped.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from engine.devices.cuda import TORCH_DEVICE
from engine.loading.failures import NeedsGpuError, is_raised, needs_gpu

# Torch's attributes are replaced by ones that answer differently: they are Any throughout this file.

_TYPE = TORCH_DEVICE.partition(":")[0]
_ASKING = re.compile(r"cuda|cpu|\bhip|get_device|is_available|\bdevice\.", re.IGNORECASE)
"""A file without any of these cannot ask for a GPU; this only saves most files the second call."""


_MOST_CHARACTERS = 300


class _LaunchReachedError(BaseException):
    """The second call made a launch that the first one did not; candidates must not catch it."""


class GpuNeed:
    """Counts the launches of a call, and repeats it as if there were a GPU; one per interpreting worker."""

    def __init__(self) -> None:
        self._path = ""
        self._may_ask = False
        self._launches = 0
        self._left: int | None = None
        self._reached = False
        self._lines: list[int] = []
        self._refused_lines: list[int | None] = []

    def install(self) -> None:
        """Record requests to torch for a device that is not here, even if the candidate catches the error."""
        lazy_init = torch.cuda._lazy_init

        def noting_lazy_init() -> Any:
            self._refused_lines.append(self._line())
            return lazy_init()  # type: ignore[no-untyped-call]  # torch's own

        torch.cuda._lazy_init = noting_lazy_init

    def watch(self, path: str) -> None:
        """Attribute requests to lines of this file."""
        self._path = path
        self._may_ask = _ASKING.search(Path(path).read_text(errors="replace")) is not None

    def skips(self) -> bool:
        """Count a launch; returns whether to skip it, as in a second call."""
        if self._left is None:
            self._launches += 1
            return False
        if self._left == 0:
            self._reached = True
            raise _LaunchReachedError
        self._left -= 1
        return True

    @contextlib.contextmanager
    def looking_into(self, again: Callable[[], Any], *, launches: bool) -> Iterator[None]:
        """Examine a call that fails or launches nothing; `again` repeats it on copies.

        Raises:
            NeedsGpuError: with a GPU it would continue, or launch a kernel.
        """
        self._launches = 0
        self._refused_lines.clear()
        try:
            yield
        except BaseException as error:
            self._explain(error, again)
            raise
        if launches and not self._launches and self._may_ask:
            self._explain_silence(again)

    def _explain(self, error: BaseException, again: Callable[[], Any]) -> None:
        if not self._may_ask or needs_gpu(error) or not is_raised(error):
            return
        changed = self._tried(again)
        if self._lines and (self._reached or changed is None or self._place(changed) != self._place(error)):
            line = next(reversed(self._place(error)[1]), None)
            why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise NeedsGpuError(line, why[:_MOST_CHARACTERS]).with_traceback(error.__traceback__) from None

    def _explain_silence(self, again: Callable[[], Any]) -> None:
        why = "without one it launches no kernel"
        if self._refused_lines:
            raise NeedsGpuError(self._refused_lines[0], why)
        changed = self._tried(again)
        if (self._reached and self._lines) or (changed is not None and needs_gpu(changed)):
            raise NeedsGpuError(next(iter(self._lines), None), why)

    def _tried(self, again: Callable[[], Any]) -> BaseException | None:
        """Make the second call; returns its exception, if any."""
        self._left, self._reached = self._launches, False
        self._lines.clear()
        try:
            with self._as_on_a_gpu():
                again()
        except BaseException as error:  # raised by the candidate in a repeated call without effect on the result
            return error
        finally:
            self._left = None
        return None

    def _place(self, error: BaseException) -> tuple[type[BaseException], list[int]]:
        lines: list[int] = []
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._path:
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return type(error), lines

    @contextlib.contextmanager
    def _as_on_a_gpu(self) -> Iterator[None]:
        def answering(value: Any) -> Any:
            return lambda *_: self._answer(value)

        tensor: Any = torch.Tensor
        with contextlib.ExitStack() as stack:
            for owner, name, new in (
                (tensor, "is_cuda", property(answering(value=True))),
                (tensor, "is_cpu", property(answering(value=False))),
                (tensor, "device", property(lambda _: _Device(self._answer))),
                (tensor, "get_device", answering(0)),
                (torch.cuda, "is_available", answering(value=True)),
                (torch.cuda, "device_count", answering(1)),
            ):
                stack.callback(_put_back, owner, name, vars(owner).get(name, _MISSING))
                setattr(owner, name, new)
            yield

    def _answer(self, value: Any) -> Any:
        line = self._line()
        if line is not None:
            self._lines.append(line)
        return value

    def _line(self) -> int | None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self._path:
                return frame.f_lineno
            frame = frame.f_back
        return None


_MISSING = object()


def _put_back(owner: Any, name: str, old: Any) -> None:
    if old is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, old)


class _Device(str):
    """The CPU under the name of a GPU, for torch, which accepts a device by its name."""

    _answer: Callable[[Any], Any]

    def __new__(cls, answer: Callable[[Any], Any]) -> _Device:
        device = super().__new__(cls, "cpu")
        device._answer = answer
        return device

    @property
    def type(self) -> Any:
        return self._answer(_TYPE)

    @property
    def index(self) -> Any:  # str has a method of this name
        return self._answer(0)

    def __str__(self) -> str:
        return str(self._answer(TORCH_DEVICE))

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return bool(self._answer(isinstance(other, _Device) or str(other) in (_TYPE, TORCH_DEVICE)))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(TORCH_DEVICE)
