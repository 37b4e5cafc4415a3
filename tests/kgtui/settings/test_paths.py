"""Where things are kept: KGTUI_HOME, then the system's convention."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgtui.settings.paths import Paths, can_write, find_paths


def test_kgtui_home_wins(tmp_path):
    paths = find_paths({"KGTUI_HOME": str(tmp_path)})
    assert paths == Paths(data=tmp_path, config=tmp_path / "config.toml")
    assert (paths.sessions, paths.artefacts) == (tmp_path / "sessions.db", tmp_path / "artefacts")


def test_kgtui_home_may_be_relative_or_tilde(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert find_paths({"KGTUI_HOME": "mine"}).data == tmp_path / "mine"
    assert find_paths({"KGTUI_HOME": "~/mine"}).data == Path("/home/somebody/mine")


@pytest.mark.parametrize("home", [None, ""])
def test_paths_default_to_xdg_folders(home, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere/data")
    environment = {} if home is None else {"KGTUI_HOME": home}
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere/config")
    assert find_paths(environment) == Paths(
        data=Path("/somewhere/data/kgtui"), config=Path("/somewhere/config/kgtui/config.toml")
    )


def test_finding_paths_creates_nothing(tmp_path):
    find_paths({"KGTUI_HOME": str(tmp_path / "home")})
    assert list(tmp_path.iterdir()) == []


def test_missing_path_is_writable_where_its_folder_is(tmp_path):
    assert can_write(tmp_path / "deep" / "deeper" / "sessions.db")


def test_nothing_can_be_made_below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    assert can_write(tmp_path / "file")
    assert not can_write(tmp_path / "file" / "sessions.db")


def test_file_without_permission_is_not_writable(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(os, "access", lambda place, mode, **_: mode == os.F_OK and place.exists())
    assert not can_write(tmp_path / "file")
    assert not can_write(tmp_path / "missing")
