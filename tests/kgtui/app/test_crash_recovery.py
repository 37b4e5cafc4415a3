"""What is saved of a workbench that ends otherwise than by its user: it lands somewhere, and writes over nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgtui.app.crash_recovery import CrashRecovery
from kgtui.settings.paths import Paths


def application(*, unsaved: bool = True, content: bytes = b"mine\n", has_store: bool = True) -> Any:
    """As much of the application as is asked."""
    return SimpleNamespace(
        workbench=SimpleNamespace(
            bench=SimpleNamespace(path=Path("/k/softmax.py"), unsaved=unsaved),
            source=SimpleNamespace(content=content),
        ),
        run_history=SimpleNamespace(recording=object() if has_store else None),
    )


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(data=tmp_path / "data", config=tmp_path / "config.toml")


def test_the_same_name_twice_is_two_files(paths: Paths) -> None:
    for content in (b"one", b"two"):
        CrashRecovery(application(content=content), paths=paths).take()
    kept = {path.name: path.read_bytes() for path in (paths.data / "rescued").iterdir()}
    assert kept == {"softmax.py": b"one", "softmax_2.py": b"two"}


def test_recovery_taken_twice_writes_one_file(paths: Paths) -> None:
    recovery = CrashRecovery(application(), paths=paths)
    recovery.take()
    recovery.take()
    assert [path.name for path in (paths.data / "rescued").iterdir()] == ["softmax.py"]


def test_unusable_own_folder_falls_back_to_system(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths.data.write_text("a file in the way")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    recovery = CrashRecovery(application(), paths=paths)
    recovery.take()
    assert recovery.said == f"the unsaved text of /k/softmax.py is in {tmp_path}/tmp/softmax.py"
    assert (tmp_path / "tmp" / "softmax.py").read_bytes() == b"mine\n"


def test_text_without_any_folder_is_reported(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths.data.write_text("a file in the way")
    monkeypatch.setattr("tempfile.tempdir", str(paths.data / "tmp"))
    recovery = CrashRecovery(application(), paths=paths)
    recovery.take()
    assert (
        recovery.said == "the unsaved text of /k/softmax.py could not be saved in any folder; it follows:\n\nmine\n\n"
    )


def test_unresponsive_screen_is_reported(paths: Paths) -> None:
    broken = SimpleNamespace(workbench=SimpleNamespace(bench=SimpleNamespace(unsaved=True)))
    recovery = CrashRecovery(broken, paths=paths)  # type: ignore[arg-type]  # that is the point
    recovery.take()
    assert recovery.said.startswith("the unsaved text could not be read any more: AttributeError: ")


@pytest.mark.parametrize(
    ("app", "report"),
    [
        (application(unsaved=False), "  text   there was no unsaved text"),
        (application(has_store=False), "  runs   nothing was saved in this session: the store was not open"),
    ],
    ids=["saved", "no store"],
)
def test_rescued_text_is_reported_unchanged(paths: Paths, app: Any, report: str) -> None:
    recovery = CrashRecovery(app, paths=paths)
    recovery.take()
    assert report in recovery.report(RuntimeError("a [fault]\x1b"))


def test_crash_report_has_no_control_codes_or_values(paths: Paths) -> None:
    key = "sk-nobody-may-see-this"
    try:
        raise RuntimeError(f"a\x1b[2J fault of {len(key)} signs")
    except RuntimeError as error:
        report = CrashRecovery(application(unsaved=False), paths=paths).report(error)
    assert "\x1b" not in "".join(report)
    trace = (paths.data / "rescued" / "fault.txt").read_text()
    assert "RuntimeError: a\x1b[2J fault of 22 signs" in trace
    assert trace.count(key) == 0
