"""Changes that a candidate leaves in its process: functions of torch and Triton, settings, threads, children.

A snapshot is taken before it is loaded and compared after its last verified call.  Changes that it undoes in between or
hides are not detected; a difference can show something, no difference shows nothing.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import io
import math
import os
import pathlib
import random
import signal
import statistics
import sys
import threading
import time
import timeit
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch.overrides import _get_current_function_mode_stack as _function_modes
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack as _dispatch_modes
from triton.runtime import autotuner, interpreter, jit

from engine.devices.runtimes import RUNTIMES, runtime_of
from engine.protocol.monitoring import MOST_CHANGES, ChangeKind, ChangeSeen
from engine.worker.monitor.process.code_pages import CodePages, code_pages, rewritten

# Namespaces of candidates: their values are Any throughout this file.

_THREADS = Path("/proc/self/task")
_NS_PER_S = 1e9
_MOST_FRAMES, _MOST_LOCALS = 32, 64  # of a thread that was left, searched for tensors
_TEXT_CHARACTERS = 200
_MISSING = object()
_FOLLOWS_A_SETTING = frozenset({"torch.Storage"})  # its value depends on the default dtype
_PRELOADING = ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
_BUSY_LOOK_S = 0.03  # time in which threads that were left are observed, if there are any
_BUSY_SHARE = 0.1  # of that time on the processor, from which on a thread is busy: a waiting one uses none
_OURS = f"{Path(__file__).parents[3]}{os.sep}"
_LIBRARIES = tuple(f"{Path(str(module.__file__)).parent}{os.sep}" for module in (torch, triton, np))


@dataclass(frozen=True, kw_only=True)
class _Snapshot:
    """Callables by namespace, the code of those written in Python, and everything else by name."""

    callables: Mapping[str, Mapping[str, Any]]
    codes: Mapping[int, CodeType]
    settings: Mapping[str, str]
    preloading: Mapping[str, str | None]
    callbacks: Mapping[str, tuple[Any, ...]]
    random_states: Mapping[str, bytes]
    threads: frozenset[int]
    children: frozenset[int]
    code: Mapping[str, CodePages] | None


class ProcessStateDiff:
    """Compares the process with its state when `begin` was called."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._before: _Snapshot | None = None

    def begin(self) -> None:
        """Record the state before a candidate is loaded."""
        callables = {name: dict(_callables(vars(owner))) for name, owner in _namespaces()}
        codes = {
            id(value): value.__code__
            for space in callables.values()
            for value in space.values()
            if type(value) is FunctionType
        }
        self._before = _Snapshot(
            callables=callables,
            codes=codes,
            settings=_settings(),
            preloading=_preloading(),
            callbacks=_callbacks(),
            random_states=self._random_states(),
            threads=frozenset(sys._current_frames()),
            children=child_pids(),
            code=code_pages(),
        )

    def seeded(self) -> None:
        """Accept a seed set while the candidate was loaded: that is ordinary, for the judge draws elsewhere."""
        if self._before is not None:
            self._before = replace(self._before, random_states=self._random_states())

    def changes(self) -> tuple[ChangeSeen, ...]:
        """Current differences, at most as many as fit."""
        before = self._before
        if before is None:
            return ()
        looks: tuple[Callable[[_Snapshot], Iterator[ChangeSeen]], ...] = (
            _replaced,
            _called_back,
            _rewritten,
            _changed_settings,
            _preloaded,
            self._drawn,
            _new_threads,
            _children,
        )
        return tuple(change for look in looks for change in look(before))[:MOST_CHANGES]

    def _random_states(self) -> dict[str, bytes]:
        states = {"cpu": torch.get_rng_state().numpy().tobytes()}
        if (state := runtime_of(self._device).random_state(self._device)) is not None:
            states[self._device.type] = state
        return states

    def _drawn(self, before: _Snapshot) -> Iterator[ChangeSeen]:
        for name, state in self._random_states().items():
            if state != before.random_states[name]:
                yield ChangeSeen(kind=ChangeKind.RANDOM_STATE, name=name)


