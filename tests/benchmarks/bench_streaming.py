"""Eight answers of 200 tokens a second each through the workbench: a table to read, not a test.

Run it as a program: python -m tests.benchmarks.bench_streaming [seconds].  The application runs headless at 120 x 36 on
a double of the engine and a real store; the answers come from the replay provider.  A task asks the event loop for a
turn each millisecond and notes how much processor time the thread of the screen used until it came: that is how long
a key waits for its frame on a machine with a processor to spare.  Wall time would count what other programs take.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import bench_screen
from tests.kgtui import fakes

COLUMNS, ROWS = 120, 36
ANSWERS, TOKENS_PER_S = 8, 200
LIMIT_MS = 50.0
BEGINS_S = 2.0  # of each measurement, for the first request
_LINE = "    x = tl.load(x_ptr + row * cols + offsets, mask=offsets < cols, other=0.0)\n"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Processor time of the turns of the event loop, and how many characters had arrived at the end."""

    median_ms: float
    p99_ms: float
    worst_ms: float
    characters: int


def main(seconds: float) -> None:
    """Print one row for each screen that shows the stream."""
    if seconds <= BEGINS_S:
        sys.exit(f"{seconds:g} s: more than {BEGINS_S:g} are needed, which the first request takes")
    print(f"{ANSWERS} answers of {TOKENS_PER_S} tokens a second each, {seconds:g} s, {COLUMNS} x {ROWS}\n")
    heads = f"{'median ms':>10} {'p99 ms':>8} {'worst ms':>9} {'characters':>11}"
    print(f"{'processor time of one turn of the loop':38} {heads}")
    for name, key in (("workbench, which shows one answer", ""), ("Models screen", "L")):
        found = asyncio.run(streamed(key, seconds=seconds))
        print(f"{name:38} {found.median_ms:10.2f} {found.p99_ms:8.1f} {found.worst_ms:9.1f} {found.characters:11,}")
    print(f"\na frame may take {LIMIT_MS:g} ms")


async def streamed(key: str, *, seconds: float) -> Measured:
    """Generate in a workbench and watch the loop; `key` opens another screen over it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording = bench_screen._real_store(folder)
        app = bench_screen._application(folder, engine=fakes.FakeEngine(), recording=recording)
        app.runs.generation._settings.environment.update(_environment(folder, tokens=int(seconds * TOKENS_PER_S)))
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            while app.runs.busy or not app.problems:
                await pilot.pause()
            gc.freeze()  # as the application does once it has started
            generation = app.runs.generation
            app.workbench.candidates._begin(lambda: generation.begin(f"replay:m n={ANSWERS}"))
            if key:
                await pilot.press(key)
            await asyncio.sleep(1.0)  # the first request reads the store and the prices
            turns_s = await _turns(seconds - BEGINS_S)
            characters = sum(map(len, generation.progress.streaming.values()))
            generation.stop()
            await pilot.pause()
    turns_s.sort()
    return Measured(
        median_ms=1e3 * turns_s[len(turns_s) // 2],
        p99_ms=1e3 * turns_s[int(0.99 * len(turns_s))],
        worst_ms=1e3 * turns_s[-1],
        characters=characters,
    )


async def _turns(seconds: float) -> list[float]:
    """The processor time of this thread from each turn to the next, in seconds."""
    turns_s: list[float] = []
    end_s = time.perf_counter() + seconds
    while time.perf_counter() < end_s:
        before_s = time.thread_time()
        await asyncio.sleep(0.001)
        turns_s.append(time.thread_time() - before_s)
    return turns_s


def _environment(folder: Path, *, tokens: int) -> dict[str, str]:
    """A recording with an answer for each sample, one token of code at a time."""
    words = _LINE.split(" ")
    lines = tokens // len([word for word in words if word]) + 1
    answer = f"One row a program.\n\n```python\n{_LINE * lines}```\n"
    exchanges = [
        {
            "model": "m", "prompt": "", "place": f"sample-{number}", "answer": answer,
            "input_tokens": 1000, "output_tokens": tokens,
        }
        for number in range(1, ANSWERS + 1)
    ]  # fmt: skip
    path = folder / "replay.json"
    path.write_text(json.dumps({"exchanges": exchanges, "pause_s": 1 / TOKENS_PER_S}))
    return {"KGTUI_REPLAY": str(path), "KGTUI_HOME": str(folder)}


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 12.0)
