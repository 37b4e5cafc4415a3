"""Saves as editors make them, with their real system calls: each is reported once."""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from kgtui.files.watcher import Delays, Saved
from tests.kgtui.files.watched import AFTER, BEFORE, Watch, by_rename, by_truncating, by_two_renames

# For writers that pause: on a busy machine, for longer than people would like to wait.
PATIENT = Delays(settle_s=2.0, gone_s=2.0, empty_s=2.0, second_look_s=2.0)
Writer: TypeAlias = Callable[[Path, bytes], None]


def _place_outside_temp() -> Path:
    """Beside this file, unless the whole checkout lies in a temporary folder, where vim saves another way."""
    temporary = {Path("/tmp"), Path(tempfile.gettempdir())}
    places = (Path(__file__).parent, Path.home(), Path("/var/tmp"))
    return next(
        place for place in places if temporary.isdisjoint((place, *place.parents)) and os.access(place, os.W_OK)
    )


@pytest.fixture
def outside_temp() -> Iterator[Path]:
    """A folder that no editor takes for a temporary one: vim saves by renaming only there."""
    folder = Path(tempfile.mkdtemp(prefix="watched-", dir=_place_outside_temp()))
    yield folder
    shutil.rmtree(folder)


def run(*command: str, folder: Path) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def by_truncating_slowly(path: Path, content: bytes) -> None:
    """Empty for a moment, without a close in between."""
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    time.sleep(0.05)
    os.write(descriptor, content)
    os.close(descriptor)


def by_emptying_first(path: Path, content: bytes) -> None:
    """Emptied and closed, then opened again and written: the shell's `: > file; cat >> file`."""
    path.write_bytes(b"")
    time.sleep(0.05)
    with path.open("ab") as file:
        file.write(content)


def in_chunks(path: Path, content: bytes) -> None:
    """A few bytes every 30 ms, closed at the end."""
    with path.open("wb", buffering=0) as file:
        for start in range(0, len(content), 2):
            file.write(content[start : start + 2])
            time.sleep(0.03)


def from_another_folder(path: Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        (Path(folder) / "draft").write_bytes(content)
        (Path(folder) / "draft").replace(path)


def through_a_mapping(path: Path, content: bytes) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[: len(content)] = content


def by_sed(path: Path, content: bytes) -> None:
    run("sed", "-i", f"s/.*/{content.decode().strip()}/", path.name, folder=path.parent)


def by_vim(path: Path, content: bytes) -> None:
    change = f"%s/.*/{content.decode().strip()}/"
    run("vim", "-u", "NONE", "-i", "NONE", "-N", "-es", "-c", change, "-c", "wq", path.name, folder=path.parent)


def by_vim_with_a_copy(path: Path, content: bytes) -> None:
    change = f"%s/.*/{content.decode().strip()}/"
    options = ("-c", "set backup backupcopy=yes backupskip=", "-c", change, "-c", "wq")
    run("vim", "-u", "NONE", "-i", "NONE", "-N", "-es", *options, path.name, folder=path.parent)


def by_node(path: Path, content: bytes) -> None:
    script = f"require('fs').writeFileSync({path.name!r}, {content.decode()!r})"
    run("node", "-e", script, folder=path.parent)


def by_deleting_first(path: Path, content: bytes) -> None:
    """As git does when it changes branches."""
    path.unlink()
    path.write_bytes(content)


def by_appending(path: Path, content: bytes) -> None:
    """Ends as `content` only where the file began as its first half."""
    with path.open("ab") as file:
        file.write(content[len(content) // 2 :])


WRITERS = (
    by_rename, by_truncating, by_truncating_slowly, by_emptying_first, in_chunks, from_another_folder, by_two_renames,
    through_a_mapping, by_sed, by_vim, by_vim_with_a_copy, by_node, by_deleting_first,
)  # fmt: skip


def needs(writer: Writer) -> None:
    tool = {by_vim: "vim", by_vim_with_a_copy: "vim", by_node: "node", by_sed: "sed"}.get(writer)
    if tool and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_each_kind_of_save_is_reported_once(kernel: Path, watch: Watch, writer: Writer) -> None:
    needs(writer)
    reports = watch(kernel, delays=replace(PATIENT, poll_s=3600))
    writer(kernel, AFTER)
    word = reports.next()
    assert isinstance(word, Saved)
    digest = hashlib.sha256(AFTER).hexdigest()
    assert (word.path, word.changed, word.content, word.digest) == (kernel, kernel, AFTER, digest)
    reports.assert_no_more(kernel)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_each_kind_of_save_is_reported(outside_temp: Path, watch: Watch, writer: Writer) -> None:
    needs(writer)
    kernel = outside_temp / "kernel.py"
    kernel.write_bytes(BEFORE)
    reports = watch(kernel, delays=PATIENT)
    writer(kernel, AFTER)
    assert reports.next_content() == AFTER
    reports.assert_no_more(kernel)


def test_vim_really_renames_outside_temporary_folders(outside_temp: Path, kernel: Path) -> None:
    """Why the test above has a folder of its own; if vim stops doing this, that test proves nothing."""
    needs(by_vim)
    elsewhere = outside_temp / "kernel.py"
    elsewhere.write_bytes(BEFORE)
    inodes = [elsewhere.stat().st_ino, kernel.stat().st_ino]
    by_vim(elsewhere, AFTER)
    by_vim(kernel, AFTER)
    assert [elsewhere.stat().st_ino != inodes[0], kernel.stat().st_ino != inodes[1]] == [True, False]


def test_appending_is_a_save(tmp_path: Path, watch: Watch) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_bytes(AFTER[: len(AFTER) // 2])
    reports = watch(kernel)
    by_appending(kernel, AFTER)
    assert reports.next_content() == AFTER
    reports.assert_no_more(kernel)


def test_a_git_checkout_is_a_save(tmp_path: Path, watch: Watch) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    kernel = tmp_path / "kernel.py"
    kernel.write_bytes(AFTER)
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    run("git", "init", "--quiet", "--initial-branch", "fast", folder=tmp_path)
    run("git", "add", "kernel.py", folder=tmp_path)
    run("git", *author, "commit", "--quiet", "-m", "fast", folder=tmp_path)
    run("git", "checkout", "--quiet", "-b", "slow", folder=tmp_path)
    kernel.write_bytes(BEFORE)
    run("git", *author, "commit", "--quiet", "-am", "slow", folder=tmp_path)
    reports = watch(kernel)
    run("git", "checkout", "--quiet", "fast", folder=tmp_path)
    assert reports.next_content() == AFTER
    reports.assert_no_more(kernel)
