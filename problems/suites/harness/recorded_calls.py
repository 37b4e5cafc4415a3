"""Suites whose inputs are made by their tests (KernelBench-X, TritonBench): the tests run here, and calls are recorded.

The reference and the tests are joined into one file again, the reference's function is replaced by a recorder on the
separating line, and the tests run until the requested call.  Its arguments are the inputs; the reference's function,
called alone, gives the expected outputs.  The tests' own use of results is ignored.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import torch

from engine.loading.loader import import_file
from engine.model.problems.suite_origin import Precision
from engine.reference.harness import UnavailableError
from problems.suites.harness.devices import Seeds, redirect_cuda, rewrite_folder
from problems.suites.harness.performance import FILE, PerformanceFile
from problems.suites.harness.values import answered, copied
from problems.suites.harness.written import Effects, effects_of
from problems.suites.settings import STAGES
from problems.suites.texts.call_sites import place_of
from problems.suites.texts.performance import FIRST, LAST

Function: TypeAlias = Callable[..., Any]  # Any: an untrusted function
Call: TypeAlias = tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]
Written: TypeAlias = tuple[tuple[int, torch.Tensor], ...]

_RECORDER = "kgtui_call_recorder"
_SEED_VARIABLES = ("KERNELBENCHX_SEED",)
_MOST_REASON = 200  # characters
_SEED_OF_REFERENCE = 0  # fixed seed for random numbers that the reference draws itself


def open_task(file: Path, details: Mapping[str, str], device: torch.device) -> RecordedTask:
    """Import the reference; `details` has the tests, the entry and the suite's name of the file."""
    stem, entry, tests = details["stem"], details["entry"], details["tests"]
    if details.get("gold") and device.type == "cpu":
        raise UnavailableError("its reference is a Triton kernel, which runs on a GPU only")
    whole = file.with_name(f"{stem}.py")
    whole.write_text(_joined(file.read_text(encoding="utf-8"), tests, entry), encoding="utf-8")
    if "performance" in details:
        file.with_name(FILE).write_text(details["performance"], encoding="utf-8")
    rewrite_folder(file.parent, device)
    redirect_cuda(device)
    performance = PerformanceFile(file.parent, entry=entry, stem=stem) if "performance" in details else None
    is_gold, may_write = bool(details.get("gold")), bool(details.get("writes"))
    recorder = Recorder(returns_stages=bool(details.get(STAGES)))
    task = RecordedTask(whole, entry, recorder, is_gold=is_gold, may_write=may_write, performance=performance)
    if performance is not None and device.type != "cpu":  # on a CPU nothing is timed
        task.try_performance(details["last_call"])
    return task


def _joined(reference: str, tests: str, entry: str) -> str:
    """One text with the lines of the suite's file; the separating line replaces the function."""
    lines = reference.count("\n")
    if lines and not reference.endswith("\n"):
        reference, lines = reference + "\n", lines + 1
    record = f"import {_RECORDER}; {entry} = {_RECORDER}.recorded({entry})\n"
    return reference + record + "\n".join(tests.split("\n")[lines + 1 :])


class _EnoughError(BaseException):
    """The requested call has been recorded; no handler in the tests catches this exception."""


class Recorder(ModuleType):
    """The module that the joined file imports: wraps the reference's function.

    If the function returns stages before its result, the tests get only the result.
    """

    def __init__(self, *, returns_stages: bool) -> None:
        super().__init__(_RECORDER)
        self.function: Function | None = None
        self.found: Call | None = None
        self._returns_stages = returns_stages
        self._line, self._skip, self._depth = 0, 0, 0

    def wait_for(self, line: int, *, skip: int) -> None:
        """Record the call from this line after `skip` others from it; with line 0 stop before the tests."""
        self.found, self._line, self._skip, self._depth = None, line, skip, 0

    def recorded(self, function: Function) -> Function:
        """A function that records the requested call, and otherwise behaves like `function`."""
        self.function = function
        if not self._line:
            raise _EnoughError

        def calls(*args: Any, **kwargs: Any) -> Any:  # Any: arguments of an untrusted function
            if not self._depth and sys._getframe(1).f_lineno == self._line:
                if not self._skip:
                    self.found = copied((args, tuple(kwargs.items())))
                    raise _EnoughError
                self._skip -= 1
            self._depth += 1
            try:
                returned = function(*args, **kwargs)
                return returned[-1] if self._returns_stages else returned
            finally:
                self._depth -= 1

        return calls


