"""Kills, cut logs, full disks and two apps at once: what was recorded is there."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import threading
from typing import Any

import pytest

from engine.model import Stream
from engine.model.events import LogWritten
from sessions import RunState, StoreFullError, open_store

PROCESSES = 4
RUNS_EACH = 10
EVENTS_EACH = 5
FILES = 30


def logged(number: int) -> LogWritten:
    return LogWritten(at_s=float(number), stream=Stream.STDOUT, text=str(number))


def numbers(store, run_id: int) -> list[int]:
    return [int(event.text) for event in store.events(run_id)]


_RECORD_FOR_EVER = """
import itertools, pathlib, sys
from engine.model.events import LogWritten
from engine.model import Candidate, Stream, Tier
from sessions import open_store

store = open_store(pathlib.Path(sys.argv[1]))
candidate = Candidate(source=b"", problem="aten::softmax")
run = store.begin_run(store.begin_session("s"), candidate, device="cpu", target=None, tiers=(Tier.SMOKE,), path=None)
for number in itertools.count(1):
    store.record(run, LogWritten(at_s=0.0, stream=Stream.STDOUT, text=str(number)))
    print(number, flush=True)
"""


@pytest.mark.parametrize("kill_after", [1, 37, 1500])
def test_kill_loses_nothing_reported_as_recorded(path, kill_after):
    child = subprocess.Popen([sys.executable, "-c", _RECORD_FOR_EVER, path], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) == kill_after:
            child.kill()
            break
    # The child may have reported more between the line above and its death.
    reported = [kill_after, *map(int, child.stdout.read().split("\n")[:-1])]
    child.wait()
    child.stdout.close()
    with open_store(path) as store:
        recorded = numbers(store, 1)
        assert recorded[: reported[-1]] == list(range(1, reported[-1] + 1))
        assert len(recorded) - reported[-1] in (0, 1)  # one may have been recorded and not yet reported
        assert store.run(1).state is RunState.INTERRUPTED


@pytest.mark.parametrize("lost_bytes", [1, 3000, 20_000])
def test_truncated_log_keeps_complete_beginning(store, begin, path, tmp_path, lost_bytes):
    run_id = begin()
    for number in range(1, 101):
        store.record(run_id, logged(number))
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    log = path.with_name("sessions.db-wal").read_bytes()
    copy.with_name("copy.db-wal").write_bytes(log[:-lost_bytes])
    with open_store(copy) as reopened:
        kept = numbers(reopened, run_id)
        assert 0 < len(kept) < 100
        assert kept == list(range(1, len(kept) + 1))
        assert reopened.run(run_id).elapsed_s == float(len(kept))
        assert reopened.record(run_id, logged(0)) == len(kept) + 1


def test_garbage_log_does_not_hide_store(path, begin_in):
    with open_store(path) as store:
        begin_in(store)
    path.with_name("sessions.db-wal").write_bytes(bytes(range(256)) * 100)
    with open_store(path) as store:
        assert [run.id for run in store.runs()] == [1]


_RECORD_RUNS = f"""
import pathlib, sys
from engine.model.events import LogWritten
from engine.model import Candidate, Stream, Tier
from sessions import open_store

sys.stdin.readline()  # all of them start at once, on a file that is not there yet
with open_store(pathlib.Path(sys.argv[1])) as store:
    session = store.begin_session(sys.argv[2])
    for _ in range({RUNS_EACH}):
        candidate = Candidate(source=sys.argv[2].encode(), problem="aten::softmax")
        run = store.begin_run(session, candidate, device="cpu", target=None, tiers=(Tier.SMOKE,), path=None)
        for number in range({EVENTS_EACH}):
            store.record(run, LogWritten(at_s=0.0, stream=Stream.STDOUT, text=sys.argv[2]))
        print(run)
"""


_OPEN_EACH = """
import pathlib, sys
import sqlite_utils.migrations  # so that what follows the word is nothing but the opening
from sessions import open_store

print("ready", flush=True)
for path in sys.stdin:
    with open_store(pathlib.Path(path.strip())) as store:
        print(store.begin_session("here"), flush=True)
"""


def test_processes_opening_new_file_at_once_succeed(tmp_path):
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    children = [subprocess.Popen([sys.executable, "-c", _OPEN_EACH], text=True, **pipes) for _ in range(PROCESSES)]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * PROCESSES
    for file in range(FILES):
        for child in children:
            child.stdin.write(f"{tmp_path / str(file)}.db\n")
            child.stdin.flush()
        sessions = [child.stdout.readline().strip() for child in children]
        if sorted(sessions) != ["1", "2", "3", "4"]:
            break
    errors = [child.communicate()[1] for child in children]
    assert errors == [""] * PROCESSES
    assert sorted(sessions) == ["1", "2", "3", "4"]


def test_processes_filling_one_store_at_once_succeed(path):
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _RECORD_RUNS, path, str(name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in range(PROCESSES)
    ]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    outputs = [child.communicate() for child in children]
    assert [error for _, error in outputs] == [""] * PROCESSES
    runs_by_name = {str(name): list(map(int, output.split())) for name, (output, _) in enumerate(outputs)}
    every_run = sorted(run for runs in runs_by_name.values() for run in runs)
    assert every_run == list(range(1, PROCESSES * RUNS_EACH + 1))
    with open_store(path) as store:
        for name, runs in runs_by_name.items():
            for run in runs:
                assert [event.text for event in store.events(run)] == [name] * EVENTS_EACH


def test_two_stores_on_one_file_see_each_other(path, begin_in):
    with open_store(path) as one, open_store(path) as other:
        first, second = begin_in(one), begin_in(other)
        for number in range(50):
            one.record(first, logged(number))
            other.record(second, logged(-number))
            assert len(numbers(one, second)) == len(numbers(other, first)) == number + 1
        assert first != second


def test_threads_may_share_a_store(store, begin):
    runs = [begin() for _ in range(4)]

    def record(run_id: int) -> None:
        for number in range(50):
            store.record(run_id, logged(number))
            store.runs(limit=2)

    threads = [threading.Thread(target=record, args=(run_id,)) for run_id in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [numbers(store, run_id) for run_id in runs] == [list(range(50))] * 4


def test_full_disk_keeps_records_and_states_next_step(store, begin, path):
    run_id = begin()
    store.record(run_id, logged(1))
    pages = store._database.rows("pragma page_count")[0][0]
    store._database.rows(f"pragma max_page_count = {pages}")
    big = LogWritten(at_s=2.0, stream=Stream.STDOUT, text="x" * 100_000)
    with pytest.raises(StoreFullError, match=rf"{path}: no space left on the disk; earlier records are kept; fr"):
        store.record(run_id, big)
    assert numbers(store, run_id) == [1]
    assert store.run(run_id).elapsed_s == 1.0
    store._database.rows("pragma max_page_count = 1000000")
    assert store.record(run_id, big) == 2


def test_integrity_check_after_run_finds_nothing(store, begin, whole_run, path):
    run_id = begin()
    for event in whole_run:
        store.record(run_id, event)
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert connection.execute("pragma foreign_key_check").fetchall() == []
