"""The settings file is written as it is, in a folder that may not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import UsageError
from kgtui.settings.file_write import write_config
from kgtui.settings.schema import Config


def test_text_is_written_to_new_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    write_config(Config(path=path, text="theme = 'nord'\n"))
    assert path.read_text() == "theme = 'nord'\n"


def test_file_in_place_of_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"/file cannot be created: File exists$"):
        write_config(Config(path=tmp_path / "file" / "config.toml", text=""))
