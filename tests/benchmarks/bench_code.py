"""Reading 20,000 lines of SASS beside the source, and comparing two such texts: a table to read, no test.

Run it as a program: python -m tests.benchmarks.bench_code.  The workbench is drawn without a terminal at
200 x 60, where the code has a pane of its own that follows the source.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from kgtui.app.application import WorkbenchApp
from kgtui.app.services import Services
from kgtui.app.start import Settings, Start
from kgtui.screens.workbench.screen import WorkbenchScreen
from tests.kgtui import fakes

LINES = 20_000
MOVES = 200
KEY_S = 0.03
SIZE = (200, 60)


def main() -> None:
    """Print the table."""
    print(f"{f'{LINES:,} lines of SASS, {SIZE[0]} x {SIZE[1]}':42} {'median ms':>10} {'p95 ms':>8} {'worst ms':>9}")
    for name, times_ms in asyncio.run(read_code()).items():
        _report(name, times_ms)
    _report("difference of two, one line in twenty new", compare())


async def read_code() -> dict[str, list[float]]:
    """How long the pane takes to show the code, and how late the loop is while it is moved in, the source along."""
    text = machine_code(LINES)
    times_ms: dict[str, list[float]] = {
        "from the artefact to the pane": [],
        "lag, line by line": [],
        "lag, page by page": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        app = _application(Path(folder), text)
        async with app.run_test(size=SIZE) as pilot:
            while app.runs.busy:
                await pilot.pause()
            gc.freeze()  # as `kgtui open` does once it has started
            assert isinstance(app.screen, WorkbenchScreen)
            view = app.screen.code.seen.view
            began_s = time.perf_counter()
            await pilot.press("x")
            while view.line_count != LINES:
                await asyncio.sleep(0)
            times_ms["from the artefact to the pane"].append(1e3 * (time.perf_counter() - began_s))
            app.screen.set_focus(view)
            await pilot.pause()
            await _move(lambda: view.action_move(1), times_ms["lag, line by line"])
            await _move(lambda: view.action_page(1), times_ms["lag, page by page"])
    return times_ms


def compare() -> list[float]:
    """How long it takes to tell what changed; the screen does it in a thread."""
    from kgtui.state.code.differences import differences

    chance, before = random.Random(1), machine_code(LINES)
    renamed = re.sub(r"\bR(\d+)", lambda match: f"R{(int(match[1]) + 7) % 255}", before).splitlines()
    after = "\n".join("        /*0000*/ NEW R1 ;" if chance.random() < 0.05 else line for line in renamed)
    began_s = time.perf_counter()
    changed = differences(before, after, form="sass")
    assert changed.added
    return [1e3 * (time.perf_counter() - began_s)]


def machine_code(lines: int) -> str:
    """Lines in the form of nvdisasm's, every eighth of them a place in the source."""
    chance = random.Random(0)
    operations = ("LDG.E.128 R{a}, desc[UR4][R{b}.64]", "FFMA R{a}, R{b}, 1.442695, R2", "@!P0 BRA `(.L_x_{a})")
    made = []
    for number in range(lines):
        if number % 8 == 0:
            made.append(f'        //## File "/k/softmax.py", line {chance.randrange(8, 17)}')
        else:
            text = chance.choice(operations).format(a=chance.randrange(255), b=chance.randrange(255))
            made.append(f"        /*{number * 16:04x}*/                   {text:50} ;")
    return "\n".join(made)


async def _move(move: Callable[[], None], lags_ms: list[float]) -> None:
    """Move at the speed of a key that is held down, and note how late the event loop is meanwhile."""
    watching = asyncio.create_task(_watch_loop(lags_ms))
    for _ in range(MOVES):
        move()
        await asyncio.sleep(KEY_S)
    watching.cancel()


async def _watch_loop(lags_ms: list[float]) -> None:
    """Ask for a turn each millisecond and note how much later it came."""
    while True:
        asked_s = time.perf_counter()
        await asyncio.sleep(0.001)
        lags_ms.append(1e3 * (time.perf_counter() - asked_s - 0.001))


def _report(name: str, times_ms: list[float]) -> None:
    ordered = sorted(times_ms)
    median, p95 = ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{name:42} {median:10.1f} {p95:8.1f} {ordered[-1]:9.1f}")


def _application(folder: Path, text: str) -> WorkbenchApp:
    path = folder / "softmax.py"
    path.write_bytes(fakes.SOURCE)
    return WorkbenchApp(
        services=Services(
            engine_factory=fakes.FakeEngine,
            store_opener=fakes.MemoryRecording,
            has_store=lambda: False,
            problems=fakes.Problems(),
            watcher_factory=fakes.FakeWatcher,
            scaffold=lambda problem: "",
            diagnose=fakes.diagnose,
            read_artefact=lambda digest: text.encode() if digest == "c" * 64 else fakes.read_artefact(digest),
        ),
        settings=Settings(folder=folder, data=folder),
        start=Start(problem=fakes.softmax_problem(), path=path),
        now=lambda: datetime.now(UTC),
    )


if __name__ == "__main__":
    main()
