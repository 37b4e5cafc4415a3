"""`kgtui sessions`: lists, shows and exports what a check has kept."""

from __future__ import annotations

import json

import pytest

from engine.model import CacheState, Outcome
from engine.model.benchmark import CaseBenchmark, Interval, Method, Timing
from engine.model.events import CaseBenchmarked
from kgtui.state.format.numbers import bytes_of
from sessions import open_store
from tests.kgtui.cli.documents import require_valid


@pytest.fixture
def two_runs(checked, engine, kernel):
    """A failed run #1 and a passed run #2, each in a session of its own; returns what the second printed."""
    engine.outcome = Outcome.WRONG_VALUE
    checked("silu.py", "--cases", "smoke")
    engine.outcome = Outcome.PASS
    return checked("silu.py", "--cases", "smoke").out


def test_without_a_store_the_next_step_is_named(typed, home):
    ended = typed("sessions")
    assert (ended.exit_code, ended.err) == (
        3,
        f"kgtui: {home}/sessions.db: no session store here; the first run creates one\n",
    )
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--format=json"], "unrecognized arguments: --format=json; `kgtui sessions list --help` shows the"),
        (["list", "--since", "today"], "unrecognized arguments: --since; `kgtui sessions list --help` shows the"),
        (["--output=x"], "unrecognized arguments: --output=x; `kgtui sessions list --help` shows the"),
        (["show", "--runs"], "unrecognized arguments: --runs; `kgtui sessions show --help` shows the"),
        (["shw", "1"], "no such subcommand of `kgtui sessions`: 'shw'; did you mean `kgtui sessions show`?"),
        (["3"], "no such subcommand of `kgtui sessions`: '3'; use one of compact, delete, export, list, note, restore"),
        (["compact", "1"], "`kgtui sessions compact` takes no number: it shrinks the whole file"),
        (["show", "abc"], "argument RUN: expected a number from 1 on, got 'abc'; `kgtui sessions show --help` shows"),
        (["list", "--limit", "0"], "argument --limit: expected a number from 1 on, got '0'; `kgtui sessions list --h"),
        (["--limit", "1", "list"], "a list takes no number; `kgtui sessions show RUN` shows a run"),
        (["restore", "1", "my x.py"], "FILE is an option: `kgtui sessions restore 1 --output 'my x.py'`"),
        (["tag", "1"], "give a tag or --remove: `kgtui sessions tag 1 WORD` or `kgtui sessions tag 1 --remove`"),
        (["note", "1"], "give a note or --remove: `kgtui sessions note 1 TEXT` or `kgtui sessions note 1 --remove`"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(typed, two_runs, arguments, said):
    ended = typed("sessions", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith(f"kgtui: {said}")


def test_sessions_are_listed_newest_first(typed, two_runs):
    header, newest, oldest = typed("sessions").out.splitlines()
    assert header.split() == ["session", "started", "(UTC)", "what", "runs", "passed", "flagged"]
    assert (newest.split()[0], newest.split()[3:]) == ("2", ["check", "1", "1", "0"])
    assert (oldest.split()[0], oldest.split()[3:]) == ("1", ["check", "1", "0", "0"])


def test_runs_are_listed_newest_first(typed, two_runs, kernel):
    _, newest, oldest = typed("sessions", "list", "--runs").out.splitlines()
    assert (newest.split()[0], newest.split()[3:]) == ("#2", ["aten::silu", "pass", "3/3", str(kernel)])
    assert (oldest.split()[0], oldest.split()[4]) == ("#1", "wrong_value")


def test_counts_of_listed_runs_are_of_passed_cases(typed, two_runs):
    header, *rows = typed("sessions", "list", "--runs").out.splitlines()
    place = header.index("passed")
    assert [row[place:].split()[0] for row in rows] == ["3/3", "0/3"]


def test_a_list_may_be_shorter(typed, two_runs):
    assert len(typed("sessions", "--limit", "1").out.splitlines()) == 2


def test_shown_run_equals_output_of_check(typed, two_runs, kernel):
    assert typed("sessions", "show").out == two_runs.replace(" silu.py ", f" {kernel} ")
    assert typed("sessions", "show", "2").out == typed("sessions", "show").out
    assert "verdict  wrong_value" in typed("sessions", "show", "1").out


@pytest.fixture
def timed_run(checked, engine, kernel):
    """A run of which one case was timed."""
    span = Interval(value=12.5, low=12.25, high=12.75)
    case = CaseBenchmark(
        case="4096x4096 f32",
        outcome=Outcome.PASS,
        cache=CacheState.COLD,
        elapsed_s=0.5,
        timing=Timing(side="candidate", method=Method.CUPTI, device_us=span, call_us=None),
    )
    engine.extra = (CaseBenchmarked(at_s=0.2, number=1, total=1, benchmark=case),)
    checked("silu.py", "--cases", "smoke")


def test_run_is_shown_with_its_timings(typed, timed_run):
    shown = typed("sessions", "show").out
    assert "4096x4096 f32 device 12.50 us (12.25 .. 12.75), call not measured" in shown


def test_measurements_are_exported_as_csv(timed_run, typed):
    header, row = (line.split(",") for line in typed("sessions", "export", "--format", "csv").out.splitlines()[-2:])
    reported = dict(zip(header, row, strict=True))
    assert (reported["case"], reported["side"], reported["device_us"], reported["call_us"]) == (
        "4096x4096 f32",
        "candidate",
        "12.5",
        "",
    )


def test_missing_run_is_usage_error(typed, two_runs):
    ended = typed("sessions", "show", "9")
    assert ended.exit_code == 2
    assert "there is no run #9" in ended.err
    assert ended.err.endswith("the newest is #2\n")


def test_the_newest_session_is_exported_by_default(typed, two_runs):
    document = require_valid(typed("sessions", "export").out)
    assert (document["schema"], document["session"]["id"]) == ("kgtui.session/1", 2)


def test_a_session_or_a_run_may_be_named(typed, two_runs):
    assert json.loads(typed("sessions", "export", "1").out)["session"]["id"] == 1
    assert json.loads(typed("sessions", "export", "--run", "1").out)["runs"][0]["id"] == 1
    assert typed("sessions", "export", "1", "--run", "1").exit_code == 2


def test_the_events_as_lines(typed, two_runs):
    lines = typed("sessions", "export", "--format", "jsonl").out.splitlines()
    assert json.loads(lines[0])["event"] == "RunStarted"
    assert json.loads(lines[-1])["event"] == "RunFinished"


def test_an_export_to_a_file_overwrites_none(typed, two_runs, folder):
    assert typed("sessions", "export", "--format", "markdown", "--output", "page.md").out == "wrote page.md\n"
    assert (folder / "page.md").read_text().startswith("# Session 2: check\n")
    ended = typed("sessions", "export", "--output", "page.md")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: page.md exists and is not overwritten; name another FILE\n",
    )


def test_list_with_run_number_is_refused(typed, two_runs):
    assert typed("sessions", "list", "2").err == (
        "kgtui: a list takes no number; `kgtui sessions show RUN` shows a run\n"
    )


def test_damaged_store_stays_unchanged(typed, home):
    home.mkdir()
    (home / "sessions.db").write_bytes(b"this is no database" * 100)
    ended = typed("sessions")
    assert ended.exit_code == 3
    assert "not a readable session store" in ended.err
    assert (home / "sessions.db").read_bytes() == b"this is no database" * 100


def test_tag_and_note_are_added_listed_and_removed(typed, two_runs):
    assert typed("sessions", "tag", "1", "keep").out == "run #1: tag keep\n"
    assert typed("sessions", "note", "1", "a [tail] mask").out == "run #1: note saved\n"
    header, found = typed("sessions", "--find", "tag:keep mask").out.splitlines()
    assert header.split()[-2:] == ["tag", "note"]
    assert found.startswith("#1 ")
    assert found.endswith("  keep  a [tail] mask")
    assert typed("sessions", "tag", "1", "--remove").out == "run #1: tag removed\n"
    assert typed("sessions", "note", "1", "--remove").out == "run #1: note removed\n"
    assert typed("sessions", "--runs").out.splitlines()[0].endswith("file")


def test_note_needs_no_quotes(typed, two_runs):
    assert typed("sessions", "note", "1", "a", "tail", "mask").out == "run #1: note saved\n"
    assert typed("sessions", "--find", "mask").out.splitlines()[-1].endswith("  a tail mask")


def test_runs_are_found_as_in_history(typed, two_runs):
    assert [line.split()[0] for line in typed("sessions", "--find", "is:failed").out.splitlines()[1:]] == ["#1"]
    ended = typed("sessions", "--find", "colour:red")
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith("kgtui: unknown filter colour:; use op:, file:, ")


def test_source_is_restored_only_into_new_file(typed, two_runs, kernel, folder):
    source = kernel.read_bytes()
    assert typed("sessions", "restore", "2").out == "wrote kernels/silu_run2.py\n"
    assert (folder / "kernels" / "silu_run2.py").read_bytes() == source
    assert typed("sessions", "restore", "2").out == "wrote kernels/silu_run2_2.py\n"
    kernel.write_text("mine\n")
    ended = typed("sessions", "restore", "2", "--output", "silu.py")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: silu.py exists and is not overwritten; name another FILE\n",
    )
    assert kernel.read_text() == "mine\n"


