"""How long after its writer has finished a save is reported, and how often: a table to read, not a test.

Run it as a program: python -m tests.benchmarks.bench_watcher [saves per way].  Real editors are left
out, since their own running time is not the watcher's; the tests run those.
"""

from __future__ import annotations

import os
import queue
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kgtui.files.watcher import Saved, Watcher


def main(saves: int) -> None:
    print(f"{'way of saving':24} {'saves':>6} {'reports':>8} {'median ms':>10} {'worst ms':>9}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.py"
        path.write_bytes(b"")
        heard: queue.Queue[tuple[float, Saved]] = queue.Queue()
        watcher = Watcher(
            path, lambda saved: heard.put((time.monotonic(), saved)), lambda trouble: print(trouble.message)
        )
        watcher.start()
        for write in (in_place, by_rename, from_another_folder, in_chunks):
            measure(path, write, saves=saves, heard=heard)
        watcher.stop()


def measure(
    path: Path, write: Callable[[Path, bytes], None], *, saves: int, heard: queue.Queue[tuple[float, Saved]]
) -> None:
    delays_ms: list[float] = []
    reports = 0
    for number in range(saves):
        content = f"# {write.__name__} {number}\n".encode() + b"x = 1\n" * 2_000
        write(path, content)
        finished_s = time.monotonic()
        while True:
            at_s, saved = heard.get(timeout=10)
            reports += 1
            if saved.content == content:
                break
        delays_ms.append(1e3 * (at_s - finished_s))
    median_ms, worst_ms = statistics.median(delays_ms), max(delays_ms)
    print(f"{write.__name__:24} {saves:6} {reports:8} {median_ms:10.1f} {worst_ms:9.1f}")


def in_place(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def by_rename(path: Path, content: bytes) -> None:
    draft = path.with_name(f"kernel.py.tmp.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)


def from_another_folder(path: Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        draft = Path(folder) / "draft"
        draft.write_bytes(content)
        draft.replace(path)


def in_chunks(path: Path, content: bytes) -> None:
    with path.open("wb", buffering=0) as file:
        for start in range(0, len(content), 4_096):
            file.write(content[start : start + 4_096])
            time.sleep(0.03)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
