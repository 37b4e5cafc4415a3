"""The file of an open store is deleted or replaced: the runs of the session go on in the file at the path."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model import Candidate, Tier
from engine.model.events import Event
from sessions import RunKey, RunState, Store, StoreDamagedError, open_store
from sessions.candidates.checked import ListedCandidate
from sessions.candidates.generation_rows import Attempt, CostBy, GenerationState, Limits
from tests.generated import NEW_GENERATION, Generation, add_generation, settlement

GENERATION = Generation(
    problem="aten::softmax",
    provider="p",
    model="m",
    prompt_tokens=1,
    completion_tokens=2,
    cost_microusd=3,
    source=b"def softmax(x): ...\n",
    elapsed_s=1.0,
)
CANDIDATE = ListedCandidate(name="a.py", problem="aten::softmax", sample=1, digest="a")

Begin = Callable[..., int]
Notices = list[tuple[str, dict[int, int]]]


@pytest.fixture
def notices(store: Store) -> Notices:
    said: Notices = []
    store.on_moved = lambda sentence, numbers: said.append((sentence, dict(numbers)))
    return said


@pytest.fixture
def other(whole_run: tuple[Event, ...], tmp_path: Path) -> Path:
    """Another store with two sessions of one run each."""
    path = tmp_path / "other.db"
    with open_store(path) as store:
        for label in ("one", "two"):
            session = store.begin_session(label)
            run = store.begin_run(
                session,
                Candidate(source=b"other", problem="aten::silu"),
                device="cpu",
                target=None,
                tiers=(Tier.FULL,),
                path=None,
            )
            store.record_all(run, whole_run[:1])
    return path


def delete_file(path: Path) -> None:
    path.unlink()


def delete_all_files(path: Path) -> None:
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.fixture(params=[delete_file, delete_all_files])
def delete(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    removal: Callable[[Path], None] = request.param
    return removal


def integrity(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        broken = [row[0] for row in connection.execute("pragma integrity_check")]
        assert connection.execute("pragma foreign_key_check").fetchall() == []
    return broken


def test_deleted_store_is_recreated_with_whole_run(
    whole_run: tuple[Event, ...],
    store: Store,
    begin: Begin,
    path: Path,
    notices: Notices,
    delete: Callable[[Path], None],
) -> None:
    run = begin()
    store.record_all(run, whole_run[:6])
    delete(path)
    store.record_all(run, whole_run[6:])
    with open_store(path) as seen:
        assert tuple(seen.events(run)) == whole_run
        assert seen.run(run) == store.run(run)
        assert seen.environment(1) == {"triton": "3.9.0", "torch": "2.13.0"}
    assert notices == [
        (
            f"session store {path} was deleted while in use: a new one was created, "
            "the 1 run of this session was copied to it",
            {},
        )
    ]
    assert integrity(path) == ["ok"]


def test_every_table_is_copied_with_the_session(
    whole_run: tuple[Event, ...], store: Store, begin: Begin, path: Path, session_id: int
) -> None:
    store.record_all(begin(), whole_run)
    add_generation(store, session_id, GENERATION)
    batch = store.generations.begin_batch(session_id, "{}", Limits(tokens=9))
    generation = store.generations.reserve(session_id, batch, NEW_GENERATION)
    store.generations.add_attempt(generation, Attempt(number=1, status=429, message="too many requests"))
    store.generations.add_save(generation, 1)
    store.checked.begin(session_id, "{}", (CANDIDATE,))
    store.note_answer(1, path=None)
    before = contents(path)
    delete_all_files(path)
    assert store.runs()[0].id == 1
    after = contents(path)
    assert after == before
    assert {table for table, rows in after.items() if not rows} == {
        "benchmarks",
        "comparisons",
        "summaries",
        "baselines",
    }


def test_a_reserved_generation_is_settled_in_the_successor(store: Store, path: Path, session_id: int) -> None:
    batch = store.generations.begin_batch(session_id, "{}", Limits())
    generation = store.generations.reserve(session_id, batch, NEW_GENERATION)
    path.unlink()
    with open_store(path) as other:
        session = other.begin_session("another")
        other_batch = other.generations.begin_batch(session, "{}", Limits())
        other.generations.reserve(session, other_batch, NEW_GENERATION)
    store.generations.settle(generation, settlement(received="no code here"))
    rows = store.generations.of_batch(batch)
    assert [(row.state, row.received) for row in rows] == [(GenerationState.SETTLED, "no code here")]


def test_earlier_run_costs_nothing_after_renumbering(store: Store, judge: Begin, path: Path, other: Path) -> None:
    run, session = judge(), store.runs()[0].session
    batch = store.generations.begin_batch(session, "{}", Limits())
    generation = store.generations.reserve(session, batch, NEW_GENERATION)
    store.generations.settle(generation, settlement())
    store.generations.attach_run(generation, run)
    other.replace(path)
    (row,) = store.generations.of_batch(batch)
    assert row.run is not None
    assert (run, row.run.number) == (1, 3)
    assert [cost.engine_s for cost in store.generations.costs(CostBy.MODEL)] == [0.0]


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = [
            row[0]
            for row in connection.execute("select name from sqlite_master where type = 'table' order by name")
            if not row[0].startswith(("sqlite_", "_sqlite"))
        ]
        return {table: connection.execute(f"select * from {table}").fetchall() for table in tables}


def test_next_run_after_deletion_has_next_number(store: Store, begin: Begin, path: Path) -> None:
    begin()
    delete_all_files(path)
    assert begin() == 2
    assert [run.id for run in store.runs()] == [2, 1]


def test_runs_of_earlier_sessions_are_not_repeated(store: Store, path: Path, notices: Notices) -> None:
    with open_store(path) as earlier:
        session = earlier.begin_session("earlier")
        candidate = Candidate(source=b"", problem="aten::softmax")
        earlier.begin_run(session, candidate, device="cpu", target=None, tiers=(), path=None)
    delete_all_files(path)
    assert store.runs() == ()
    assert notices == [(f"session store {path} was deleted while in use: a new one was created", {})]


def test_run_answering_save_is_copied_from_its_session(store: Store, session_id: int, path: Path) -> None:
    candidate = Candidate(source=b"", problem="aten::softmax")
    with open_store(path) as earlier:
        for number in range(2):
            session = earlier.begin_session(f"earlier {number}")
            earlier.begin_run(session, candidate, device="cpu", target=None, tiers=(), path=None)
    store.note_answer(2, path=None)
    delete_all_files(path)
    assert [(run.id, run.session) for run in store.runs()] == [(2, 3)]
    assert [row.id for row in store.sessions()] == [3, session_id]


def test_deleted_folder_is_recreated(whole_run: tuple[Event, ...], begin: Begin, tmp_path: Path) -> None:
    path = tmp_path / "home" / "sessions.db"
    with open_store(path) as store:
        session = store.begin_session("s")
        run = store.begin_run(
            session, Candidate(source=b"", problem="p"), device="cpu", target=None, tiers=(), path=None
        )
        delete_folder(path)
        store.record_all(run, whole_run)
        with open_store(path, read_only=True) as seen:
            assert tuple(seen.events(run)) == whole_run


def test_replacement_store_is_used_with_new_numbers(
    whole_run: tuple[Event, ...], store: Store, begin: Begin, path: Path, other: Path, notices: Notices
) -> None:
    run = begin()
    store.record_all(run, whole_run[:6])
    other.replace(path)
    store.record_all(run, whole_run[6:])
    assert [(row.id, row.session, row.problem) for row in store.runs()] == [
        (3, 3, "aten::softmax"),
        (2, 2, "aten::silu"),
        (1, 1, "aten::silu"),
    ]
    assert tuple(store.events(3)) == whole_run
    assert tuple(store.events(1)) == whole_run[:1]
    assert begin() == 4
    assert store.run(4).session == 3
    assert notices == [
        (
            f"session store {path} was replaced while in use: the new file is used from now on, "
            "the 1 run of this session was copied to it",
            {1: 3},
        )
    ]
    assert integrity(path) == ["ok"]


def test_log_of_former_file_is_not_read(
    whole_run: tuple[Event, ...], store: Store, begin: Begin, path: Path, other: Path, tmp_path: Path
) -> None:
    reader = sqlite3.connect(path)  # keeps the log from being emptied
    reader.execute("begin")
    reader.execute("select * from sessions").fetchall()
    store.record_all(begin(), whole_run)
    assert path.with_name("sessions.db-wal").stat().st_size
    other.replace(path)
    assert [run.problem for run in store.runs()] == ["aten::softmax", "aten::silu", "aten::silu"]
    assert integrity(path) == ["ok"]
    reader.close()


def test_nonstore_file_is_kept_and_reported(
    whole_run: tuple[Event, ...], store: Store, begin: Begin, path: Path, tmp_path: Path, notices: Notices
) -> None:
    run = begin()
    store.record_all(run, whole_run[:6])
    (tmp_path / "notes").write_bytes(b"no database " * 100)
    (tmp_path / "notes").replace(path)
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match="not a readable session store"):
            store.record_all(run, whole_run[6:])
    assert path.read_bytes() == b"no database " * 100
    assert notices == []
    path.unlink()
    store.record_all(run, whole_run[6:])
    assert tuple(store.events(run)) == whole_run


def test_store_replaced_twice_keeps_the_run(
    whole_run: tuple[Event, ...], store: Store, begin: Begin, path: Path, other: Path, tmp_path: Path, notices: Notices
) -> None:
    copies = [Path(shutil.copy(other, tmp_path / f"copy{number}")) for number in range(2)]
    run = begin()
    for number, copy in enumerate(copies):
        copy.replace(path)
        store.record_all(run, whole_run[number : number + 1])
    other.replace(path)
    store.record_all(run, whole_run[2:])
    assert [numbers for _, numbers in notices] == [{1: 3}, {}, {}]
    assert tuple(store.events(store.runs()[0].id)) == whole_run


def test_deleted_store_is_not_recreated_by_closing(store: Store, begin: Begin, path: Path) -> None:
    begin()
    delete_all_files(path)
    store.close()
    assert not path.exists()


def test_replaced_store_marks_running_runs_interrupted(path: Path, other: Path) -> None:
    with open_store(path) as store:
        session = store.begin_session("s")
        store.begin_run(session, Candidate(source=b"", problem="p"), device="cpu", target=None, tiers=(), path=None)
        other.replace(path)
        assert store.runs()[0].state is RunState.RUNNING
    with open_store(path) as seen:
        assert seen.runs()[0].state is RunState.INTERRUPTED
        assert seen.sessions()[0].ended_at is not None


def test_same_text_is_answered_from_new_store(
    whole_run: tuple[Event, ...], store: Store, begin: Begin, session_id: int, path: Path, other: Path
) -> None:
    run = begin()
    store.record_all(run, (*whole_run[:1], whole_run[-1]))
    digest = store.run(run).digest
    other.replace(path)
    key = RunKey(
        digest=digest, problem="aten::softmax", device="cpu", target="sm_90", tiers=(Tier.SMOKE,), session=session_id
    )
    found = store.find_cached(key)
    assert found is not None
    assert found.id == 3
