"""What a fork server has imported before it forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sandbox.variables import MACHINE_VARIABLE, WARM_TARGET_VARIABLE


def test_module_that_starts_a_thread_or_fails_is_not_harmless(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("")
    (tmp_path / "failing.py").write_text("raise ValueError")
    (tmp_path / "threaded.py").write_text("import threading, time\nthreading.Thread(target=input, daemon=True).start()")
    code = (
        "from engine.processes.preloading import is_harmless as h; "
        "print([h(name) for name in ('quiet', 'failing', 'threaded', 'missing')])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *filter(None, sys.path)))}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:  # its input stays open: the thread waits for it
        assert started.stdout is not None
        assert started.stdout.read() == "[True, False, False, False]\n"


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
