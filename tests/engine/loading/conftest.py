"""A candidate loaded in a fresh process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forking import Forking


@pytest.fixture
def load_fresh(tmp_path: Path, fresh_process: Forking) -> Callable[..., dict[str, Any]]:
    """Load a kernel file with the worker's loader in a new process and run a few lines after it."""
    snapshots = tmp_path / "snapshot"
    snapshots.mkdir()

    def load(
        source: str, *, folder: Path | None, modules: Path | None = None, then: str = "", name: str = "kernel.py"
    ) -> dict[str, Any]:
        path = snapshots / name
        path.write_text(source)
        program = (
            "import json, sys\nfrom pathlib import Path\nfrom engine.loading.loader import NoEntryError, load\n"
            f"found = {{}}\n"
            "try:\n"
            f"    entry, found['siblings'] = load(Path({str(path)!r}), {f'Path({str(folder)!r})' if folder else None}, "
            f"'entry', {f'Path({str(modules)!r})' if modules else None})\n"
            "    found['value'] = entry()\n"
            + "".join(f"    {line}\n" for line in then.splitlines())
            + "except BaseException as error:\n    found['error'] = f'{type(error).__name__}: {error}'\n"
            "sys.__stdout__.write(json.dumps(found))\n"
        )
        done = fresh_process.run(program, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return load
