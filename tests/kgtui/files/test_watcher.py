"""The watcher: one report for each save, and trouble with the file, its folder or its links."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from kgtui.files.watcher import Delays, Saved, TroubleKind, Watcher, WatchTrouble
from tests.kgtui.files.watched import AFTER, BEFORE, SENTINEL, Reports, Watch, by_rename, by_truncating, by_two_renames


def test_unchanged_file_starts_no_run(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    kernel.touch()
    kernel.chmod(0o600)
    kernel.read_bytes()
    by_truncating(kernel, BEFORE)
    by_rename(kernel, BEFORE)
    by_two_renames(kernel, BEFORE)
    reports.assert_no_more(kernel)


def test_other_files_of_the_folder_start_no_run(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    for name in ("4913", "kernel.py~", ".#kernel.py", ".kernel.py.swp", "kernel.py.tmp.12.ab", "other.py"):
        kernel.with_name(name).write_bytes(AFTER)
    reports.assert_no_more(kernel)


def test_two_saves_are_two_reports_with_last_content(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    by_rename(kernel, AFTER)
    assert reports.next_content() == AFTER
    by_rename(kernel, BEFORE)
    assert reports.next_content() == BEFORE


def test_a_broken_file_is_reported_too(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    by_rename(kernel, b"def broken(:\n")
    assert reports.next_content() == b"def broken(:\n"
    reports.assert_no_more(kernel)


def test_an_emptied_file_is_reported_too(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    kernel.write_bytes(b"")
    assert reports.next_content() == b""
    reports.assert_no_more(kernel)


def test_deleted_and_restored_file_is_reported(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    kernel.unlink()
    assert reports.next_trouble() is TroubleKind.GONE
    by_rename(kernel, BEFORE)
    assert reports.next_trouble() is TroubleKind.BACK
    reports.assert_no_more(kernel)


def test_file_returning_different_is_a_save(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    kernel.unlink()
    assert reports.next_trouble() is TroubleKind.GONE
    by_rename(kernel, AFTER)
    assert (reports.next_trouble(), reports.next_content()) == (TroubleKind.BACK, AFTER)
    reports.assert_no_more(kernel)


def test_file_missing_at_start_is_gone_until_made(tmp_path: Path, watch: Watch) -> None:
    reports = watch(tmp_path / "later" / "kernel.py")
    assert reports.next_trouble() is TroubleKind.GONE
    (tmp_path / "later").mkdir()
    by_rename(tmp_path / "later" / "kernel.py", AFTER)
    assert (reports.next_trouble(), reports.next_content()) == (TroubleKind.BACK, AFTER)


def test_folder_instead_of_file_is_unreadable(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    kernel.unlink()
    kernel.mkdir()
    word = reports.next()
    assert isinstance(word, WatchTrouble)
    assert word.kind is TroubleKind.UNREADABLE
    assert word.message == f"{kernel.name} cannot be read: it is a folder; it is read again when it changes"


def test_changed_read_error_is_reported_again(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel)
    kernel.unlink()
    kernel.mkdir()
    assert reports.next_trouble() is TroubleKind.UNREADABLE
    kernel.rmdir()
    assert reports.next_trouble() is TroubleKind.GONE
    kernel.mkdir()
    assert reports.next_trouble() is TroubleKind.UNREADABLE
    kernel.rmdir()
    assert reports.next_trouble() is TroubleKind.GONE
    by_rename(kernel, BEFORE)
    assert reports.next_trouble() is TroubleKind.BACK
    reports.assert_no_more(kernel)


def test_saves_are_seen_after_folder_was_replaced(tmp_path: Path, watch: Watch) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    kernel = folder / "kernel.py"
    kernel.write_bytes(BEFORE)
    reports = watch(kernel)
    shutil.rmtree(folder)
    assert reports.next_trouble() is TroubleKind.GONE
    folder.mkdir()
    kernel.write_bytes(AFTER)
    assert (reports.next_trouble(), reports.next_content()) == (TroubleKind.BACK, AFTER)
    reports.assert_no_more(kernel)


def test_unknown_content_is_reported_at_start(kernel: Path, watch: Watch) -> None:
    reports = watch(kernel, known_digest=hashlib.sha256(b"read before").hexdigest())
    assert reports.next_content() == BEFORE
    reports.assert_no_more(kernel)


def test_known_content_is_not_reported_at_start(kernel: Path, watch: Watch) -> None:
    watch(kernel, known_digest=hashlib.sha256(BEFORE).hexdigest()).assert_no_more(kernel)


def test_save_of_link_target_is_a_save(tmp_path: Path, watch: Watch) -> None:
    for name in ("there", "here", "between"):
        (tmp_path / name).mkdir()
    target, link = tmp_path / "there" / "real.py", tmp_path / "here" / "kernel.py"
    target.write_bytes(BEFORE)
    (tmp_path / "between" / "link.py").symlink_to(target)
    link.symlink_to("../between/link.py")
    reports = watch(link, delays=Delays(poll_s=3600))
    by_rename(target, AFTER)
    assert reports.next_content() == AFTER
    by_truncating(link, SENTINEL)
    assert reports.next_content() == SENTINEL


def test_redirected_link_is_a_save(tmp_path: Path, watch: Watch) -> None:
    for name, content in (("one.py", BEFORE), ("two.py", AFTER)):
        (tmp_path / name).write_bytes(content)
    link = tmp_path / "kernel.py"
    link.symlink_to("one.py")
    reports = watch(link)
    (tmp_path / "link.new").symlink_to("two.py")
    (tmp_path / "link.new").replace(link)
    assert reports.next_content() == AFTER
    by_truncating(tmp_path / "two.py", SENTINEL)
    assert reports.next_content() == SENTINEL


def test_a_kernel_in_a_linked_folder_is_watched(tmp_path: Path, watch: Watch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "kernel.py").write_bytes(BEFORE)
    (tmp_path / "linked").symlink_to("real")
    reports = watch(tmp_path / "linked" / "kernel.py", delays=Delays(poll_s=3600))
    by_rename(tmp_path / "real" / "kernel.py", AFTER)
    assert reports.next_content() == AFTER


def test_change_of_imported_file_is_save_of_kernel(kernel: Path, watch: Watch) -> None:
    helper = kernel.with_name("helper.py")
    helper.write_bytes(BEFORE)
    reports = watch(kernel, siblings=[helper])
    by_two_renames(helper, AFTER)
    word = reports.next()
    assert isinstance(word, Saved)
    assert (word.path, word.changed, word.content) == (kernel, helper, BEFORE)
    reports.assert_no_more(kernel)


@pytest.mark.parametrize("content", [BEFORE, AFTER], ids=["unchanged", "changed"])
def test_return_of_deleted_imported_file_is_one_save(kernel: Path, watch: Watch, content: bytes) -> None:
    helper = kernel.with_name("helper.py")
    helper.write_bytes(BEFORE)
    reports = watch(kernel, siblings=[helper])
    helper.unlink()
    assert reports.next_changed() == helper
    by_rename(helper, content)
    assert reports.next_changed() == helper
    reports.assert_no_more(kernel)


def test_imported_files_can_be_named_while_watching(kernel: Path) -> None:
    old, new = kernel.with_name("old.py"), kernel.with_name("new.py")
    for path in (old, new):
        path.write_bytes(BEFORE)
    reports = Reports()
    watcher = Watcher(kernel, reports.add, reports.add, siblings=[old])
    watcher.start()
    try:
        watcher.follow([new])
        reports.assert_no_more(kernel)  # signals are taken in order: the new list is in force
        by_rename(new, BEFORE)  # no change
        for content in (AFTER, BEFORE):  # a report on `new` would come between the two
            by_rename(kernel, content)
            assert reports.next_changed() == kernel
        by_rename(old, AFTER)
        by_rename(new, AFTER)
        word = reports.next()
        assert isinstance(word, Saved)
        assert word.changed == new
    finally:
        watcher.stop()