def test_source_is_restored_into_the_folder_of_the_settings(typed, two_runs, home, folder):
    (home / "config.toml").write_text('folder = "mine"\n')
    assert typed("sessions", "restore", "2").out == "wrote mine/silu_run2.py\n"
    assert (folder / "mine" / "silu_run2.py").is_file()


def test_a_run_is_deleted_when_that_is_confirmed(typed, two_runs):
    ended = typed("sessions", "delete", "1")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: this permanently deletes run #1 with its events, times and source; add --yes to confirm\n",
    )
    assert typed("sessions", "delete", "1", "--yes").out == "deleted run #1\n"
    assert [line.split()[0] for line in typed("sessions", "--runs").out.splitlines()[1:]] == ["#2"]


def test_a_session_is_deleted_with_its_runs(typed, two_runs):
    assert typed("sessions", "delete", "--session", "2", "--yes").out == (
        "deleted session 2 with 1 run; `kgtui sessions compact` shrinks the file\n"
    )
    assert [line.split()[0] for line in typed("sessions").out.splitlines()[1:]] == ["1"]


def test_space_of_deleted_runs_is_returned_to_disk(typed, checked, kernel, home):
    checked("silu.py", "--cases", "smoke")
    kernel.write_text(f"{kernel.read_text()}# {'x' * 200_000}\n")
    checked("silu.py", "--cases", "smoke")
    typed("sessions", "delete", "--session", "2", "--yes")
    before = (home / "sessions.db").stat().st_size
    ended = typed("sessions", "compact")
    after = (home / "sessions.db").stat().st_size
    assert after < before - 150_000
    assert ended.out == f"{home}/sessions.db: {bytes_of(before)} before, {bytes_of(after)} now\n"
    assert typed("sessions", "--runs").out.splitlines()[1].startswith("#1 ")


