"""A replayer, confined as the fork server confines it, reads no foreign file and opens no socket."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sandbox.confinement import Measure

REPLAYER = """
import errno, json, socket, sys
import engine.replay.main
from engine import protocol
from engine.sandbox.confinement import Confinement, Measure, confine

shared, foreign = sys.argv[1:]
in_force = confine(Confinement(
    writable=(shared,), uid=None, memory_bytes=2 << 30, processes=64, file_bytes=1 << 20, address_space=True,
))
replayer = engine.replay.main.Replayer(limits_reading=Measure.READING in in_force)
limited = replayer.carry_out(protocol.LimitReading(id="i", readable=(shared,)))


def result(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed"


results = {
    "own": result(lambda: open(shared + "/arena").read()),
    "foreign": result(lambda: open(foreign).read()),
    "passwords": result(lambda: open("/etc/shadow").read()),
    "internet": result(lambda: socket.socket(socket.AF_INET)),
    "datagram": result(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)),
}
print(json.dumps({"in_force": in_force, "limited": type(limited).__name__, "results": results}))
"""


def test_replayer_reads_its_arena_and_opens_no_socket(tmp_path: Path) -> None:
    shared, foreign = tmp_path / "shared", tmp_path / "store.db"
    shared.mkdir()
    (shared / "arena").write_bytes(b"elements")
    foreign.write_text("runs")
    command = [sys.executable, "-c", REPLAYER, str(shared), str(foreign)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    if Measure.READING not in told["in_force"] or Measure.SYSTEM_CALLS not in told["in_force"]:
        pytest.skip("this machine cannot limit what a process reads, or which system calls it makes")
    assert told["limited"] == "Done"
    assert told["results"] == {
        "own": "allowed", "foreign": "EACCES", "passwords": "EACCES", "internet": "EPERM", "datagram": "EPERM",
    }  # fmt: skip
