"""Programs of Python, each in a process of its own, that share the time of importing torch and Triton.

A server imports the modules that the programs need and forks for each of them.  It runs nothing else, so a program
finds what it would find after these imports in a process of its own.  Its end is that of `os._exit`: to take the
modules apart takes as long as all the rest, so threads are waited for, and functions of `atexit` are not called.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_SERVER = """
import gc, json, os, sys, threading, traceback
sys.path += json.loads(sys.argv[1])
for name in sys.argv[2:]:
    __import__(name)
gc.collect()
gc.freeze()
end, flush, joined = os._exit, (sys.stdout.flush, sys.stderr.flush), threading._shutdown
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, place, flags in ((0, os.devnull, os.O_RDONLY), (1, asked["out"], os.O_WRONLY | os.O_CREAT),
                                     (2, asked["err"], os.O_WRONLY | os.O_CREAT)):
            os.dup2(os.open(place, flags), number)
        os.closerange(3, 64)
        os.chdir(asked["cwd"])
        break
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
else:
    sys.exit()
sys.argv = ["-c", *asked["arguments"]]
status = 0
try:
    exec(compile(asked["program"], "<string>", "exec"), {"__name__": "__main__"})
    joined()
except SystemExit as error:
    status = error.code if isinstance(error.code, int) else int(error.code is not None)
except BaseException:
    traceback.print_exc()
    status = 1
for one in flush:
    one()
end(status)
"""


class Forking:
    """Runs programs, one after the other."""

    def __init__(self, server: subprocess.Popen[str], folder: Path) -> None:
        self._server = server
        self._folder = folder

    def run(self, program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """The program's end, with what it wrote, as `subprocess.run` has it."""
        out, err = self._folder / "out", self._folder / "err"
        for place in (out, err):
            place.unlink(missing_ok=True)
        asked = {"program": program, "arguments": arguments, "cwd": f"{cwd}", "out": f"{out}", "err": f"{err}"}
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(f"{json.dumps(asked)}\n")
        self._server.stdin.flush()
        status = self._server.stdout.readline()
        assert status, "the server of the test's programs has ended"
        return subprocess.CompletedProcess([program], int(status), stdout=out.read_text(), stderr=err.read_text())


@contextmanager
def forking(
    *modules: str, folder: Path, libraries: str | None = None, variables: Mapping[str, str] | None = None
) -> Iterator[Forking]:
    """A server that has imported these modules, isolated as with `python -I`; its programs write to `folder`.

    With `libraries` its programs can import what this folder has, and nothing else beside the standard library: also
    nothing of ours.  `variables` replace the environment.
    """
    isolated = ["-I"] if libraries is None else ["-I", "-S"]
    places = json.dumps([] if libraries is None else [libraries])
    command = [sys.executable, *isolated, "-c", _SERVER, places, *modules]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables) as server:
        yield Forking(server, folder)
        assert server.stdin is not None
        server.stdin.close()


def environment_of_scripts() -> dict[str, str]:
    """The environment of an exported script: kernels are interpreted; no other setting of Python or Triton is kept."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRITON"))}
    return {**kept, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