def _namespaces() -> Iterator[tuple[str, Any]]:
    for name, owner in (
        ("torch", torch), ("torch.Tensor", torch.Tensor), ("torch.cuda", torch.cuda),
        ("torch.cuda.Event", torch.cuda.Event), ("torch.cuda.Stream", torch.cuda.Stream),
        ("torch.nn.functional", torch.nn.functional), ("torch.linalg", torch.linalg),
        ("torch.testing", torch.testing), ("triton", triton), ("triton.testing", sys.modules.get("triton.testing")),
        ("triton.language", tl), ("triton.runtime.jit", jit), ("triton.JITFunction", jit.JITFunction),
        ("triton.Autotuner", autotuner.Autotuner), ("triton.language.core", tl.core), ("triton.language.math", tl.math),
        ("triton.language.standard", tl.standard), ("triton.language.tensor", tl.tensor),
        ("triton.runtime.interpreter", interpreter), ("triton.InterpreterBuilder", interpreter.InterpreterBuilder),
        ("triton.interpreter_builder", interpreter.interpreter_builder),
        ("triton.GridExecutor", interpreter.GridExecutor),
        ("triton.InterpretedFunction", interpreter.InterpretedFunction), ("builtins", builtins), ("time", time),
        ("statistics", statistics),
        ("numpy", np), ("os", os), ("math", math), ("random", random), ("timeit", timeit),
        ("contextlib", contextlib), ("contextlib.ExitStack", contextlib.ExitStack), ("pathlib.Path", pathlib.Path),
        ("contextlib._GeneratorContextManager", contextlib._GeneratorContextManager), ("io", io),
        ("os.path", os.path), ("gc", gc), ("threading", threading), ("threading.Thread", threading.Thread),
        ("numpy.testing", sys.modules.get("numpy.testing")), ("torch.random", torch.random),
    ):  # fmt: skip
        if owner is not None:
            yield name, owner


def _callables(space: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in space.items():
        if callable(value) or isinstance(value, staticmethod | classmethod | property):
            yield name, value


def _replaced(before: _Snapshot) -> Iterator[ChangeSeen]:
    for place, owner in _namespaces():
        known, space = before.callables.get(place, {}), vars(owner)
        for name, old in known.items():
            new = space.get(name, _MISSING)
            if new is not old and not _is_libraries_own(name, old, new) and f"{place}.{name}" not in _FOLLOWS_A_SETTING:
                yield _change(f"{place}.{name}", "removed" if new is _MISSING else _origin(new))
            elif type(old) is FunctionType and old.__code__ is not before.codes[id(old)]:
                yield _change(f"{place}.{name}", f"its code is now {_origin(old)}")
        for name in space.keys() - known.keys():
            # Methods of torch written in C belong to an immutable base class; they can only be shadowed.
            bases = owner.__mro__[1:] if isinstance(owner, type) else type(owner).__mro__
            if any(name in vars(base) for base in bases) and callable(space[name]):
                yield _change(f"{place}.{name}", _origin(space[name]))


def _called_back(before: _Snapshot) -> Iterator[ChangeSeen]:
    for name, new in _callbacks().items():
        old = before.callbacks[name]
        if len(new) > len(old) or any(one is not other for one, other in zip(new, old, strict=False)):
            yield _change(name, _origin(new[-1]))


def _callbacks() -> dict[str, tuple[Any, ...]]:
    """Functions that the runtime calls: by the garbage collector, upon signals, for operators."""
    signals = [number for number in signal.Signals if number in signal.valid_signals()]
    return {
        "gc.callbacks": tuple(gc.callbacks),
        "the modes of functions": tuple(_function_modes()),
        "the modes of operators": tuple(_dispatch_modes()),
        **{f"the handler of {number.name}": (signal.getsignal(number),) for number in signals},
    }


def _rewritten(before: _Snapshot) -> Iterator[ChangeSeen]:
    now = code_pages()
    if before.code is not None and now is not None:
        for file, detail in rewritten(before.code, now):
            yield _change(f"the machine code of {Path(file).name}", detail)


def _is_libraries_own(name: str, old: Any, new: Any) -> bool:
    """Whether a library made this change: Triton's interpreter in its language, or torch where it wraps."""
    if name == "static_print" and new is print:
        return True
    inner = getattr(new, "fget", None) or getattr(new, "func", new)  # of a property or a partial
    code = getattr(inner, "__code__", None)
    if isinstance(code, CodeType) and code.co_filename.startswith(_OURS):
        return True  # patches that kgtui applies to Triton's interpreter before a launch
    if not isinstance(code, CodeType) or not code.co_filename.startswith(_LIBRARIES):
        return False
    is_language = code.co_filename.endswith("runtime/interpreter.py")
    return is_language or code.co_name == name or getattr(new, "__wrapped__", None) is old


def _change(name: str, detail: str) -> ChangeSeen:
    return ChangeSeen(kind=ChangeKind.FUNCTION, name=_printable(name), detail=_printable(detail))


def _origin(new: Any) -> str:
    code = getattr(new, "__code__", None)
    if isinstance(code, CodeType):
        return f"{code.co_name} in line {code.co_firstlineno} of {Path(code.co_filename).name}"
    return f"a {type(new).__name__}"


def _settings() -> dict[str, str]:
    backends = torch.backends
    read: dict[str, Callable[[], object]] = {
        "torch.backends.cuda.matmul.allow_tf32": lambda: backends.cuda.matmul.allow_tf32,
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": (
            lambda: backends.cuda.matmul.allow_fp16_reduced_precision_reduction
        ),
        "torch.backends.cudnn.allow_tf32": lambda: backends.cudnn.allow_tf32,
        "torch.backends.cudnn.benchmark": lambda: backends.cudnn.benchmark,
        "torch.backends.cudnn.deterministic": lambda: backends.cudnn.deterministic,
        "torch.backends.cudnn.enabled": lambda: backends.cudnn.enabled,
        "torch.get_float32_matmul_precision": torch.get_float32_matmul_precision,
        "torch.get_default_dtype": torch.get_default_dtype,
        "torch.is_grad_enabled": torch.is_grad_enabled,
        "torch.is_inference_mode_enabled": torch.is_inference_mode_enabled,
        "torch.are_deterministic_algorithms_enabled": torch.are_deterministic_algorithms_enabled,
        "torch.get_num_threads": torch.get_num_threads,
        "sys.getswitchinterval": sys.getswitchinterval,
        "sys.gettrace": sys.gettrace,
        "sys.getprofile": sys.getprofile,
    }
    for runtime in RUNTIMES:
        name = runtime.TORCH_TYPE
        read[f"torch.is_autocast_enabled({name})"] = functools.partial(torch.is_autocast_enabled, name)
    return {name: _value_text(value) for name, value in read.items()}


