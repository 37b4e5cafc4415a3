"""The exit code of every command that judges, by the kind of kernel: prepared on a CPU, and judged on a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.model import Outcome
from kgtui.cli.command_line import parse
from kgtui.cli.commands import bench, check, inspect, targets

CORPUS = Path(__file__).parents[2] / "corpus"
COMMANDS = {"check": check, "inspect": inspect, "bench": bench, "targets": targets}
UNSUPPORTED = "# kgtui: op=aten::silu\nimport a_package_that_nobody_has\n\n\ndef silu(self):\n    return self\n"
FILES = {
    0: "honest/silu.py",
    1: "wrong/add_ignores_alpha.py",
    4: "cheats/framework_computes/plain_torch_and_a_decoy.py",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("outcome", "flagged", "exit_code"),
    [
        (Outcome.WRONG_VALUE, False, 1),
        (Outcome.UNSUPPORTED, False, 3),
        (Outcome.ENGINE_ERROR, False, 3),
        (Outcome.PASS, True, 4),
    ],
)
def test_exit_code_follows_the_verdict_in_every_command(
    console, engine, kernel, no_gpu, command, outcome, flagged, exit_code
):
    engine.outcome, engine.flagged = outcome, flagged
    options = parse([command, "silu.py", "--no-store"]).options
    assert COMMANDS[command].run(options, console, engine_factory=engine) == exit_code


@pytest.mark.parametrize("command", ["check", "inspect", "bench"])
def test_exit_code_of_a_right_kernel_is_0(console, engine, kernel, no_gpu, command):
    options = parse([command, "silu.py", "--no-store"]).options
    assert COMMANDS[command].run(options, console, engine_factory=engine) == 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: kernels are judged and timed on it")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("exit_code", [0, 1, 3, 4])
def test_exit_code_on_a_gpu(tmp_path: Path, command: str, exit_code: int) -> None:
    file = tmp_path / "unsupported.py"
    file.write_text(UNSUPPORTED)
    file = CORPUS / FILES[exit_code] if exit_code in FILES else file
    ended = subprocess.run(
        [sys.executable, "-m", "kgtui", command, str(file), "--no-store", "--device", "cuda"],
        cwd=tmp_path,
        env={**os.environ, "KGTUI_HOME": str(tmp_path / "home")},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == exit_code, (ended.stdout + ended.stderr).decode()[-4000:]
