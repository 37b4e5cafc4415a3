"""Every way in which a store cannot be opened, and what its error tells to do."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from engine.errors import StoreError
from sessions import (
    RunState,
    StoreDamagedError,
    StoreFullError,
    StoreLockedError,
    StorePathError,
    StoreReadOnlyError,
    StoreVersionError,
    open_memory_store,
    open_store,
)
from sessions.connections import turn_wal_on
from sessions.tables.migrations import SCHEMA_VERSION


def test_a_new_store_is_made_with_its_folders(tmp_path):
    path = tmp_path / "a" / "b" / "sessions.db"
    with open_store(path) as store:
        assert store.path == path
        assert store.runs() == ()
    assert path.exists()


def test_path_with_special_characters_is_literal(tmp_path):
    path = tmp_path / "50% ?mode=ro#[x] é.db"
    with open_store(path) as store:
        store.begin_session("here")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_relative_path_starts_at_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_store(Path("sessions.db")) as store:
        store.begin_session("here")
    assert (tmp_path / "sessions.db").exists()


def test_written_store_has_wal_foreign_keys_and_timeout(store):
    def pragma(name: str) -> object:
        return store._database.rows(f"pragma {name}")[0][0]

    pragmas = ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
    assert tuple(map(pragma, pragmas)) == ("wal", 1, 1, 5000)


def test_store_memory_is_bounded(path):
    with open_store(path) as store, open_store(path, read_only=True) as reader:
        caches_kib = [-one._database.rows("pragma cache_size")[0][0] for one in (store, reader)]
    assert caches_kib == [512, 512]


def test_closing_twice_is_harmless(path):
    store = open_store(path)
    store.begin_session("here")
    store.close()
    store.close()


def test_closed_store_raises_store_error(path):
    store = open_store(path)
    store.close()
    with pytest.raises(StoreError, match="closed database"):
        store.runs()


def test_folder_in_place_of_store_is_refused(tmp_path):
    with pytest.raises(StorePathError, match=rf"{tmp_path}: .* an SQLite file, and this is a folder; move it, or set"):
        open_store(tmp_path)


def test_pipe_is_refused_without_blocking(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorePathError, match="an SQLite file, and this is not a regular file; move it, or set"):
        open_store(tmp_path / "pipe")


def test_path_below_file_names_the_obstacle(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorePathError, match=r"cannot create the folder .*: Not a directory .*; set KGTUI_HOME to an"):
        open_store(tmp_path / "file" / "sessions.db")


@pytest.mark.parametrize("read_only", [False, True])
def test_random_bytes_are_damaged_and_unchanged(path, read_only):
    garbage = bytes(range(256)) * 64
    path.write_bytes(garbage)
    with pytest.raises(StoreDamagedError, match=r"not a database\), left unchanged; move it .* again, or recover"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == garbage
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_truncated_store_is_damaged(path, begin_in):
    with open_store(path) as store:
        for _ in range(200):
            begin_in(store)
    path.write_bytes(path.read_bytes()[:8192])
    with pytest.raises(StoreDamagedError, match="malformed"), open_store(path) as store:
        store.runs()


def test_a_store_without_its_tables_is_damaged(path):
    open_store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("drop table events")
    connection.close()
    with pytest.raises(StoreDamagedError, match="its tables are missing"):
        open_store(path)


def test_the_database_of_another_program_is_not_touched(path):
    connection = sqlite3.connect(path)
    connection.execute("create table bookmarks (url text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorePathError, match="is a database of another program, left unchanged; move it, or set"):
        open_store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_store_names_both_versions(path, read_only):
    open_store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("pragma user_version = 99")
    connection.close()
    expected = rf"has schema version 99, this program knows versions up to {SCHEMA_VERSION}; it was left unchanged: upd"
    with pytest.raises(StoreVersionError, match=expected):
        open_store(path, read_only=read_only)


class TestLocked:
    @pytest.fixture
    def writer(self, path):
        connection = sqlite3.connect(path, isolation_level=None)
        yield connection
        connection.close()

    def test_endless_writer_is_named_after_lock_timeout(self, path, writer, whole_run):
        with open_store(path, busy_timeout_s=0.01) as store:
            session_id = store.begin_session("here")
            writer.execute("begin immediate")
            with pytest.raises(StoreLockedError, match=r"locked for more than 0.01 s; close other programs"):
                store.begin_session("blocked")
            writer.execute("rollback")
            assert [session.id for session in store.sessions()] == [session_id]

    def test_reading_does_not_wait_for_a_writer(self, path, writer):
        with open_store(path, busy_timeout_s=0.01) as store:
            writer.execute("begin immediate")
            assert store.sessions() == ()
            writer.execute("rollback")

    def test_empty_locked_file_is_waited_for(self, path, writer):
        writer.execute("begin exclusive")
        with pytest.raises(StoreLockedError, match="locked"):
            open_store(path, busy_timeout_s=0.01)
        writer.execute("rollback")

    def test_wal_is_enabled_once_writer_has_ended(self, path, writer):
        writer.execute("create table here (x)")
        writer.execute("begin immediate")

        class ConnectionThatOutlastsTheWriter(sqlite3.Connection):
            def execute(self, statement):
                try:
                    return super().execute(statement)
                except sqlite3.OperationalError:
                    writer.execute("commit")
                    raise

        connection = sqlite3.connect(path, isolation_level=None, factory=ConnectionThatOutlastsTheWriter)
        assert turn_wal_on(connection, patience_s=60) == "wal"
        connection.close()


class TestReadOnly:
    @pytest.fixture
    def folder(self):
        # Not tmp_path: only its owner may enter that.
        made = Path(tempfile.mkdtemp())
        made.chmod(0o755)
        yield made
        shutil.rmtree(made)

    @pytest.fixture
    def filled(self, folder) -> Path:
        path = folder / "sessions.db"
        with open_store(path) as store:
            store.begin_session("before")
        path.chmod(0o644)
        return path

    def test_reading_changes_nothing_and_writing_is_refused(self, filled):
        before = filled.read_bytes()
        with open_store(filled, read_only=True) as store:
            assert [session.label for session in store.sessions()] == ["before"]
            with pytest.raises(StoreReadOnlyError, match="is not writable; make both writable, or set KGTUI_HOME"):
                store.begin_session("after")
        assert filled.read_bytes() == before

    def test_read_only_opening_creates_no_store(self, folder):
        with pytest.raises(StorePathError, match="no session store here; the first run creates one"):
            open_store(folder / "none" / "sessions.db", read_only=True)
        assert list(folder.iterdir()) == []

    def test_empty_file_is_left_to_first_run(self, path):
        path.write_bytes(b"")
        with pytest.raises(StorePathError, match="this file is empty; the first run creates the store"):
            open_store(path, read_only=True)
        assert path.read_bytes() == b""

    def test_events_still_in_wal_are_read(self, store, judge, path):
        judge()
        assert path.with_name("sessions.db-wal").stat().st_size > 0
        with open_store(path, read_only=True) as reader:
            assert [run.state for run in reader.runs()] == [RunState.FINISHED]

    def test_new_store_in_unwritable_folder_is_refused(self, folder, unprivileged):
        with pytest.raises(StoreReadOnlyError, match=f"{folder}/sessions.db: the file or its folder is not writable"):
            open_store(folder / "sessions.db")

    def test_a_folder_that_cannot_be_made(self, folder, unprivileged):
        with pytest.raises(StoreReadOnlyError, match="is not writable"):
            open_store(folder / "new" / "sessions.db")

    def test_unwritable_file_in_writable_folder_is_read(self, filled, folder, unprivileged_later):
        folder.chmod(0o777)
        with unprivileged_later(), pytest.raises(StoreReadOnlyError, match="is not writable"):
            open_store(filled)

    def test_unwritable_store_is_still_read(self, filled, unprivileged):
        with open_store(filled, read_only=True) as store:
            assert [session.label for session in store.sessions()] == ["before"]

    def test_unreadable_file_is_refused(self, filled, unprivileged_later):
        filled.chmod(0)
        with unprivileged_later(), pytest.raises(StorePathError, match="cannot open or create this file; check the"):
            open_store(filled, read_only=True)


class SmallDisk:
    """One megabyte of memory as a disk of its own, which `fill` leaves without a byte."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
        if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("a disk that can be filled takes the right to mount one")
        self.folder, self.path = folder, folder / "sessions.db"

    def fill(self) -> None:
        with contextlib.suppress(OSError), (self.folder / "filling").open("wb", buffering=0) as filling:
            while True:
                filling.write(bytes(4096))

    def free(self) -> None:
        (self.folder / "filling").unlink()


