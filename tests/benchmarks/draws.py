"""Verdicts of the corpus that depend on the draw: every file is run on several draws, and what differs is listed.

    python -m tests.benchmarks.draws [--kind honest|wrong|cheats] [--runs N] [--seed N] [--part K/N]
                                     [--seconds S] [FILE ...]
    python -m tests.benchmarks.draws --margins [--runs N] [--seed N] [--part K/N] [--seconds S] [OPERATOR ...]

Honest kernels run over all smoke and full cases, and must pass without a flag.  Wrong kernels and cheats run over the
smoke cases and the one that their first line names, and over all where these do not show what that line states.  One
engine on the CPU runs all files of a part, K of N (from 1), without compiling for a target; it begins no file after S
seconds.  A line of a difference has the seed, which `--seed` repeats, the case and the reason.

With `--margins` no kernel runs: PyTorch's own answer is compared with the reference on N draws of each smoke and full
case, and cases are listed where its error took more than half of the tolerance.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.judge.compare.compare import compare_elements
from engine.judge.inputs.outputs import eager_outputs, expected_outputs
from engine.model import Candidate, Case, CaseResult, Finding, Limits, Outcome, Plan, ProblemDefinition, Tier, Verdict
from engine.model.events import CaseFinished, FindingRaised, RunFinished
from tests.candidates import Stated, candidates_named, flags_of, stated, words_of
from tests.operators import NAMES, definition, find

T = TypeVar("T")
LIMITS = Limits(load_s=10.0, case_s=20.0, memory_bytes=2 << 30)
TIERS = (Tier.SMOKE, Tier.FULL)
MOST_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run over one draw said."""

    verdict: Verdict
    cases: tuple[CaseResult, ...]
    findings: tuple[Finding, ...]

    def is_as_stated(self, said: Stated) -> bool:
        """Whether the outcome is one of those stated, and a pass is flagged exactly where that is stated."""
        if not words_of(self.verdict.outcome, self.cases) & said.expect:
            return False
        if self.verdict.outcome is not Outcome.PASS:
            return True
        found = bool(flags_of(self.findings) & said.findings)
        return found if said.findings else not self.verdict.flagged

    @property
    def reason(self) -> str:
        """The verdict, the first case that did not pass or was flagged, and the message that belongs to it."""
        failed = next((case for case in self.cases if case.outcome is not Outcome.PASS), None)
        if failed is not None:
            return f"{self.verdict.outcome} | {failed.case} | {failed.message}"
        flag = next((finding for finding in self.findings if flags_of((finding,))), None)
        place = (flag.case or "") if flag is not None else ""
        return f"{self.verdict.outcome} | {place} | {self.verdict.sentence}"


async def run_files(paths: Sequence[Path], seeds: Sequence[int], *, ends_s: float) -> None:
    """Run each file on each seed, draw by draw, and print what differs and how many did."""
    runs = different = 0
    with tempfile.TemporaryDirectory() as folder:
        store = ArtefactStore(folder=Path(folder))
        async with Engine(device="cpu", artefacts=store, environment=os.environ, limits=LIMITS) as engine:
            for seed in seeds:
                for path in paths:
                    if time.monotonic() > ends_s:
                        break
                    run = await run_file(engine, path, seed)
                    runs += 1
                    if not run.is_as_stated(stated(path)):
                        different += 1
                        print(f"{path.stem} | seed {seed} | {run.reason}", flush=True)
    print(f"{runs} runs, {different} not as stated")


async def run_file(engine: Engine, path: Path, seed: int) -> Run:
    """The run that shows what the file states; where none does, the one over all cases."""
    said = stated(path)
    problem = find(said.op)
    plan = Plan.for_tiers(problem, tiers=TIERS, device="cpu", target=None, limits=LIMITS)
    plan = replace(plan, draw_seed=seed)
    if said.expect != {Outcome.PASS.value} or said.findings:
        few = tuple(case for case in plan.cases if case.tier is Tier.SMOKE or case.name == said.case)
        run = await judged(engine, path, replace(plan, cases=few))
        if run.is_as_stated(said):
            return run
    return await judged(engine, path, plan)


async def judged(engine: Engine, path: Path, plan: Plan) -> Run:
    """One run of the file, up to its verdict."""
    candidate = Candidate(source=path.read_bytes(), problem=plan.problem.name, filename=path.name, folder=None)
    cases: list[CaseResult] = []
    findings: list[Finding] = []
    async with contextlib.aclosing(engine.evaluate(candidate, plan)) as running:
        async for event in running:
            if isinstance(event, CaseFinished):
                cases.append(event.result)
            elif isinstance(event, FindingRaised):
                findings.append(event.finding)
            elif isinstance(event, RunFinished):
                return Run(verdict=event.verdict, cases=tuple(cases), findings=tuple(findings))
    raise AssertionError(f"{path.name}: the run ended without a verdict")


def print_margins(names: Sequence[str], seeds: Sequence[int], *, ends_s: float) -> None:
    """Print the cases where eager takes much of the tolerance on some draw, and on how many draws it is wrong."""
    draws = failed = 0
    for name in names:
        problem = definition(name)
        if problem.compare is not None or not problem.determinism.has_one_answer:
            continue
        for case in problem.cases:
            if case.tier not in TIERS or time.monotonic() > ends_s:
                continue
            shares = [max(shares_of(problem, case, seed), default=0.0) for seed in seeds]
            worst, wrong = max(shares), sum(share > 1 for share in shares)
            draws, failed = draws + len(shares), failed + wrong
            if worst > MOST_SHARE:
                seed = seeds[shares.index(worst)]
                print(
                    f"{name} | {case.name} | {wrong} wrong of {len(shares)}, worst {worst:.3g}, seed {seed}", flush=True
                )
    print(f"{draws} draws, eager wrong on {failed}")


def shares_of(problem: ProblemDefinition, case: Case, seed: int) -> Iterator[float]:
    """How much of the tolerance the largest error of eager takes, for each output of floats."""
    inputs = problem.make_inputs(case, torch.Generator().manual_seed(seed))
    expected, got = expected_outputs(problem, inputs), eager_outputs(problem, inputs)
    for wanted, value in zip(expected, got, strict=True):
        if wanted.numel() and (wanted.is_floating_point() or wanted.is_complex()):
            found = compare_elements(value.contiguous(), wanted, problem.tolerance(case))
            shares = torch.where(found.both & (found.error > 0), found.error / found.allowed, 0.0)
            yield float(shares.max())


def _part(items: Sequence[T], part: str) -> list[T]:
    number, count = map(int, part.split("/"))
    return list(items[number - 1 :: count])


def main() -> None:
    """Read the arguments, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=("honest", "wrong", "cheats"), default="honest")
    parser.add_argument("--margins", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    ends_s = time.monotonic() + options.seconds
    seeds = range(options.seed, options.seed + options.runs)
    if options.margins:
        print_margins(_part(options.names or NAMES, options.part), seeds, ends_s=ends_s)
        return
    chosen = _part(candidates_named(options.kind, options.names), options.part)
    asyncio.run(run_files(chosen, seeds, ends_s=ends_s))


if __name__ == "__main__":
    main()