class RecordedTask:
    """A task whose inputs come from calls of its tests."""

    def __init__(
        self,
        file: Path,
        entry: str,
        recorder: Recorder,
        *,
        is_gold: bool,
        may_write: bool = False,
        performance: PerformanceFile | None = None,
    ) -> None:
        self._file, self._entry, self._is_gold, self._may_write = file, entry, is_gold, may_write
        self._performance = performance
        self._timed_instead: str | None = None
        self._effects: dict[str, Effects] = {}
        self._seeds, self._recorder = Seeds(), recorder
        self.notes: tuple[str, ...] = ()

    def needed_bytes(self) -> int | None:
        """Unknown without running the tests."""
        return None

    def draw(self, *, seed: int, weight_seed: int, case: str) -> Call | tuple[*Call, Written]:
        """The arguments of the call in the line given by its name, with random numbers from this seed.

        If the task may write to its arguments, a third value has the tensors that it writes in this case.

        Raises:
            UnavailableError: the tests make no such call, or one of its arguments cannot be sent to a candidate.
        """
        place = self._timed_instead or case if case in (FIRST, LAST) else case
        call = self._timed(case, seed) if place in (FIRST, LAST) else self._recorded(place, seed)
        if not self._may_write:
            return call
        if case not in self._effects:
            self._effects[case] = effects_of(self._compute, call)
        self._effects[case].poison(call)
        return (*call, self._effects[case].written_in(call))

    def try_performance(self, last_call: str) -> None:
        """Draw from the performance file once; if that fails, a call of the tests is timed instead, with a note."""
        try:
            for case in (FIRST, LAST):
                self._timed(case, 0)
        except Exception as error:  # the suite's code
            self._timed_instead = last_call
            reason = f"{type(error).__name__}: {error}"[:_MOST_REASON]
            self.notes = (*self.notes, f"its performance file fails ({reason}), so {last_call} is timed in its place")

    def _recorded(self, case: str, seed: int) -> Call:
        """The arguments of a call in the tests."""
        line, skip = place_of(case)
        self._recorder.wait_for(line, skip=skip)
        with contextlib.suppress(_EnoughError):
            self._run(seed)
        if self._recorder.found is None:
            raise UnavailableError(f"its tests make no call at {case}")
        return self._recorder.found

    def _timed(self, case: str, seed: int) -> Call:
        """The arguments of a call in the performance file."""
        if self._performance is None:
            raise UnavailableError("it has no performance file")
        function = self._function()
        self._seeds.start(seed)
        return self._performance.draw(case, function)

    def expected(self, arguments: Call | tuple[*Call, Written], precision: Precision) -> tuple[torch.Tensor, ...]:
        """Returned values of the reference's function for these arguments, then the content of those that it writes.

        Raises:
            UnavailableError: it does not compute in this precision; a Triton kernel runs only in its own.
        """
        if self._is_gold and precision is not Precision.OWN:
            raise UnavailableError("a Triton kernel computes in its own precision only")
        args, kwargs, *written = arguments
        numbers = [number for number, _ in written[0]] if written else []
        return answered(self._compute, (args, kwargs), precision, written=numbers)

    def bound(self, arguments: Call | tuple[*Call, Written]) -> Callable[[], object]:
        """The call of the reference's function."""
        return partial(self._function(), *arguments[0], **dict(arguments[1]))

    def _compute(self, call: Call) -> object:
        """Returned values of the reference's function, under one seed for its own draws."""
        function = self._function()
        self._seeds.start(_SEED_OF_REFERENCE)
        return function(*call[0], **dict(call[1]))

    def _function(self) -> Function:
        """The reference's function; imported without the tests if no test has run."""
        if self._recorder.function is None:
            self._recorder.wait_for(0, skip=0)
            with contextlib.suppress(_EnoughError):
                self._run(0)
        assert self._recorder.function is not None
        return self._recorder.function

    def _run(self, seed: int) -> None:
        """Run reference and tests like the suite: on import, in the folder of the file."""
        sys.modules[_RECORDER] = self._recorder
        for name in _SEED_VARIABLES:
            os.environ[name] = str(seed % 2**31)
        os.chdir(self._file.parent)
        self._seeds.start(seed)
        try:
            import_file(self._file, self._file.parent, name=self._file.stem)
        finally:
            sys.modules.pop(self._file.stem, None)
