"""Who may import whom, and what a start of the program may load.

The contracts are checked on the import graph; a deferred import is seen only by a process that ran,
so the second half starts some and looks at what they have loaded.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter import cli as import_linter

ROOT = Path(__file__).parents[2]
SLOW_FOR_A_LIST = (
    *("engine.model.kernels", "engine.model.plan", "engine.model.results", "kgtui.cli.choices", "kgtui.files.disk"),
    *("problems.folder", "problems.suites.source", "problems.suites.task", "difflib", "shutil", "tempfile"),
)
"""Modules that a list of the catalogue's operators does not need; without them it takes two thirds of the time."""
HEAVY = ("torch", "triton", "numpy", "textual", "sqlite_utils", "jinja2", "tomlkit")
# Code that runs in child processes, or is handed to them; everything else is, or may be, the parent's.
CHILDREN = (
    "engine/worker/",
    "engine/judge/",
    "engine/compiler/",
    "engine/clock/",
    "engine/loading/",
    "engine/machine/",
    "engine/replay/arena_files.py",
    "engine/replay/device/",
    "engine/replay/elements.py",
    "engine/replay/execution.py",
    "engine/replay/host_backend.py",
    "engine/replay/host_memory.py",
    "engine/replay/origins.py",
    "engine/replay/rearranged.py",
    "engine/replay/main.py",
    "engine/reference/main.py",
    "engine/reference/preload.py",
    "engine/reference/timing.py",
    "problems/suites/harness/",
    "kgtui/samples/",
    "engine/protocol/tensors.py",
    "engine/protocol/transport/byte_stream.py",
    "engine/protocol/transport/byte_window.py",
    "engine/devices/hardware/device_memory.py",
    "engine/devices/hardware/loaded_kernel.py",
)
DEVICE_LIBRARIES = ("torch", "triton", "numpy")

LOOK = """
import json, sys
from kgtui.cli.main import main
try:
    exit_code = main(sys.argv[2:])
except SystemExit as stop:
    exit_code = stop.code
loaded = sorted({*sys.modules, *(name.partition(".")[0] for name in sys.modules)} & set(json.loads(sys.argv[1])))
print(json.dumps([exit_code, loaded]), file=sys.stderr)
"""


def heavy_after(
    tmp_path: Path, *arguments: str, stdin: int = subprocess.DEVNULL, modules: tuple[str, ...] = HEAVY
) -> list[object]:
    """The exit code of a command, and which of `modules` its process had loaded at the end."""
    ended = subprocess.run(
        [sys.executable, "-c", LOOK, json.dumps(modules), *arguments],
        cwd=tmp_path,
        stdin=stdin,
        capture_output=True,
        env={**os.environ, "KGTUI_HOME": str(tmp_path / "home")},
        text=True,
        check=False,
    )
    return json.loads(ended.stderr.splitlines()[-1])


def test_the_contracts_hold(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert import_linter.lint_imports(cache_dir=None) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["check", "--help"],
        ["--version"],
        ["paths"],
        ["problems", "list"],
        ["problems", "--json"],
        ["problems", "show", "softmax"],
        ["new", "softmax"],
        ["manual"],
        ["manual", "keys"],
    ],
    ids=" ".join,
)
def test_light_command_imports_no_heavy_module(tmp_path, arguments):
    assert heavy_after(tmp_path, *arguments) == [0, []]


def test_list_imports_no_module_of_runs_or_suites(tmp_path):
    heavy_after(tmp_path, "problems", "list")  # writes the cache of descriptions
    assert heavy_after(tmp_path, "problems", "list", modules=SLOW_FOR_A_LIST) == [0, []]


def test_refused_workbench_imports_no_heavy_module(tmp_path):
    assert heavy_after(tmp_path) == [2, []]


def test_verification_loads_no_heavy_module_in_parent(tmp_path):
    command = ("check", "--sample", "--cases", "smoke", "--target", "none", "--device", "cpu")
    # The first run makes the store with sqlite-utils, which imports numpy where it is installed.
    assert heavy_after(tmp_path, *command) == [0, ["numpy", "sqlite_utils"]]
    assert heavy_after(tmp_path, *command) == [0, []]


def test_parent_code_imports_no_device_library():
    guilty = [
        f"{path.relative_to(ROOT)}: {name}"
        for package in ("engine", "problems", "sessions", "kgtui")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(CHILDREN)
        for node in ast.parse(path.read_text()).body
        for name in _imported(node)
        if name.partition(".")[0] in DEVICE_LIBRARIES
    ]
    assert guilty == []


def _imported(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
