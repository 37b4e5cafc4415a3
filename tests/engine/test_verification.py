"""Between two cases: what a worker left in the place of our files is put away, or left to its room."""

from __future__ import annotations

from pathlib import Path

from engine.verification import _unlink


def test_a_folder_in_the_place_of_an_arena_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "case.in").mkdir()
    (tmp_path / "case.out").write_bytes(b"")
    _unlink(tmp_path / "case.in", tmp_path / "case.out")
    assert not (tmp_path / "case.out").exists()
