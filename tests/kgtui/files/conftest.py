"""Fixtures that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kgtui.files.watcher import Watcher
from tests.kgtui.files.watched import BEFORE, Reports, Watch


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_bytes(BEFORE)
    return path


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Starts watchers of files, and stops them at the end."""
    started: list[Watcher] = []

    def start(path: Path, **options: object) -> Reports:
        reports = Reports()
        watcher = Watcher(path, reports.add, reports.add, **options)  # type: ignore[arg-type]  # passed through
        watcher.start()
        started.append(watcher)
        return reports

    yield start
    for watcher in started:
        watcher.stop()