class TestFullDisk:
    @pytest.fixture
    def disk(self, tmp_path):
        """A small disk for a store."""
        made = SmallDisk(tmp_path / "disk")
        yield made
        subprocess.run(["umount", made.folder], check=True)

    def test_new_store_on_full_disk_is_refused(self, disk):
        disk.fill()
        with pytest.raises(StoreFullError, match="no space left on the disk"):
            open_store(disk.path)

    def test_full_disk_allows_reading(self, disk):
        with open_store(disk.path) as store:
            store.begin_session("before")
        disk.fill()
        with open_store(disk.path, read_only=True) as store:
            assert [session.label for session in store.sessions()] == ["before"]

    def test_writing_to_full_disk_states_kept_and_continues(self, disk):
        open_store(disk.path).close()
        disk.fill()
        with pytest.raises(StoreFullError, match="earlier records are kept; free some space, then try again"):
            open_store(disk.path)
        disk.free()
        with open_store(disk.path) as store:
            assert store.begin_session("after") == 1


def test_store_in_memory_works_like_file(begin_in, whole_run):
    with open_memory_store() as store:
        run_id = begin_in(store)
        for event in whole_run:
            store.record(run_id, event)
        assert store.path is None
        assert tuple(store.events(run_id)) == whole_run
        with pytest.raises(StoreError, match="the store in memory: SQLite refused the request: FOREIGN KEY"):
            store.record(9, whole_run[0])


def test_two_stores_in_memory_are_independent(begin_in):
    with open_memory_store() as one, open_memory_store() as other:
        begin_in(one)
        assert other.runs() == ()


def test_importing_the_package_imports_nothing_heavy(path):
    looked_at = ("sqlite_utils", "torch", "triton", "numpy", "textual")
    code = f"import sessions, sys; print([name for name in {looked_at} if name in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == "[]\n"


def test_opening_current_store_does_not_import_sqlite_utils(path):
    open_store(path).close()
    code = """
import pathlib, sys
from sessions import open_store
with open_store(pathlib.Path(sys.argv[1])):
    print("sqlite_utils" in sys.modules)
"""
    output = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True).stdout
    assert output == "False\n"
