"""What a candidate leaves changed is told, and nothing of what Triton and torch change themselves."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import gc
import hashlib
import math
import mmap
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
import timeit
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import torch
import triton
from torch.overrides import BaseTorchFunctionMode
from triton.runtime import interpreter

from engine.protocol.monitoring import ChangeKind, ChangeSeen
from engine.worker.monitor.process.code_pages import code_pages
from engine.worker.monitor.process.process_state_diff import ProcessStateDiff, child_pids


def pretend(*args: object, **kwargs: object) -> bool:
    return True


@pytest.fixture
def diff() -> ProcessStateDiff:
    """A diff that began just now."""
    diff = ProcessStateDiff(torch.device("cpu"))
    diff.begin()
    return diff


@pytest.mark.parametrize(
    ("owner", "attribute"),
    [
        (torch, "allclose"), (torch.Tensor, "equal"), (torch.cuda, "synchronize"), (torch.cuda.Event, "elapsed_time"),
        (torch.nn.functional, "softmax"), (triton, "cdiv"), (triton.runtime.jit.JITFunction, "run"),
        (builtins, "print"), (time, "perf_counter"), (statistics, "median"), (math, "fsum"),
        (timeit, "default_timer"), (random, "random"), (torch.random, "fork_rng"), (pathlib.Path, "rename"),
        (contextlib._GeneratorContextManager, "__exit__"), (triton.language.core, "load"),
        (triton.language.tensor, "__add__"), (interpreter.InterpreterBuilder, "create_fadd"),
        (interpreter.GridExecutor, "__call__"),
    ],
)  # fmt: skip
def test_a_replaced_function_is_reported(
    diff: ProcessStateDiff, monkeypatch: pytest.MonkeyPatch, owner: object, attribute: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(owner, attribute, pretend)
        changes = diff.changes()
    assert [(one.kind, one.name.rpartition(".")[2]) for one in changes] == [(ChangeKind.FUNCTION, attribute)]
    assert changes[0].detail.startswith("pretend in line ")
    assert diff.changes() == ()


def test_operation_only_in_current_builder_is_reported(diff: ProcessStateDiff) -> None:
    interpreter.interpreter_builder.create_fadd = pretend
    try:
        names = [one.name for one in diff.changes()]
    finally:
        del interpreter.interpreter_builder.create_fadd
    assert names == ["triton.interpreter_builder.create_fadd"]


def test_a_callback_of_the_collector_is_reported(diff: ProcessStateDiff) -> None:
    gc.callbacks.append(pretend)
    try:
        changes = diff.changes()
    finally:
        gc.callbacks.remove(pretend)
    assert [one.name for one in changes] == ["gc.callbacks"]
    assert changes[0].detail.startswith("pretend in line ")


def test_a_handler_of_a_signal_is_reported(diff: ProcessStateDiff) -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        names = [one.name for one in diff.changes()]
    finally:
        signal.signal(signal.SIGALRM, before)
    assert names == ["the handler of SIGALRM"]


def test_a_mode_that_was_left_on_is_reported(diff: ProcessStateDiff) -> None:
    with BaseTorchFunctionMode():
        names = [one.name for one in diff.changes()]
    assert names == ["the modes of functions"]


def test_a_function_with_other_code_is_reported(diff: ProcessStateDiff, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(torch.nn.functional.softmax, "__code__", pretend.__code__)
        changes = diff.changes()
    assert [(one.name, one.detail.split(" in ")[0]) for one in changes] == [
        ("torch.nn.functional.softmax", "its code is now pretend")
    ]


def test_removed_function_is_reported(diff: ProcessStateDiff, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.delattr(torch, "allclose")
        changes = diff.changes()
    assert changes == (ChangeSeen(kind=ChangeKind.FUNCTION, name="torch.allclose", detail="removed"),)


def test_module_with_every_attribute_does_not_blind_diff(monkeypatch: pytest.MonkeyPatch) -> None:
    class Agreeable(types.ModuleType):
        def __getattr__(self, name: str) -> object:
            return pretend

    import triton.testing  # noqa: F401  # so that the diff knows it

    diff = ProcessStateDiff(torch.device("cpu"))
    diff.begin()
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "triton.testing", Agreeable("triton.testing"))
        patched.setattr(torch, "allclose", pretend)
        reported = {change.name for change in diff.changes()}
    assert {"torch.allclose", "triton.testing.do_bench"} <= reported


@pytest.fixture
def settings() -> Iterator[None]:
    """Settings of this process as they were, afterwards."""
    allowed, dtype, grad = torch.backends.cudnn.allow_tf32, torch.get_default_dtype(), torch.is_grad_enabled()
    yield
    torch.backends.cudnn.allow_tf32 = allowed
    torch.set_default_dtype(dtype)
    torch.set_grad_enabled(grad)


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("change", "name", "detail"),
    [
        (
            lambda: setattr(torch.backends.cudnn, "allow_tf32", False),
            "torch.backends.cudnn.allow_tf32",
            "True -> False",
        ),
        (lambda: torch.set_default_dtype(torch.float64), "torch.get_default_dtype", "torch.float32 -> torch.float64"),
        (lambda: torch.set_grad_enabled(False), "torch.is_grad_enabled", "True -> False"),
    ],
)
def test_a_changed_setting_is_reported(
    diff: ProcessStateDiff, change: Callable[[], object], name: str, detail: str
) -> None:
    change()
    assert diff.changes() == (ChangeSeen(kind=ChangeKind.SETTING, name=name, detail=detail),)


def test_function_with_a_name_outside_unicode_can_be_reported(diff: ProcessStateDiff) -> None:
    def trace(*args: object) -> None:
        """Ignore every event."""

    before, trace.__qualname__ = sys.gettrace(), "\ud800"
    sys.settrace(trace)
    try:
        changes = diff.changes()
    finally:
        sys.settrace(before)
    assert [one.detail for one in changes if one.name == "sys.gettrace"] != []
    msgspec.json.encode(changes)


def test_drawn_random_numbers_are_reported(diff: ProcessStateDiff) -> None:
    torch.randn(3)
    assert diff.changes() == (ChangeSeen(kind=ChangeKind.RANDOM_STATE, name="cpu"),)


@pytest.mark.parametrize(
    ("held", "kind"),
    [(torch.ones(3), ChangeKind.TENSOR_THREAD), ("a queue", ChangeKind.THREAD)],
    ids=["tensor", "text"],
)
def test_running_thread_is_reported_with_its_tensors(diff: ProcessStateDiff, held: object, kind: ChangeKind) -> None:
    end = threading.Event()

    def wait(what: object) -> None:
        end.wait()

    thread = threading.Thread(target=wait, args=([held],), name="left \udc80")
    thread.start()
    try:
        changes = diff.changes()
    finally:
        end.set()
        thread.join()
    assert changes == (ChangeSeen(kind=kind, name="left \\udc80"),)


def test_busy_thread_is_distinguished_from_waiting(diff: ProcessStateDiff) -> None:
    end, started = threading.Event(), threading.Event()

    def burn() -> None:
        started.set()
        while not end.is_set():
            hashlib.sha256(bytes(1 << 20))

    threads = [threading.Thread(target=burn, name="burns"), threading.Thread(target=end.wait, name="waits")]
    for thread in threads:
        thread.start()
    started.wait()
    try:
        changes = diff.changes()
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert {one.name: one.kind for one in changes} == {
        "burns": ChangeKind.BUSY_THREAD,
        "waits": ChangeKind.THREAD,
    }


def test_preloaded_library_is_reported(diff: ProcessStateDiff, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("LD_PRELOAD", "/tmp/clock.so")
        changes = diff.changes()
    assert changes == (ChangeSeen(kind=ChangeKind.PRELOADING, name="LD_PRELOAD", detail="/tmp/clock.so"),)
    assert diff.changes() == ()


@pytest.mark.skipif(code_pages() is None, reason="only Linux tells how pages of code are mapped")
def test_machine_code_that_was_written_to_is_reported(diff: ProcessStateDiff) -> None:
    libc = ctypes.CDLL(None)
    address = ctypes.cast(libc.lrand48, ctypes.c_void_p).value
    assert address is not None
    size, page = mmap.PAGESIZE, ctypes.c_void_p(address - address % mmap.PAGESIZE)
    assert libc.mprotect(page, ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) == 0
    ctypes.memmove(address, ctypes.string_at(address, 1), 1)  # the same byte, in a page of our own now
    assert libc.mprotect(page, ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC) == 0
    (change,) = diff.changes()
    assert change.name.startswith("the machine code of lib")
    assert change.detail.endswith("KiB of it were written to")


def test_a_process_left_running_is_reported(diff: ProcessStateDiff) -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(b"x")
    child.stdin.flush()
    child.stdout.read(1)  # it is `cat` by now, and no copy of us
    try:
        changes = diff.changes()
    finally:
        child.communicate()
    assert [one for one in changes if one.kind is ChangeKind.PROCESS] == [
        ChangeSeen(kind=ChangeKind.PROCESS, name="cat")
    ]


def test_a_thread_that_has_just_ended_has_no_child_processes(tmp_path: Path) -> None:
    for thread, children in (("1", "11 12 "), ("2", "")):
        (tmp_path / thread).mkdir()
        (tmp_path / thread / "children").write_text(children)
    (tmp_path / "3").symlink_to("ended")
    assert child_pids(tmp_path) == {11, 12}


def test_child_processes_that_cannot_be_listed_are_not_none(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    with pytest.raises(FileNotFoundError):
        child_pids(tmp_path)


def test_diff_that_never_began_reports_nothing() -> None:
    assert ProcessStateDiff(torch.device("cpu")).changes() == ()
