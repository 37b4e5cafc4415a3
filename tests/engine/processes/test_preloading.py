"""What a fork server has imported before it forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sandbox.variables import MACHINE_VARIABLE, WARM_TARGET_VARIABLE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 0),
        ("raise ValueError", 1),
        ("import threading\nthreading.Thread(target=input, daemon=True).start()", 1),
    ],
    ids=["quiet", "failing", "threaded"],
)
def test_trial_of_an_import_ends_with_its_status(tmp_path: Path, text: str, status: int) -> None:
    (tmp_path / "tried.py").write_text(text)
    code = "from engine.processes.preloading import try_import; try_import('tried')"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *filter(None, sys.path)))}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE) as started:
        assert started.wait() == status  # its input stays open: the thread waits for it


@pytest.mark.parametrize("family", ["CANDIDATES", "PLAIN_REFERENCES"])
def test_server_has_every_late_name_before_forks(family: str) -> None:
    code = (
        "import engine.model as model, engine.processes.preloading as preloading; "
        f"preloading.import_all(preloading.Family.{family}); "
        "print([name for names in model.LATE.values() for name in names if name not in vars(model)])"
    )
    started = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, MACHINE_VARIABLE: "0", WARM_TARGET_VARIABLE: "sm_90"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.stdout == "[]\n", started.stderr
