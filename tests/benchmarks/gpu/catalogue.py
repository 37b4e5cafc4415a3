"""The honest kernels of the corpus on a real device: verdict, speed-up over eager and time of each, by operator.

Run with the interpreter of an environment that has kgtui and a CUDA torch:

    python -m tests.benchmarks.gpu.catalogue [--device cuda] [--match PATTERN] [--every] [--untimed] [--tiers TIER ...]
        [--share PART/PARTS]

Each file is verified on its tiers, and timed on the first BENCH case of its operator against eager unless `--untimed`.
Without `--every` one file of each operator runs, the first by name; `--share 1/4` is every fourth of these files, so
that several processes can divide them.  A table is printed last, also after SIGTERM: the seconds of each tier and the
geometric mean of the speed-ups by category, and what did not pass; the exit code is 1 if a file did not.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fnmatch
import math
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.engine import Engine
from engine.model import BenchmarkPlan, Outcome, Problem, Tier
from engine.model.events import CaseBenchmarked, TierFinished
from problems.index import open_index
from tests.benchmarks.gpu.bench_inspector import Inspected, NotJudgedError, inspected
from tests.benchmarks.gpu.repairs import engine_on
from tests.candidates import candidates, stated

LIMIT_S = 90.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One kernel file: its operator, what came of it, its speed-up over eager if it was timed, and the seconds.

    `smoke_s` and `full_s` are from the save to the last case of the tier, and from there to that of the next.
    """

    name: str
    operator: str
    category: str
    passed: bool
    words: str
    speedup: float | None
    seconds: float
    smoke_s: float = 0.0
    full_s: float = 0.0

    @property
    def text(self) -> str:
        """The row as it is printed."""
        speedup = f"{self.speedup:7.2f}x" if self.speedup is not None else "        "
        mark = "ok  " if self.passed else "DIFF"
        tiers = f"{self.smoke_s:5.2f} {self.full_s:5.2f}"
        return f"{mark} {self.operator:44} {self.name:40} {tiers} {self.seconds:6.1f} s {speedup}  {self.words}"


def chosen_files(pattern: str, *, every: bool) -> tuple[Path, ...]:
    """The honest files whose operator matches, all of them or the first of each operator."""
    first: dict[str, Path] = {}
    found = [path for path in candidates("honest") if fnmatch.fnmatch(stated(path).op, pattern)]
    for path in found:
        first.setdefault(stated(path).op, path)
    return tuple(found) if every else tuple(first.values())


async def row_of(engine: Engine, path: Path, problem: Problem, tiers: Sequence[Tier], *, timed: bool) -> Row:
    """What comes of one file."""
    benchmark = None
    if timed and engine.device.platform != "cpu":
        case = next(case for case in problem.cases if case.tier is Tier.BENCH)
        benchmark = BenchmarkPlan(cases=(case,))
    started, tier_s = time.perf_counter(), (0.0, 0.0)
    try:
        found = await inspected(
            engine, path.name, path.read_bytes(), problem.name,
            tiers=tuple(tiers), benchmark=benchmark, limit_s=LIMIT_S,
        )  # fmt: skip
    except NotJudgedError as error:
        words, passed, speedup = str(error)[:200], False, None
    else:
        verdict, tier_s = found.verdict, tier_seconds(found)
        words, passed, speedup = verdict.sentence, verdict.outcome is Outcome.PASS, speedup_of(found)
        if verdict.flagged:
            passed, words = False, f"{words}; flagged: {'; '.join(each.message for each in found.findings)[:300]}"
    return Row(
        name=path.stem, operator=problem.name, category=problem.category, passed=passed, words=words,
        speedup=speedup, seconds=time.perf_counter() - started, smoke_s=tier_s[0], full_s=tier_s[1],
    )  # fmt: skip


def speedup_of(found: Inspected) -> float | None:
    """How many times faster than eager the timed case was; None if it was not timed."""
    for event in found.events:
        if isinstance(event, CaseBenchmarked):
            for comparison in event.benchmark.comparisons:
                if comparison.baseline == "eager":
                    return comparison.speedup.value
    return None


def tier_seconds(found: Inspected) -> tuple[float, float]:
    """The seconds of the smoke and of the full tier; 0 for one that did not finish."""
    ends = {event.tier: event.at_s for event in found.events if isinstance(event, TierFinished)}
    smoke = ends.get(Tier.SMOKE, 0.0)
    return smoke, max(0.0, ends.get(Tier.FULL, smoke) - smoke)


def summary(rows: Sequence[Row]) -> Iterable[str]:
    """What came of all files, by category and in all."""
    by_category: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_category[row.category].append(row)
    for category, among in sorted(by_category.items()):
        speedups = [row.speedup for row in among if row.speedup]
        mean = math.exp(sum(map(math.log, speedups)) / len(speedups)) if speedups else None
        words = f"geometric mean {mean:.2f}x of {len(speedups)} timed" if mean else "not timed"
        tiers = f"smoke {sum(row.smoke_s for row in among):.1f} s, full {sum(row.full_s for row in among):.1f} s"
        yield f"{category:26} {sum(row.passed for row in among)}/{len(among)} passed, {tiers}, {words}"
    seconds = sum(row.seconds for row in rows)
    operators = {row.operator for row in rows if row.passed}
    yield f"{sum(row.passed for row in rows)}/{len(rows)} files of {len(operators)} operators passed in {seconds:.0f} s"
    for row in rows:
        if not row.passed:
            yield row.text


async def main() -> int:
    """Run every chosen file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--match", default="*")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--untimed", action="store_true")
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--tiers", nargs="+", type=Tier, default=[Tier.SMOKE, Tier.FULL])
    options = parser.parse_args()
    rows: list[Row] = []
    running = asyncio.create_task(run_files(options, rows))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running
    print("\n".join(summary(rows)), flush=True)
    return 0 if all(row.passed for row in rows) else 1


async def run_files(options: argparse.Namespace, rows: list[Row]) -> None:
    """Run every chosen file of this share, and append and print what came of each."""
    index = open_index()
    part, parts = map(int, options.share.split("/"))
    async with engine_on(options.device) as engine:
        print(f"{engine.device.name}, {engine.versions}", flush=True)
        if engine.device.platform != "cpu" and not options.untimed:
            await engine.measure_peaks()
        for path in chosen_files(options.match, every=options.every)[part - 1 :: parts]:
            row = await row_of(engine, path, index.find(stated(path).op), options.tiers, timed=not options.untimed)
            rows.append(row)
            print(row.text, flush=True)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
