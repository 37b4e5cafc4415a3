"""The composition root puts the application together and leaves the disk alone."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.errors import UsageError
from kgtui.app.start import Settings, Start
from kgtui.composition import compose, paused_collector, resume_collector
from kgtui.settings.paths import find_paths
from kgtui.settings.preferences import CommandLineSettings, preferences_of
from kgtui.settings.schema import parse_config
from kgtui.state.format.glyphs import ASCII
from problems.index import open_index
from tests.operators import find


async def _diagnose(size: object, preferences: object) -> AsyncIterator[tuple[str, ...]]:
    yield ()


def test_composing_the_application_writes_nothing(tmp_path: Path) -> None:
    paths = find_paths({"KGTUI_HOME": str(tmp_path / "home")})
    read = parse_config("", path=tmp_path / "config.toml")
    preferences = preferences_of(read, environment={}, command_line=CommandLineSettings(ascii=True))
    app = compose(
        settings=Settings(folder=tmp_path, preferences=preferences, data=paths.data),
        start=Start(problem=find("aten::silu"), path=tmp_path / "silu.py"),
        device=Device(platform="cpu", index=0, name="a CPU"),
        paths=paths,
        artefacts=ArtefactStore(folder=paths.data / "artefacts"),
        diagnose=_diagnose,
        problems=open_index(),
    )
    assert app.glyphs is ASCII
    assert list(tmp_path.iterdir()) == []


def test_garbage_is_collected_again_once_started() -> None:
    with paused_collector():
        paused = gc.isenabled()
        resume_collector()
        assert (paused, gc.isenabled(), gc.get_freeze_count() > 0) == (False, True, True)
    gc.unfreeze()


def test_garbage_is_collected_after_a_failed_start() -> None:
    with pytest.raises(UsageError), paused_collector():
        raise UsageError("no terminal")
    assert gc.isenabled()
