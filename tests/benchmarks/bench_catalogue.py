"""The catalogue as one table: cases, margins, second oracles, reference times, memory and solutions of each operator.

Run it as a program:

    python -m tests.benchmarks.bench_catalogue [--source aten|vllm|cublas] [OPERATOR ...]

Times are processor seconds of one thread for making the inputs and computing the reference, over all cases of the tier.
The peak is what the resident memory of a process of its own grows by while it does so for the largest of these cases;
some 9 MiB of that are pages which any new process copies.
The last column of memory is the estimate for the largest BENCH case, which must fit a card of 24 GiB.  A margin is how
many times the error of eager fits into the tolerance where that is least; "-" where answers are exact or random.  The
goal is a sum of SMOKE times under 60 s on two cores.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import torch

from engine.judge.inputs.memory_need import estimated_bytes
from engine.model import Case, Determinism, ProblemDefinition, Tier
from problems.catalogue import Catalogue
from problems.rules.answers import least_margin
from problems.rules.trial import QUICK_TIERS, SEED, Trial
from tests.candidates import candidates, stated
from tests.operators import NAMES, described

MIB, GIB = 1 << 20, 1 << 30
COLUMNS = (
    *("operator", "smoke", "full", "bench", "margin", "smoke s", "full s", "peak MiB", "bench GiB", "solutions"),
    "second oracle",
)
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, kw_only=True)
class Row:
    """The figures of one operator; `margin` is None where its answers are exact or random."""

    name: str
    category: str
    oracle: str
    cases: dict[Tier, int]
    seconds: dict[Tier, float]
    margin: float | None
    peak_bytes: int
    bench_bytes: int
    solutions: int


def row_of(name: str, solutions: int) -> Row:
    """Measure one operator."""
    problem = Catalogue().load(name)
    quick = [case for case in problem.cases if case.tier in QUICK_TIERS]
    compute(problem, quick[:1])  # imports what the first call needs
    timed = [case for case in problem.cases if case.tier is Tier.BENCH]
    return Row(
        name=name,
        category=str(problem.category),
        oracle=described(name).second_oracle,
        cases={tier: sum(case.tier is tier for case in problem.cases) for tier in Tier},
        seconds={tier: seconds_of(problem, [case for case in quick if case.tier is tier]) for tier in QUICK_TIERS},
        margin=margin_of(problem, name),
        peak_bytes=peak_of(problem, max(quick, key=lambda case: estimated_bytes(problem.cost(case)))),
        bench_bytes=max(estimated_bytes(problem.cost(case)) for case in timed),
        solutions=solutions,
    )


def compute(problem: ProblemDefinition, cases: Sequence[Case]) -> None:
    """Make the inputs of each case and compute the reference on them."""
    for case in cases:
        problem.reference(*problem.make_inputs(case, torch.Generator().manual_seed(SEED)))


def seconds_of(problem: ProblemDefinition, cases: Sequence[Case]) -> float:
    """Processor seconds of `compute`."""
    started = time.process_time()
    compute(problem, cases)
    return time.process_time() - started


def margin_of(problem: ProblemDefinition, name: str) -> float | None:
    """The least margin, where eager differs from the reference by rounding."""
    if problem.compare is not None or problem.determinism in (Determinism.RANDOM, Determinism.UNSPECIFIED):
        return None
    least = least_margin(Trial(problem, described(name)))
    return least[0] if least is not None else None


def peak_of(problem: ProblemDefinition, case: Case) -> int:
    """Bytes by which the resident memory of a child grows at most while it computes the case."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        before = _status_bytes("VmRSS")
        compute(problem, [case])
        os.write(writes, str(_status_bytes("VmHWM") - before).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as figures:
        peak = int(figures.read())
    os.waitpid(child, 0)
    return max(peak, 0)


def _status_bytes(key: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024


def table(rows: Sequence[Row]) -> Iterator[str]:
    """One line for each operator, by source and category."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for (source, category), group in groupby(rows, key=_section):
        yield f"| **{source} {category}** " + "| " * (len(COLUMNS) - 1) + "|"
        for row in group:
            counts = " | ".join(str(row.cases[tier]) for tier in (Tier.SMOKE, Tier.FULL, Tier.BENCH))
            margin = f"{row.margin:.2f}" if row.margin is not None else "-"
            times = " | ".join(f"{row.seconds[tier]:.4f}" for tier in QUICK_TIERS)
            memory = f"{row.peak_bytes / MIB:.1f} | {row.bench_bytes / GIB:.2f}"
            bare = row.name.partition("::")[2]
            yield f"| {bare} | {counts} | {margin} | {times} | {memory} | {row.solutions} | {row.oracle} |"


def totals(rows: Sequence[Row]) -> Iterator[str]:
    """Sums and extremes over all rows."""
    cases = {tier: sum(row.cases[tier] for row in rows) for tier in Tier}
    yield f"{len(rows)} operators; " + ", ".join(f"{count:,} {tier}" for tier, count in cases.items()) + " cases"
    seconds = {tier: sum(row.seconds[tier] for row in rows) for tier in QUICK_TIERS}
    yield "references: " + ", ".join(f"{tier} {sum_s:.2f} s" for tier, sum_s in seconds.items())
    largest = max(rows, key=lambda row: row.peak_bytes)
    yield f"largest peak: {largest.peak_bytes / MIB:.1f} MiB ({largest.name})"
    timed = max(rows, key=lambda row: row.bench_bytes)
    yield f"largest estimate of a BENCH case: {timed.bench_bytes / GIB:.2f} GiB ({timed.name})"
    margins = sorted((row.margin, row.name) for row in rows if row.margin is not None)[:10]
    yield "smallest margins: " + ", ".join(f"{name} {margin:.2f}" for margin, name in margins)
    solved = sum(row.solutions > 0 for row in rows)
    yield f"{sum(row.solutions for row in rows)} honest kernels, of {solved} operators"
    yield f"{sum(bool(row.oracle) for row in rows)} operators state a second oracle"


def _section(row: Row) -> tuple[str, str]:
    return row.name.partition("::")[0], row.category


def main() -> None:
    """Measure, and print the table and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", choices=("aten", "vllm", "cublas"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    solutions = Counter(stated(path).op for path in candidates("honest"))
    chosen = [name for name in NAMES if options.source in (None, name.partition("::")[0])]
    if options.names:
        chosen = [name for name in chosen if name in options.names or name.partition("::")[2] in options.names]
    rows = sorted((row_of(name, solutions[name]) for name in chosen), key=_section)
    print("\n".join([*table(rows), "", *totals(rows)]))


if __name__ == "__main__":
    main()
