"""Keeping a run while the store is locked or the disk is full: said once, and the run goes on."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from engine.model import Candidate, Stream, Tier
from engine.model.events import LogWritten
from kgtui.cli.run_recorder import Keeper, artefact_folder, open_keeper
from kgtui.settings.paths import Paths
from sessions import open_store


@pytest.fixture
def paths(home) -> Paths:
    return Paths(data=home, config=home / "config.toml")


async def begin(keeper: Keeper) -> None:
    await keeper.begin(
        Candidate(source=b"", problem="aten::silu"),
        label="check",
        environment={},
        device="cpu",
        target=None,
        tiers=(Tier.SMOKE,),
        path=None,
    )


def logged(text: str) -> LogWritten:
    return LogWritten(at_s=0.0, stream=Stream.STDOUT, text=text)


async def test_a_store_that_somebody_else_holds_locked_is_said_once(paths):
    said = []
    keeper = open_keeper(paths, warn=said.append, busy_timeout_s=0.01)
    with contextlib.closing(sqlite3.connect(paths.sessions)) as other:
        other.execute("begin immediate")
        await begin(keeper)
        await keeper.record(logged("unkept"))
    keeper.close()
    assert keeper.number is None
    (message,) = said
    assert message.startswith(f"the run goes on, but is not kept from here on: {paths.sessions}: another process has")


async def test_a_store_that_is_deleted_is_made_again_and_said_once(paths):
    said = []
    keeper = open_keeper(paths, warn=said.append)
    await begin(keeper)
    await keeper.record(logged("before"))
    paths.sessions.unlink()
    await keeper.record(logged("after"))
    await keeper.record(logged("later"))
    keeper.close()
    assert keeper.number == 1
    assert said == [
        f"session store {paths.sessions} was deleted while in use: a new one was created, "
        "the 1 run of this session was copied to it"
    ]
    with open_store(paths.sessions) as reopened:
        assert [event.text for event in reopened.events(1)] == ["before", "after", "later"]


async def test_a_disk_that_becomes_full_keeps_what_was_recorded(paths):
    said = []
    store = open_store(paths.sessions)
    keeper = Keeper(store, warn=said.append)
    await begin(keeper)
    await keeper.record(logged("kept"))
    pages = store._database.rows("pragma page_count")[0][0]
    store._database.rows(f"pragma max_page_count = {pages}")
    await keeper.record(logged("x" * 100_000))
    await keeper.record(logged("unkept"))
    keeper.close()
    (message,) = said
    assert "no space left on the disk" in message
    with open_store(paths.sessions) as reopened:
        assert [event.text for event in reopened.events(1)] == ["kept"]


async def test_a_keeper_without_a_store_says_nothing():
    said = []
    keeper = Keeper(None, warn=said.append)
    await begin(keeper)
    await keeper.record(logged("unkept"))
    keeper.close()
    assert (keeper.number, said) == (None, [])


def test_compiled_code_that_is_not_kept_is_removed(paths):
    with artefact_folder(paths, is_kept=False, warn=pytest.fail) as artefacts:
        artefacts.put("ptx", b"code")
        assert artefacts.folder.exists()
    assert not artefacts.folder.exists()
    assert not paths.data.exists()
