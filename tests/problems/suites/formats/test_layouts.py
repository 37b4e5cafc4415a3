"""Checkouts as other machines leave them: line ends, encodings, links and files of tools change no task."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import UsageError
from problems.suites.formats import kernelbench
from problems.suites.scanning import format_of
from problems.suites.task import SuiteContents

SAMPLES = Path(__file__).parents[2] / "samples"
SUITES = sorted(folder.name for folder in SAMPLES.iterdir())
TEXTS = (".py", ".json", ".jsonl", ".yml")


def shown(path: Path) -> list[tuple[object, ...]]:
    """What is read of each task, without its file."""
    contents: SuiteContents = format_of(path).read(path)
    return [(task.name, task.cases, task.entry, task.text, bool(task.refusal)) for task in contents.tasks]


def in_windows_lines(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def with_mark(content: bytes) -> bytes:
    return b"\xef\xbb\xbf" + content


def in_utf_16(content: bytes) -> bytes:
    return content.decode().encode("utf-16")


@pytest.mark.parametrize("change", [in_windows_lines, with_mark, in_utf_16])
@pytest.mark.parametrize("suite", SUITES)
def test_same_tasks_in_other_encodings(suite: str, change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    copy = shutil.copytree(SAMPLES / suite, tmp_path / suite)
    for file in copy.rglob("*"):
        if file.suffix in TEXTS and file.is_file():
            file.write_bytes(change(file.read_bytes()))

    assert shown(copy) == shown(SAMPLES / suite)


@pytest.mark.parametrize("suite", SUITES)
def test_same_tasks_in_a_snapshot_of_links(suite: str, tmp_path: Path) -> None:
    store, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0123"
    store.mkdir()
    for number, file in enumerate(sorted(SAMPLES.joinpath(suite).rglob("*"))):
        if file.is_file():
            link = snapshot / file.relative_to(SAMPLES / suite)
            link.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, store / str(number))
            link.symlink_to(os.path.relpath(store / str(number), link.parent))

    assert shown(snapshot) == shown(SAMPLES / suite)


@pytest.mark.parametrize("suite", SUITES)
def test_same_tasks_beside_files_of_tools(suite: str, tmp_path: Path) -> None:
    copy = shutil.copytree(SAMPLES / suite, tmp_path / suite)
    for folder in [copy, *(one for one in copy.rglob("*") if one.is_dir())]:
        for name in ("._a.py", ".DS_Store", "__init__.py", "README.md"):
            (folder / name).write_bytes(b"\0")

    assert shown(copy) == shown(SAMPLES / suite)


def test_folder_of_parquet_files_one_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (SAMPLES / "kernelbench" / "KernelBench" / "level1" / "23_Softmax.py").read_text()
    (tmp_path / "data").mkdir()
    for level in (1, 2):
        (tmp_path / "data" / f"level_{level}-00000-of-00001.parquet").touch()

    def rows(file: Path) -> list[dict[str, object]]:
        return [{"code": code, "level": int(file.name[6]), "name": "a", "problem_id": 1}]

    monkeypatch.setattr(kernelbench, "rows_of", rows)
    monkeypatch.setattr(kernelbench, "first_row", lambda file: rows(file)[0])

    assert [name for name, *_ in shown(tmp_path)] == ["level1/1_a", "level2/1_a"]


@pytest.mark.parametrize(
    ("suite", "folder", "named", "reason"),
    [
        ("kernelbench", "KernelBench/level1", "KernelBench/level1", "a link to {out}, outside of the suite; left out"),
        ("gpu_mode", "problems/pmpp", "histogram_py/task.yml", "a link to {out}/histogram_py/task.yml, outside"),
        ("tritonbench", "data/TritonBench_T_v1", "TritonBench_T_v1/add.py", "a link to {out}/add.py, outside"),
        ("multikernelbench", "reference/activation", "activation/swish.py", "a link to {out}/swish.py, outside"),
        ("kernelbench_x", "data/kernelbenchx/Math", "Math/div.py", "a link to {out}/div.py, outside"),
        ("flashinfer_trace", "definitions/rmsnorm", "rmsnorm_h32.json", "a link to {out}/rmsnorm_h32.json, outside"),
    ],
    ids=["kernelbench", "gpu_mode", "tritonbench", "multikernelbench", "kernelbench_x", "flashinfer_trace"],
)
def test_linked_folder_outside_of_suite_left_out(
    suite: str, folder: str, named: str, reason: str, tmp_path: Path
) -> None:
    copy, out = shutil.copytree(SAMPLES / suite, tmp_path / suite), tmp_path / "elsewhere"
    shutil.move(copy / folder, out)
    (copy / folder).symlink_to(out)

    contents = format_of(copy).read(copy)

    assert any(f"{named}: {reason.format(out=out)}" in complaint for complaint in contents.complaints)
    assert not any(task.file.resolve().is_relative_to(out) for task in contents.tasks)


@pytest.mark.parametrize(
    ("target", "reason"),
    [("gone", "level1: a broken link: No such file or directory"), (None, "no folder level1; is the ch")],
    ids=["broken link", "missing"],
)
def test_missing_level_is_reported(target: str | None, reason: str, tmp_path: Path) -> None:
    copy = shutil.copytree(SAMPLES / "kernelbench", tmp_path / "suite")
    shutil.rmtree(copy / "KernelBench" / "level1")
    if target is not None:
        (copy / "KernelBench" / "level1").symlink_to(target)

    contents = format_of(copy).read(copy)

    assert (contents.left_out, len(contents.tasks)) == (1, 5)
    assert reason in contents.complaints[0]


def test_checkout_of_another_branch_named_as_such(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    with pytest.raises(UsageError, match="it is a git checkout: is it complete and on the right branch"):
        format_of(tmp_path)


def test_folder_removed_while_listed_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path, pattern: str) -> list[Path]:
        raise FileNotFoundError(2, "No such file or directory", str(path / pattern))

    monkeypatch.setattr(Path, "glob", gone)

    with pytest.raises(UsageError, match="is not a suite in a known format"):
        format_of(tmp_path)
