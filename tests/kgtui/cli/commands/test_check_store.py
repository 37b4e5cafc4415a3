"""`kgtui check` and the store: events, session, artefacts, and a store that cannot be used."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from pathlib import Path

import pytest

from engine.model import Outcome, Tier
from kgtui.cli.command_line import parse
from kgtui.cli.commands import check
from kgtui.cli.runs import run_command
from sessions import RunFilter, open_store


def test_event_is_stored_before_printing(checked, kernel, home, monkeypatch):
    kinds = {"run": "RunStarted", "case": "CaseFinished", "verdict": "RunFinished"}
    printed, missing = run_command.print_state, []

    def look(request, console, line):
        with sqlite3.connect(home / "sessions.db") as connection:
            stored = {kind for (kind,) in connection.execute("select kind from events")}
        missing.extend({kinds[line.label]} - stored if line.label in kinds else ())
        printed(request, console, line)

    monkeypatch.setattr(run_command, "print_state", look)
    ended = checked("silu.py", "--cases", "smoke")
    assert [line.split()[0] for line in ended.out.splitlines()][-1] == "verdict"
    assert missing == []


def test_run_is_stored_in_session_with_environment(checked, kernel, home):
    checked("silu.py", "--cases", "smoke", "--device", "cpu")
    with open_store(home / "sessions.db") as store:
        (session,) = store.sessions()
        (run,) = store.runs(RunFilter(session=session.id))
        assert (session.label, session.ended_at is None) == ("check", False)
        assert (run.outcome, run.path, run.tiers) == (Outcome.PASS, kernel, (Tier.SMOKE,))
        assert {"kgtui", "torch", "triton", "python", "device"} <= set(store.environment(session.id))


def test_nothing_is_stored_on_request(checked, engine, kernel, home):
    ended = checked("silu.py", "--no-store", "--json")
    assert json.loads(ended.out)["run"] is None
    assert not home.exists()
    assert not engine.artefacts.folder.exists()


def test_compiled_code_is_written_to_users_folder(checked, engine, kernel, home):
    checked("silu.py")
    assert engine.artefacts.folder == home / "artefacts"


def _make_damaged(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)


def _make_newer(path: Path) -> None:
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 999")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(_make_damaged, "not a readable session store"), (_make_newer, "has schema version 999"), (Path.mkdir, "folder")],
    ids=["damaged", "newer", "folder"],
)
def test_unusable_store_is_reported_and_run_continues(checked, kernel, home, spoil, reason):
    home.mkdir()
    spoil(home / "sessions.db")
    ended = checked("silu.py")
    assert ended.exit_code == 0
    assert ended.err.startswith(f"kgtui: the run continues, but is not saved: {home}/sessions.db: ")
    assert reason in ended.err


def test_unwritable_home_is_reported_and_run_continues(console, engine, public_folder, without_root, kernel):
    (public_folder / "silu.py").write_text(kernel.read_text())
    (public_folder / "home").mkdir(mode=0o555)
    readable = dataclasses.replace(
        console, environment={"KGTUI_HOME": str(public_folder / "home")}, folder=public_folder
    )
    options = parse(["check", "silu.py"]).options
    check.run(options, console, engine_factory=engine)  # everything that is imported late, while it can be read
    with without_root():
        exit_code = check.run(options, readable, engine_factory=engine)
    assert exit_code == 0
    assert "the run continues, but is not saved: " in console.err.getvalue()
    assert "compiled code is not saved: " in console.err.getvalue()
    assert engine.artefacts.folder.parent != public_folder / "home"
