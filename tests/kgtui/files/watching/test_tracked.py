"""The patience of the watcher, with every moment given: no thread, no clock, no waiting."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.static.source import MAX_SOURCE_BYTES
from kgtui.files.watching.reading import parses, places_of
from kgtui.files.watching.tracked import Report, Sight, TrackedFile
from kgtui.ports.file_events import Delays

DELAYS = Delays(settle_s=0.15, gone_s=0.3, empty_s=0.25, second_look_s=0.15, retry_s=0.01)
BROKEN = b"def broken(:\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_bytes(b"VALUE = 1\n")
    return path


@pytest.fixture
def file(path: Path) -> TrackedFile:
    file = TrackedFile(path, delays=DELAYS)
    file.begin(0.0)
    return file


def sights(reports: tuple[Report, ...]) -> list[Sight]:
    return [report.sight for report in reports]


def test_final_event_is_due_immediately(file: TrackedFile, path: Path) -> None:
    path.write_bytes(b"VALUE = 2\n")
    file.notice(1.0, final=True)
    assert file.due_s == 1.0
    assert file.look(1.0) == (Report(sight=Sight.CHANGED, at_s=1.0),)


def test_every_intermediate_event_postpones_the_look(file: TrackedFile) -> None:
    file.notice(1.0, final=False)
    file.notice(1.1, final=False)
    assert file.due_s == pytest.approx(1.25)


def test_broken_file_is_read_twice_before_report(file: TrackedFile, path: Path) -> None:
    path.write_bytes(BROKEN)
    file.notice(1.0, final=True)
    assert (file.look(1.0), file.due_s) == ((), pytest.approx(1.15))
    assert sights(file.look(1.15)) == [Sight.CHANGED]


def test_file_parsing_at_second_look_is_reported_whole(file: TrackedFile, path: Path) -> None:
    path.write_bytes(BROKEN)
    file.notice(1.0, final=True)
    file.look(1.0)
    path.write_bytes(b"def whole():\n    pass\n")
    assert sights(file.look(1.15)) == [Sight.CHANGED]
    assert file.content == b"def whole():\n    pass\n"


def test_event_during_second_look_does_not_restart_wait(file: TrackedFile, path: Path) -> None:
    path.write_bytes(BROKEN)
    file.notice(1.0, final=True)
    file.look(1.0)
    file.notice(1.1, final=True)
    assert (file.look(1.1), file.due_s) == ((), pytest.approx(1.15))


def test_an_empty_file_is_reported_after_its_patience(file: TrackedFile, path: Path) -> None:
    path.write_bytes(b"")
    file.notice(1.0, final=True)
    assert (file.look(1.0), file.due_s) == ((), pytest.approx(1.25))
    assert sights(file.look(1.25)) == [Sight.CHANGED]


def test_missing_file_is_reported_once_after_delay(file: TrackedFile, path: Path) -> None:
    path.unlink()
    file.notice(1.0, final=False)
    assert (file.look(1.15), file.due_s) == ((), pytest.approx(1.3))
    assert sights(file.look(1.3)) == [Sight.GONE]
    file.poll(2.0)
    assert file.due_s is None


def test_briefly_missing_file_is_not_reported(file: TrackedFile, path: Path) -> None:
    path.unlink()
    file.notice(1.0, final=True)
    assert file.look(1.0) == ()
    path.write_bytes(b"VALUE = 2\n")
    assert sights(file.look(1.3)) == [Sight.CHANGED]


def test_patience_with_missing_file_restarts_each_time(file: TrackedFile, path: Path) -> None:
    path.unlink()
    file.notice(1.0, final=True)
    file.look(1.0)
    path.write_bytes(b"VALUE = 2\n")
    file.look(1.2)
    path.unlink()
    file.notice(5.0, final=True)
    assert (file.look(5.0), file.due_s) == ((), pytest.approx(5.3))


def test_poll_waits_for_stable_status(file: TrackedFile, path: Path) -> None:
    path.write_bytes(b"VALUE = 22\n")
    file.poll(1.0)
    assert file.due_s == pytest.approx(1.15)
    path.write_bytes(b"VALUE = 222\n")
    assert (file.look(1.15), file.due_s) == ((), pytest.approx(1.3))
    assert sights(file.look(1.3)) == [Sight.CHANGED]
    assert file.content == b"VALUE = 222\n"


def test_poll_of_unchanged_file_causes_no_look(file: TrackedFile) -> None:
    file.poll(1.0)
    assert file.due_s is None


def test_same_content_under_new_inode_is_unchanged(file: TrackedFile, path: Path) -> None:
    path.unlink()
    path.write_bytes(b"VALUE = 1\n")
    file.notice(1.0, final=True)
    assert file.look(1.0) == ()


def test_oversized_file_is_unreadable_and_never_read(file: TrackedFile, path: Path) -> None:
    with path.open("r+b") as sparse:
        sparse.truncate(MAX_SOURCE_BYTES + 1)
    file.notice(1.0, final=True)
    (report,) = file.look(1.0)
    assert (report.sight, "4,194,305 bytes" in report.reason) == (Sight.UNREADABLE, True)
    path.write_bytes(b"VALUE = 1\n")
    file.notice(2.0, final=True)
    assert sights(file.look(2.0)) == [Sight.BACK]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("replace", "reason"),
    [
        (_pipe, "it is a named pipe"),
        (_endless, "it is a device"),
        (_loop, "its symbolic links form a loop"),
        (_folder, "it is a folder"),
    ],
)
def test_nonfile_in_place_of_file_is_reported(
    file: TrackedFile, path: Path, replace: Callable[[Path], None], reason: str
) -> None:
    path.unlink()
    replace(path)
    file.notice(1.0, final=True)
    (report,) = file.look(1.0)
    assert (report.sight, report.reason) == (Sight.UNREADABLE, reason)

    path.rmdir() if path.is_dir() else path.unlink()
    path.write_bytes(b"VALUE = 2\n")
    file.poll(2.0)
    assert file.due_s is not None
    reports = [*file.look(file.due_s), *(file.look(file.due_s) if file.due_s is not None else ())]
    assert [one.sight for one in reports] == [Sight.BACK, Sight.CHANGED]


def test_a_name_that_is_too_long_is_unreadable(tmp_path: Path) -> None:
    file = TrackedFile(tmp_path / ("k" * 300 + ".py"), delays=DELAYS)
    file.begin(0.0)
    (report,) = file.look(0.0)
    assert (report.sight, report.reason) == (Sight.UNREADABLE, "its name is too long for this file system")
    assert places_of(file.path) == (str(file.path),)


@pytest.mark.parametrize("source", [BROKEN, b"x = '\x00'", b"(" * 5000, b"\xff\xfe"])
def test_unparsable_text_is_broken(source: bytes) -> None:
    assert not parses(Path("kernel.py"), source)


def test_only_python_is_parsed() -> None:
    assert parses(Path("notes.txt"), BROKEN)


@pytest.mark.filterwarnings("error")
def test_parsing_warns_of_nothing() -> None:
    assert parses(Path("kernel.py"), b"x = '\\d'\n")


def test_syntax_tree_is_built_only_by_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast, "parse", None)
    assert parses(Path("kernel.py"), b"VALUE = 1\n")
    assert not parses(Path("kernel.py"), BROKEN)


def test_cyclic_links_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to("b.py")
    (tmp_path / "b.py").symlink_to("a.py")
    assert places_of(tmp_path / "a.py") == (str(tmp_path / "a.py"), str(tmp_path / "b.py"))
