"""A child that starts a tool talks to itself over TCP and to nothing else, until it gives up the rest of its rights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sandbox.confinement import Measure

PROGRAM = """
import json, socket, sys, threading
from engine.sandbox.confinement import Confinement, confine, restrict_files
from engine.sandbox.system_calls import filter_system_calls
in_force = confine(Confinement(
    writable=(sys.argv[1],), uid=None, memory_bytes=1 << 30, processes=64, file_bytes=1 << 20, address_space=True,
    starts_tool=sys.argv[2] == "tool",
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
def to_a_path():
    socket.socket(socket.AF_UNIX).connect(sys.argv[1] + "/nothing")
def write():
    open(sys.argv[1] + "-beside", "w").close()
actions = (to_itself, outside, to_a_path, write)
outcomes = [[tried(action) for action in actions]]
if sys.argv[2] == "tool":
    asked, told = threading.Event(), []
    def answer():
        asked.wait()
        told.extend(tried(action) for action in actions[:3])
    waiting = threading.Thread(target=answer)
    waiting.start()
    restrict_files((sys.argv[1],), address_space=True, connects=True)
    filter_system_calls(all_threads=True)
    outcomes.append([tried(action) for action in actions])
    asked.set()
    waiting.join()
    outcomes.append(told)
print(json.dumps([list(in_force), outcomes]))
"""
REFUSED = "PermissionError"


@pytest.mark.parametrize(
    ("kind", "outcomes"),
    [
        ("tool", [["done", "OSError", "FileNotFoundError", "done"], [REFUSED] * 4, [REFUSED] * 3]),
        ("candidate", [[REFUSED] * 4]),
    ],
)
def test_connections_lead_to_the_process_itself_only(tmp_path: Path, kind: str, outcomes: list[list[str]]) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), kind]
    ended = subprocess.run(command, capture_output=True, check=True)
    in_force, tried = json.loads(ended.stdout)
    if Measure.NETWORK not in in_force or (kind == "candidate" and Measure.FILES not in in_force):
        pytest.skip("this machine offers no network namespace, or no Landlock")
    assert (Measure.SYSTEM_CALLS in in_force, Measure.FILES in in_force) == (kind == "candidate",) * 2
    assert tried == outcomes
