"""The folder of compiled code for one command."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.settings.paths import find_paths


def test_unsaved_compiled_code_is_removed(tmp_path: Path) -> None:
    paths = find_paths({"KGTUI_HOME": str(tmp_path / "home")})
    with artefact_folder(paths, is_kept=False, warn=pytest.fail) as artefacts:
        artefacts.put("ptx", b"code")
        assert artefacts.folder.exists()
    assert not artefacts.folder.exists()
    assert not paths.data.exists()
