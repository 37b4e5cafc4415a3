"""Starts an agent's command confined: it ends with its parent process and cannot write outside its folder.

python -I -m kgtui.generation.agents.launcher FOLDER COMMAND...

The launcher stays the parent of all processes that the command starts, also of those that leave its process group, and
kills the remaining ones when the command ends or when it gets SIGTERM.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from pathlib import Path

from engine.sandbox import linux
from engine.sandbox.writable_files import limit_writing

_MOST_FILE_BYTES = 64 << 20
_SIGNAL_BASE = 128
NOT_CONFINED = 125
NOT_FOUND = 127


def main(arguments: list[str]) -> int:
    """Confine this process and run the command; returns its exit status, 128 + N if signal N ended it."""
    folder, command = Path(arguments[0]), arguments[1:]
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_FILE_BYTES, _MOST_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        limit_writing((folder,))
    except OSError as error:
        sys.stderr.write(f"the agent cannot be confined here, so it was not started: {error}\n")
        return NOT_CONFINED
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    pid = os.fork()
    if pid == 0:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        os._exit(_become(command))
    signal.signal(signal.SIGTERM, lambda number, frame: _kill(pid))
    code = _status_of(pid)
    _kill_descendants()
    return code


def _become(command: list[str]) -> int:
    """Replace this process by the command; returns only if that fails."""
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
    return NOT_FOUND


def _status_of(pid: int) -> int:
    """Wait for this child and return its exit status; other children that exit before are reaped too."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else _SIGNAL_BASE - code


def _kill_descendants() -> None:
    """Kill and wait for every child, including those reparented because their parent was killed."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while pids := children.read_text(encoding="ascii").split():
        for pid in map(int, pids):
            _kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