def test_recent_writes_count_as_used_before(typed, checked, kernel, home):
    checked("silu.py", "--cases", "smoke")
    with open_store(home / "sessions.db") as busy:  # as long as somebody has it open, what comes waits in its file
        busy.begin_session("workbench", environment={})
        checked("silu.py", "--cases", "smoke")
        before = sum((home / name).stat().st_size for name in ("sessions.db", "sessions.db-wal"))
        assert f"{home}/sessions.db: {bytes_of(before)} before, " in typed("sessions", "compact").out


def test_missing_store_is_not_created_by_cleanup(typed, home):
    assert typed("sessions", "compact").err.endswith("no session store here; the first run creates one\n")
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tag", "9", "x"], "there is no run #9 in "),
        (["delete", "--yes"], "which run? `kgtui sessions delete RUN`; `kgtui sessions list --runs` lists them"),
        (["delete", "1", "--session", "1", "--yes"], "delete either a run or, with --session, a session; not both"),
        (["tag", "1", "two words"], "a tag is one word, 'two words' is not; `kgtui sessions note` takes many"),
        (["show", "1", "x"], "unrecognized arguments: x; `kgtui sessions show --help` shows the arguments"),
        (["list", "--yes"], "unrecognized arguments: --yes; `kgtui sessions list --help` shows the arguments"),
    ],
)
def test_unchangeable_run_is_reported(typed, two_runs, arguments, said):
    ended = typed("sessions", *arguments)
    assert (ended.exit_code, ended.out) == (2, "")
    assert ended.err.startswith(f"kgtui: {said}")


def test_tagging_without_store_creates_none(typed, home):
    assert typed("sessions", "tag", "1", "x").exit_code == 3
    assert not home.exists()
