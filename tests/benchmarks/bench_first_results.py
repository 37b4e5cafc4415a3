"""Seconds from the write of a file to its smoke and full results in the workbench: a table to read, no test.

Run it as a program: python -m tests.benchmarks.bench_first_results [SAVES].  The application runs on the real engine of
the CPU, in a process of its own on a pseudo-terminal, with its own target; this program writes the sample with another
comment while nothing runs, and then while the launches of the save before are being compiled.
"""

from __future__ import annotations

import json
import os
import platform
import select
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_saves

_LOG = "moments"
_MOMENTS = ("taken up", "smoke shown", "full shown")
_BUILDS, _ENDED = "KernelCompiled", "ended"
_PATIENCE_S, _PAUSE_S = 120.0, 0.3


def main(saves: int) -> None:
    """Save, and print the extremes and the median of each moment."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {saves} saves of each kind\n")
    print(f"{'seconds after the write':40} {'least':>6} {'median':>6} {'most':>6}")
    for name, until in {"while nothing runs": _ENDED, "during the builds before": _BUILDS}.items():
        for moment, seconds in _measured(saves, until).items():
            numbers = f"{min(seconds):6.3f} {statistics.median(seconds):6.3f} {max(seconds):6.3f}"
            print(f"{f'{name}: {moment}':40} {numbers}", flush=True)


def _measured(saves: int, until: str) -> dict[str, list[float]]:
    """Seconds of each moment of each save; the next one is made `until` the moment of that name has come."""
    seconds: dict[str, list[float]] = {moment: [] for moment in _MOMENTS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / _LOG).write_text("")
        with bench_saves.started(folder, program="tests.benchmarks.bench_first_results") as terminal:
            began = time.monotonic()
            _wait(terminal, folder, until, began)
            for number in range(saves):
                time.sleep(_PAUSE_S)
                began = time.monotonic()
                (folder / "kernel.py").write_text(f"{bench_saves.SAMPLE.read_text()}\n# {number}\n")
                seen = _wait(terminal, folder, until, began)
                for moment in _MOMENTS:
                    seconds[moment].append(next(at for what, at in seen if what == moment and at > began) - began)
    return seconds


def _after(seen: list[tuple[str, float]], began: float, first: str) -> list[str]:
    """Moments behind the first one of a name since a time."""
    names = [name for name, at in seen if at > began]
    return names[names.index(first) :] if first in names else []


def _wait(terminal: int, folder: Path, until: str, began: float) -> list[tuple[str, float]]:
    """The moments so far, once `until` came after the full results of a save; reads the terminal meanwhile."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.01)[0]:
            os.read(terminal, 1 << 16)
        lines = (folder / _LOG).read_text().splitlines(keepends=True)
        seen = [(str(name), float(at)) for name, at in (json.loads(line) for line in lines if line.endswith("\n"))]
        if until in _after(seen, began, _MOMENTS[-1]):
            return seen
    raise TimeoutError(f"no result in {_PATIENCE_S:g} s")


def run_child(folder: Path) -> None:
    """Be the application that is watched; writes each moment with its time."""
    from engine.model.events import KernelCompiled, TierFinished
    from kgtui.runner import run_queue

    deliver, carry_out = run_queue._deliver, run_queue._carry_out
    with (folder / _LOG).open("a", buffering=1) as file:

        def note(moment: str) -> None:
            file.write(json.dumps([moment, time.monotonic()]) + "\n")

        async def delivering(ticket: Any, update: Any) -> None:  # Any: as the queue passes them
            await deliver(ticket, update)
            for event in update if isinstance(update, tuple) else ():
                if isinstance(event, TierFinished):
                    note(f"{event.tier} shown")
                if isinstance(event, KernelCompiled):
                    note(_BUILDS)

        async def carrying_out(driver: Any, ticket: Any) -> None:  # Any: as above
            note(_MOMENTS[0])
            await carry_out(driver, ticket)
            note(_ENDED)

        run_queue._deliver, run_queue._carry_out = delivering, carrying_out
        from kgtui.cli.main import main as kgtui

        sys.exit(kgtui(["open", str(folder / "kernel.py"), "--op", "aten::softmax"]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        run_child(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
