"""A confined process with `loopback` talks to itself over TCP and to nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sandbox.confinement import Measure

PROGRAM = """
import json, socket, sys
from engine.sandbox.confinement import Confinement, confine
in_force = confine(Confinement(
    writable=(sys.argv[1],), uid=None, memory_bytes=1 << 30, processes=64, file_bytes=1 << 20, address_space=True,
    loopback=sys.argv[2] == "loopback",
))
def tried(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"
def to_itself():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(1)
    socket.create_connection(listening.getsockname(), timeout=5)
def outside():
    socket.create_connection(("192.0.2.1", 9), timeout=5)
actions = (to_itself, outside, lambda: socket.socket(socket.AF_UNIX))
print(json.dumps([list(in_force), [tried(action) for action in actions]]))
"""


@pytest.mark.parametrize(
    ("kind", "outcomes"),
    [("loopback", ["done", "OSError", "PermissionError"]), ("none", ["PermissionError", "PermissionError", "done"])],
)
def test_connections_lead_to_the_process_itself_only(tmp_path: Path, kind: str, outcomes: list[str]) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), kind]
    ended = subprocess.run(command, capture_output=True, check=True)
    in_force, tried = json.loads(ended.stdout)
    if {Measure.NETWORK, Measure.SYSTEM_CALLS} - set(in_force):
        pytest.skip("this machine offers no network namespace, or no seccomp")
    assert tried == outcomes
