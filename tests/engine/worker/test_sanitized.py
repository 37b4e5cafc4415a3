"""The child that runs compute-sanitizer, with an executable of our own in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import protocol
from engine.worker.sanitized import _carried_out, sanitized

DOUBLE = """\
#!/bin/sh
while [ "$1" != "--log-file" ]; do [ "$1" = "--tool" ] && tool="$2"; shift; done
log="$2"
case "$tool" in
  memcheck) printf '%s' '{report}' > "$log" ;;
  racecheck) echo "no driver" ; exit 9 ;;
esac
"""
REPORT = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def command(sanitizer: Path, *tools: str, most_bytes: int = 1000) -> protocol.Sanitize:
    arena = protocol.ArenaSpec(path="/nowhere", bytes=0, storages=())
    call = protocol.Call(id="c", case="one", arguments=(), arena=arena, outputs="out", max_output_bytes=1, poison=0)
    load = protocol.Load(id="l", path="/nowhere.py", folder=None, entry="f")
    return protocol.Sanitize(
        id="s", sanitizer=str(sanitizer), tools=tools, load=load, call=call, writable=(), most_bytes=most_bytes
    )


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The executable; the working folder is that of the child."""
    file = tmp_path / "compute-sanitizer"
    file.write_text(DOUBLE.format(report=REPORT))
    file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return file


def test_each_tool_report_is_returned_with_status(double: Path) -> None:
    reply = sanitized(command(double, "memcheck", "racecheck"), limits_reading=False)
    assert reply.runs == (
        protocol.SanitizedRun(tool="memcheck", report=REPORT, left_out_bytes=0, status=0),
        protocol.SanitizedRun(tool="racecheck", report="", left_out_bytes=0, status=9, trouble="no driver\n"),
    )


def test_long_report_is_cut_with_byte_count(double: Path) -> None:
    (run,) = sanitized(command(double, "memcheck", most_bytes=10), limits_reading=False).runs
    assert (run.report, run.left_out_bytes) == (REPORT[:10], len(REPORT) - 10)


def test_nothing_runs_without_a_network_of_its_own(double: Path) -> None:
    reply = _carried_out(command(double, "memcheck"), ("seccomp",))
    assert isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.UNSUPPORTED
    assert not list(double.parent.glob("*.log"))