def _value_text(read: Callable[[], object]) -> str:
    try:
        return str(read())[: _TEXT_CHARACTERS // 2]  # two of them are a detail
    except (RuntimeError, AttributeError, AssertionError):
        return "unknown"


def _changed_settings(before: _Snapshot) -> Iterator[ChangeSeen]:
    for name, value in _settings().items():
        if value != before.settings[name]:
            detail = _printable(f"{before.settings[name]} -> {value}")
            yield ChangeSeen(kind=ChangeKind.SETTING, name=name, detail=detail)


def _preloading() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in _PRELOADING}


def _preloaded(before: _Snapshot) -> Iterator[ChangeSeen]:
    for name, value in _preloading().items():
        if value is not None and value != before.preloading[name]:
            yield ChangeSeen(kind=ChangeKind.PRELOADING, name=name, detail=_printable(value))


def _new_threads(before: _Snapshot) -> Iterator[ChangeSeen]:
    named = {thread.ident: thread for thread in threading.enumerate()}
    frames = sys._current_frames()
    left = frames.keys() - before.threads - {threading.get_ident()}
    busy = _busy_threads() if left else frozenset()
    for identifier in (identifier for identifier in frames if identifier in left):
        thread = named.get(identifier)
        held = (*_locals(frames[identifier]), *(getattr(thread, name, None) for name in ("_args", "_kwargs")))
        kind = ChangeKind.BUSY_THREAD if thread and thread.native_id in busy else ChangeKind.THREAD
        kind = ChangeKind.TENSOR_THREAD if any(map(_holds_tensor, held)) else kind
        yield ChangeSeen(kind=kind, name=_printable(thread.name if thread is not None else "unnamed"))


def _busy_threads() -> frozenset[int]:
    """Kernel ids of the threads that use the processor while this one does not."""
    before = _processor_s()
    time.sleep(_BUSY_LOOK_S)
    now = _processor_s()
    most = {task: used - before.get(task, used) for task, used in now.items() if task != threading.get_native_id()}
    return frozenset(task for task, used in most.items() if used > _BUSY_SHARE * _BUSY_LOOK_S)


def _processor_s() -> dict[int, float]:
    """Processor seconds of each thread; none if the system does not report them."""
    used: dict[int, float] = {}
    for thread in _THREADS.iterdir():
        with contextlib.suppress(OSError):  # it ended in the meantime
            used[int(thread.name)] = int((thread / "schedstat").read_text().split()[0]) / _NS_PER_S
    return used


def _printable(text: str) -> str:
    """The text as a reply can have it: short, and without lone surrogates."""
    return text[:_TEXT_CHARACTERS].encode("utf-8", "backslashreplace").decode()[:_TEXT_CHARACTERS]


def _locals(frame: FrameType | None) -> Iterator[object]:
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        yield from list(frame.f_locals.values())[:_MOST_LOCALS]
        frame = frame.f_back


def _holds_tensor(value: object) -> bool:
    if isinstance(value, dict):
        value = list(value.values())[:_MOST_LOCALS]
    if isinstance(value, list | tuple):
        return any(isinstance(part, torch.Tensor) for part in value[:_MOST_LOCALS])
    return isinstance(value, torch.Tensor)


def child_pids(threads: Path = _THREADS) -> frozenset[int]:
    """The child processes of all threads in this folder of the system.

    Raises:
        OSError: the system does not list the children of a thread that is still there.
    """
    found: set[int] = set()
    for thread in threads.iterdir():
        try:
            found.update(map(int, (thread / "children").read_text().split()))
        except OSError:
            if thread.exists():  # otherwise it has ended since it was listed
                raise
    return frozenset(found)


def _children(before: _Snapshot) -> Iterator[ChangeSeen]:
    for pid in sorted(child_pids() - before.children):
        try:
            name = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
        except OSError:
            continue  # it ended in the meantime
        yield ChangeSeen(kind=ChangeKind.PROCESS, name=_printable(name))
