"""Deleting a run or a session: all of it goes, and nothing that another one needs."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from engine.errors import UsageError
from engine.model import Outcome
from sessions import StoreLockedError, open_store
from tests.generated import Generation, add_generation

TABLES = (
    "runs", "events", "cases", "findings", "timings", "kernels", "artefacts", "benchmarks", "comparisons", "summaries",
    "baselines", "proofs",
)  # fmt: skip


def left(ask, table):
    return ask(f"select count(*) from {table}")[0][0]


class TestOneRun:
    def test_run_is_deleted_with_all_its_rows(self, store, begin, whole_run, time, ask):
        store.record_all(begin(), whole_run)
        time(source=b"timed")
        assert min(left(ask, table) for table in TABLES) > 0
        assert store.delete_run(1).runs == 1
        assert store.delete_run(2).runs == 1
        assert {table: left(ask, table) for table in (*TABLES, "candidates")} == dict.fromkeys(
            (*TABLES, "candidates"), 0
        )
        assert ask("pragma foreign_key_check") == []

    def test_deleting_run_keeps_other_runs(self, store, begin, whole_run):
        for _ in range(2):
            store.record_all(begin(), whole_run)
        store.delete_run(1)
        assert [run.id for run in store.runs()] == [2]
        assert tuple(store.events(2)) == whole_run

    def test_deleted_run_number_is_not_reused(self, store, judge):
        judge()
        store.delete_run(judge())
        assert judge() == 3

    def test_source_used_elsewhere_is_kept(self, store, session_id, judge, ask):
        first, second = judge(source=b"shared"), judge(source=b"shared")
        store.delete_run(first)
        assert left(ask, "candidates") == 1
        add_generation(store, session_id, Generation(
            problem="aten::softmax", provider="p", model="m", prompt_tokens=1, completion_tokens=1, cost_microusd=None,
            source=b"shared", elapsed_s=1.0,
        ))  # fmt: skip
        store.delete_run(second)
        assert left(ask, "candidates") == 1

    def test_unused_compiled_code_is_named(self, store, begin, whole_run):
        first, second = begin(), begin()
        store.record_all(first, whole_run)
        store.record_all(second, whole_run)
        assert store.delete_run(first).artefacts == ()
        assert sorted(store.delete_run(second).artefacts) == ["a" * 64, "b" * 64, "c" * 64]

    def test_baseline_is_taken_from_newest_remaining_run(self, store, time, reported):
        for eager_us in (100.0, 110.0, 120.0):
            time(reported.case(baselines={"eager": eager_us}), reported.summary())
        store.delete_run(3)
        assert [(row.run_id, row.device_us) for row in store.baselines("aten::softmax", device_name="A GPU")] == [
            (2, 110.0)
        ]
        store.delete_run(1)
        store.delete_run(2)
        assert store.baselines("aten::softmax", device_name="A GPU") == ()

    def test_baseline_of_newer_run_is_not_replaced(self, store, time, reported):
        time(reported.case(baselines={"eager": 100.0, "compile": 80.0}), reported.summary())
        time(reported.case(baselines={"compile": 70.0}), reported.summary())
        time(reported.case(baselines={"eager": 110.0}), reported.summary())
        store.delete_run(3)
        known = {row.baseline: row.run_id for row in store.baselines("aten::softmax", device_name="A GPU")}
        assert known == {"eager": 1, "compile": 2}

    def test_active_run_is_not_deleted(self, store, begin):
        with pytest.raises(UsageError, match="run #1 is still running; wait for its verdict"):
            store.delete_run(begin())
        assert [run.id for run in store.runs()] == [1]

    def test_a_run_that_was_cut_short_is(self, path, store, begin, session_id):
        begin()
        store.end_session(session_id)
        assert store.delete_run(1).runs == 1

    def test_missing_run_is_reported(self, store, judge):
        judge()
        with pytest.raises(UsageError, match=r"there is no run #9 in .*; the newest is #1"):
            store.delete_run(9)


class TestSession:
    def test_session_is_deleted_with_runs_answers_environment(self, path, store, judge, ask):
        with open_store(path) as another:
            session = another.begin_session("to go", environment={"torch": "2.13.0"})
            add_generation(another, session, Generation(
                problem="aten::softmax", provider="p", model="m", prompt_tokens=1, completion_tokens=1,
                cost_microusd=7, source=b"answer", elapsed_s=1.0,
            ))  # fmt: skip
        judge()
        judge(Outcome.WRONG_VALUE, session=session, source=b"answer")
        assert store.delete_session(session).runs == 1
        assert [row.label for row in store.sessions()] == ["a morning"]
        assert [run.id for run in store.runs()] == [1]
        assert left(ask, "generations") == 0
        assert left(ask, "candidates") == 1
        assert ask("pragma foreign_key_check") == []

    def test_active_session_is_not_deleted(self, store, session_id):
        with pytest.raises(UsageError, match=f"session {session_id} is still open in process"):
            store.delete_session(session_id)

    def test_missing_session_is_reported(self, store):
        with pytest.raises(UsageError, match="there is no session 4"):
            store.delete_session(4)


class TestTheRoomThatIsLeft:
    def test_space_is_returned_to_disk_and_data_stays(self, path, store, judge, whole_run, begin):
        for number in range(50):
            judge(source=b"%d" % number * 10_000)
        kept = begin(source=b"kept")
        store.record_all(kept, whole_run)
        for number in range(1, 51):
            store.delete_run(number)
        assert store.compact() is True
        assert path.stat().st_size < 250_000
        assert ([run.id for run in store.runs()], tuple(store.events(kept))) == ([kept], whole_run)
        assert judge() == kept + 1

    def test_reader_keeps_its_data_until_file_shrinks(self, path, store, judge):
        for number in range(50):
            judge(source=b"%d" % number * 10_000)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("begin")
            assert reader.execute("select count(*) from runs").fetchone() == (50,)
            for number in range(1, 51):
                store.delete_run(number)
            with open_store(path, busy_timeout_s=0.01) as other:
                assert other.compact() is False
            assert reader.execute("select count(*) from runs").fetchone() == (50,)
        store.close()
        assert path.stat().st_size < 250_000

    def test_compacting_while_locked_is_refused(self, path, judge):
        judge()
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("begin immediate")
            with open_store(path, busy_timeout_s=0.01) as other, pytest.raises(StoreLockedError):
                other.compact()
