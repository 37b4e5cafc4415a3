"""The process that imports everything once and then forks warm children.

Forking takes milliseconds where importing torch takes seconds.  The fork server runs no candidate, holds no secret,
opens no device and starts no thread; it only forks, kills and reaps.  It is the subreaper of all its descendants, so
leftover processes of a candidate are found and killed here.  When the parent exits, the control socket closes:
everything is killed, and the fork server exits.

Children of one fork server share its pages, copied on write, and its address layout.  So reference processes have a
fork server of their own, apart from that of judge and candidates: it has imported libraries and has never had inputs,
expected outputs or a candidate.  Nothing in its shared pages differs between runs, and addresses in a reference process
reveal nothing about those of the judge.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import NoReturn, TypeAlias

import msgspec

from engine.processes import preloading
from engine.processes.preloading import Family
from engine.processes.user_killer import UserKiller
from engine.sandbox import linux
from engine.sandbox.confinement import Confinement, confine
from engine.sandbox.inherited import reset_inherited_state

MAX_MESSAGE_BYTES = 1 << 16
_SWEEP_S = 30.0  # bound for a process that forks as fast as it is killed; each look finds all that exist


class Fork(msgspec.Struct, frozen=True, kw_only=True, tag="fork", tag_field="type"):
    """Fork a child of this kind; its four descriptors (commands, replies, stdout, stderr) are attached."""

    kind: str
    folder: str
    environment: dict[str, str]
    confinement: Confinement | None


class Kill(msgspec.Struct, frozen=True, kw_only=True, tag="kill", tag_field="type"):
    """Kill a child, its process group and its leftover processes; reported by ChildExited when all have exited."""

    pid: int


class ImportLate(msgspec.Struct, frozen=True, kw_only=True, tag="import_late", tag_field="type"):
    """Import the late modules, unless that is done; nothing can be forked during an import.

    A fork of the server tries each of them first, while orders are obeyed.
    """


class Forked(msgspec.Struct, frozen=True, kw_only=True, tag="forked", tag_field="type"):
    """The child of the last Fork was forked."""

    pid: int


class ForkFailed(msgspec.Struct, frozen=True, kw_only=True, tag="fork_failed", tag_field="type"):
    """The child of the last Fork could not be forked."""

    reason: str


class ChildExited(msgspec.Struct, frozen=True, kw_only=True, tag="child_exited", tag_field="type"):
    """A child exited: `status` is that of waitpid, `leftovers` the number of processes it had left behind."""

    pid: int
    status: int
    leftovers: int


class ImportsDone(msgspec.Struct, frozen=True, kw_only=True, tag="imports_done", tag_field="type"):
    """All imports are done; forks are served from now on."""


Order: TypeAlias = Fork | Kill | ImportLate
Report: TypeAlias = ImportsDone | Forked | ForkFailed | ChildExited


def main() -> None:
    """Serve the control socket until it closes, then delete the folders.

    The arguments are the descriptor of that socket, the family, and the folders.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    family, folders = Family(sys.argv[2]), sys.argv[3:]
    reset_inherited_state()
    linux.set_process_name("kgtui-forkserv")
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl+c in the terminal is the parent's business
    killer = UserKiller()
    try:
        preloading.import_all(family)
        gc.freeze()
        _ForkServer(
            control,
            killer,
            late_modules=preloading.LATE_MODULES if family is Family.CANDIDATES else (),
            preparations=preloading.preparations(family),
        ).serve()
    finally:
        killer.end()
    for folder in folders:  # the parent removes them when it ends in order; this is for when it was killed
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class _Child:
    pid: int
    handle: int
    uid: int | None


@dataclass(frozen=True, kw_only=True)
class _Trial:
    """A fork that tries to import a module."""

    pid: int
    handle: int
    module: str


