"""The application on the doubles of the screen's tests, as a program of its own: application.py FOLDER [BREAKS].

BREAKS is the seam that raises what no seam may raise, to see how the terminal is left by a fault of our own; the clock
raises as soon as FOLDER has a file `break`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from engine.sandbox.inherited import reset_inherited_state
from kgtui.app.application import WorkbenchApp
from kgtui.app.notifications import preserved_title
from kgtui.app.services import Services
from kgtui.app.shutdown import show
from kgtui.app.start import Settings, Start
from kgtui.settings.paths import Paths
from tests.kgtui import fakes


def main(folder: Path, breaks: str) -> int:
    """Run it as `kgtui open` does."""
    reset_inherited_state()
    path = folder / "softmax.py"
    path.write_bytes(fakes.SOURCE)

    def seam(name: str, answer: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            print(f"STRAY print of {name}")
            print(f"STRAY error of {name}", file=sys.stderr)
            if name == breaks:
                raise RuntimeError(f"broken [on] purpose: {name}")
            return answer(*args, **kwargs)

        return call

    def clock() -> float:
        load_quietly = "a value that no report may show"
        if (folder / "break").exists():
            raise RuntimeError(f"broken [on] purpose: {len(load_quietly)} signs")
        return time.monotonic()

    app = WorkbenchApp(
        services=Services(
            engine_factory=seam("engine", fakes.FakeEngine),
            store_opener=seam("store", fakes.MemoryRecording),
            has_store=lambda: False,
            problems=fakes.Problems(seam("catalogue", fakes.catalogue)),
            watcher_factory=seam("watcher", fakes.FakeWatcher),
            read_artefact=fakes.read_artefact,
            scaffold=lambda problem: "",
            diagnose=fakes.diagnose,
        ),
        settings=Settings(folder=folder, data=folder / "kept"),
        clock=clock,
        start=Start(problem=fakes.softmax_problem(), path=path),
    )
    with preserved_title(sys.stderr):
        home = folder / "kept"
        return show(app, mouse=True, paths=Paths(data=home, config=home / "config.toml"), warn=_warn)


def _warn(words: str) -> None:
    print(f"kgtui: {words}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "".join(sys.argv[2:])))
