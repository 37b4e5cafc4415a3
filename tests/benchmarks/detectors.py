"""Which detectors catch each cheat of the corpus on the CPU, which catch one alone, and which honest cases are proven.

    python -m tests.benchmarks.detectors [--kind cheats|honest] [NAME ...]

Every file runs over its smoke cases, and a cheat over the case that its first line names too.  A detector is a check
that flags, `behaviour` by what it found, or the outcome of a run that did not pass.  The last table has the cases that
are not proven, with their reasons.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Candidate, Finding, Limits, Outcome, Plan, Severity, Tier, Verdict, events
from engine.model.proof import CaseProof
from tests.candidates import candidates_named, stated
from tests.operators import find

LIMITS = Limits(load_s=10.0, case_s=20.0, memory_bytes=2 << 30)
DRAW_SEED = 1
SPLIT_BY_MESSAGE = "behaviour"
"""The one check with several detectors behind it."""


@dataclass(frozen=True, kw_only=True)
class Caught:
    """A file of the corpus: what flags it, or its outcome, and the proofs of its cases."""

    name: str
    detectors: frozenset[str]
    verdict: Verdict
    proofs: tuple[CaseProof, ...]


async def run(engine: Engine, path: Path) -> Caught:
    """Run one file."""
    first = stated(path)
    problem = find(first.op)
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE,), device="cpu", target=None, limits=LIMITS)
    named = () if first.case is None else (problem.case(first.case),)
    cases = {case.name: case for case in (*plan.cases, *named)}
    plan = replace(plan, cases=tuple(cases.values()), draw_seed=DRAW_SEED)
    candidate = Candidate(source=path.read_bytes(), problem=first.op, filename=path.name)
    seen: list[events.Event] = []
    async with aclosing(engine.evaluate(candidate, plan)) as running:
        async for event in running:
            seen.append(event)
            if isinstance(event, events.RunFinished):
                break
    verdict = next(event.verdict for event in seen if isinstance(event, events.RunFinished))
    found = (event.finding for event in seen if isinstance(event, events.FindingRaised))
    detectors = detectors_of(found) if verdict.outcome is Outcome.PASS else frozenset({f"outcome {verdict.outcome}"})
    proofs = tuple(event.proof for event in seen if isinstance(event, events.CaseProven))
    return Caught(name=path.stem, detectors=detectors, verdict=verdict, proofs=proofs)


def detectors_of(findings: Iterable[Finding]) -> frozenset[str]:
    """The detectors of the findings that flag a run."""
    grave = (finding for finding in findings if finding.severity in (Severity.SUSPECT, Severity.PROOF))
    return frozenset(
        f"{finding.check}: {finding.message.partition(':')[0]}" if finding.check == SPLIT_BY_MESSAGE else finding.check
        for finding in grave
    )


async def run_all(paths: Sequence[Path]) -> AsyncIterator[Caught]:
    """Run all files in one engine."""
    with tempfile.TemporaryDirectory() as folder:
        store = ArtefactStore(folder=Path(folder))
        async with Engine(device="cpu", artefacts=store, environment=dict(os.environ), limits=LIMITS) as engine:
            for path in paths:
                yield await run(engine, path)


def detector_table(caught: Iterable[Caught]) -> list[str]:
    """A line for each detector: how many files it catches, how many alone, and the names of those."""
    names: dict[str, list[str]] = defaultdict(list)
    alone: dict[str, list[str]] = defaultdict(list)
    for one in caught:
        for detector in one.detectors:
            names[detector].append(one.name)
            if len(one.detectors) == 1:
                alone[detector].append(one.name)
    ordered = sorted(names, key=lambda detector: (-len(names[detector]), detector))
    return [f"{len(names[one]):4} {len(alone[one]):4}  {one}  {' '.join(alone[one])}".rstrip() for one in ordered]


def proof_table(caught: Iterable[Caught]) -> list[str]:
    """A line for each reason for which cases of a file are not proven."""
    return sorted({f"{one.name}: {proof.reason}" for one in caught for proof in one.proofs if not proof.proven})


async def main(kind: str, names: Sequence[str]) -> None:
    """Run the files and print the tables."""
    caught = [one async for one in run_all(candidates_named(kind, names))]
    print("\n".join((" all alone  detector", *detector_table(caught), "", *proof_table(caught), "")))
    believed = [one.name for one in caught if one.verdict.outcome is Outcome.PASS and not one.verdict.flagged]
    proofs = [proof.proven for one in caught for proof in one.proofs]
    print(f"{len(caught)} files, {len(believed)} passed without a flag; {sum(proofs)} of {len(proofs)} cases proven")
    if kind == "cheats":
        print(*believed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=("cheats", "honest"), default="cheats")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    asyncio.run(main(chosen.kind, chosen.names))
