"""Python processes of their own, for what patches Triton or the import system for good."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def launched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Results of all scenarios on the machine, all run in one process."""
    return _scenarios(tmp_path_factory)


@pytest.fixture(scope="session")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Results of all scenarios in Triton's interpreter, all run in one process."""
    return _scenarios(tmp_path_factory, "interpreter")


def _scenarios(tmp_path_factory: pytest.TempPathFactory, *arguments: str) -> dict[str, dict[str, Any]]:
    environment = {"HOME": str(tmp_path_factory.mktemp("home")), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.worker.scenarios", *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scenarios: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return scenarios