class _ForkServer:
    def __init__(
        self,
        control: socket.socket,
        killer: UserKiller,
        *,
        late_modules: tuple[str, ...] = (),
        preparations: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        self._control = control
        self._killer = killer
        self._late_modules = late_modules
        self._preparations = dict(preparations or {})
        self._children: dict[int, _Child] = {}
        self._trials: dict[int, _Trial] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)

    def serve(self) -> None:
        self._send(ImportsDone())
        while self._serve_ready():
            pass

    def _serve_ready(self) -> bool:
        """Wait for an order, or for the end of a child, and handle it; False once the parent has closed the socket."""
        for key, _ in self._selector.select():
            if isinstance(key.data, _Trial):
                self._end_trial(key.data)
            elif key.data is not None:
                self._reap(key.data)
            elif not self._obey():
                self._end()
                return False
        return True

    def _end(self) -> None:
        """End all children and trials."""
        for trial in self._trials.values():
            os.kill(trial.pid, signal.SIGKILL)  # not reaped yet
        children = list(self._children.values())
        for child in children:
            _kill(child)
        for child in children:
            self._reap(child)

    def _try_late_modules(self) -> None:
        """Begin to try the late modules; those that can be imported and start no thread are imported after that."""
        modules, self._late_modules = self._late_modules, ()
        for module in modules:
            try:
                pid = os.fork()
            except OSError:  # no more processes: each child imports it itself
                return
            if pid == 0:
                self._forget()
                preloading.try_import(module)
            trial = self._trials[pid] = _Trial(pid=pid, handle=os.pidfd_open(pid), module=module)
            self._selector.register(trial.handle, selectors.EVENT_READ, trial)

    def _end_trial(self, trial: _Trial) -> None:
        """Import a module for all children from now on, if its trial has succeeded."""
        del self._trials[trial.pid]
        self._selector.unregister(trial.handle)
        os.close(trial.handle)
        if os.waitpid(trial.pid, 0)[1] == 0:
            importlib.import_module(trial.module)
            gc.freeze()

    def _forget(self) -> None:
        """Close what a fork must not have of this server."""
        self._control.close()
        self._selector.close()
        self._killer.forget()

    def _obey(self) -> bool:
        try:
            message, handles, _, _ = socket.recv_fds(self._control, MAX_MESSAGE_BYTES, 4)
        except ConnectionResetError:  # the parent closed its end before it had read every report
            return False
        if not message:
            return False
        order = msgspec.json.decode(message, type=Order)
        if isinstance(order, Kill):
            child = self._children.get(order.pid)
            if child is not None:
                _kill(child)  # reaped once it has exited: a driver takes 0.1 s to release a device, and forks wait here
            return True
        if isinstance(order, ImportLate):
            self._try_late_modules()
            return True
        try:
            self._prepare(order.kind)
            pid = os.fork()
        except Exception as error:  # whatever a compiler raises for its first kernel
            for handle in handles:
                os.close(handle)
            self._send(ForkFailed(reason=(isinstance(error, OSError) and error.strerror) or str(error)))
            return True
        if pid == 0:
            self._forget()
            _become_child(order, handles)
        for handle in handles:
            os.close(handle)
        uid = order.confinement.uid if order.confinement else None
        child = _Child(pid=pid, handle=os.pidfd_open(pid), uid=uid)
        self._children[pid] = child
        self._selector.register(child.handle, selectors.EVENT_READ, child)
        self._send(Forked(pid=pid))
        return True

    def _prepare(self, kind: str) -> None:
        """Do what precedes the first fork of a kind of child."""
        prepare = self._preparations.pop(kind, None)
        if prepare is not None:
            prepare()
            gc.freeze()

    def _reap(self, child: _Child) -> None:
        """Wait until a child has exited, kill all that it left behind, and report its end."""
        if self._children.pop(child.pid, None) is None:
            return
        self._selector.unregister(child.handle)
        os.close(child.handle)
        _kill(child)  # its group may outlive it
        _, status = os.waitpid(child.pid, 0)
        self._send(ChildExited(pid=child.pid, status=status, leftovers=self._sweep(child.uid)))

    def _sweep(self, uid: int | None) -> int:
        """Kill every descendant that is not known; returns how many there were."""
        if uid is not None:
            self._killer.kill_all_of(uid)
        leftovers: set[int] = set()
        until = time.monotonic() + _SWEEP_S
        while time.monotonic() < until:
            known = {*self._children, *self._trials, self._killer.pid}
            found = [pid for pid in _children_of(os.getpid()) if pid not in known]
            if not found:
                break
            leftovers.update(found)
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        return len(leftovers)

    def _send(self, report: Report) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(msgspec.json.encode(report))


def _kill(child: _Child) -> None:
    """Send SIGKILL to a child that is not reaped yet, and to its process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)  # before its setsid it leads no group


def _children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:  # a kernel built without that file
        return [child for child in _all_processes() if _parent_of(child) == pid]


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _become_child(order: Fork, handles: list[int]) -> NoReturn:
    """Turn this fork into a child of the requested kind; never returns."""
    status = 70  # EX_SOFTWARE, unless the child says otherwise
    try:
        commands, replies = _arrange_descriptors(handles)
        os.setsid()
        linux.set_process_name(f"kgtui-{order.kind}")
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(order.folder)
        os.environ.update(order.environment)
        tempfile.tempdir = None  # or every child would inherit the fork server's answer
        in_force: tuple[str, ...] = ()
        if order.confinement is None:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        else:
            in_force = confine(order.confinement)
        _serve(order.kind, commands, replies, in_force)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _arrange_descriptors(handles: list[int]) -> tuple[int, int]:
    """Connect stdout and stderr to 1 and 2, leave 0 empty, close all others; returns (commands, replies)."""
    commands, replies, stdout, stderr = (os.dup(handle) for handle in handles)
    null = os.open(os.devnull, os.O_RDONLY)
    for handle, number in ((null, 0), (stdout, 1), (stderr, 2)):
        os.dup2(handle, number)
    keep = {0, 1, 2, commands, replies}
    for entry in list(Path("/proc/self/fd").iterdir()):
        if int(entry.name) not in keep:
            with contextlib.suppress(OSError):
                os.close(int(entry.name))
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    return commands, replies


def _serve(kind: str, commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    serve = importlib.import_module(preloading.MODULES[kind]).serve
    _with_room_for_frames(lambda: serve(commands, replies, in_force))


def _call(function: Callable[[], None]) -> None:
    function()


# CPython maps memory for frames in chunks of 16 KiB, and unmaps a chunk when its first frame ends: a recursive frontend
# crosses the end of one a thousand times in a run.  A chunk is as large as its first frame needs, in powers of two: a
# frame of a little more than 512 KiB leaves almost as much for all others.  No page of its own stack is ever touched.
_FRAME_SLOTS = (1 << 16) + 1
_with_room_for_frames = FunctionType(_call.__code__.replace(co_stacksize=_FRAME_SLOTS), {})


if __name__ == "__main__":
    main()
