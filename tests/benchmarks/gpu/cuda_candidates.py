"""Ten CUDA candidates on a GPU with nvcc: what each comes to, and how long its build and its run took.

Run with the interpreter of an environment that has kgtui and a CUDA torch, nvcc on the PATH or in CUDA_HOME:

    python -m tests.benchmarks.gpu.cuda_candidates [--device cuda] [--only silu mm_tiles] [--sanitize]

Six are honest, two are wrong, two call a library; `cuda_texts.py` has them.  The last silu is the first one again,
whose build is kept.  Exits with 1 where a verdict is another than expected.  Without nvcc or a GPU every verdict is
`unsupported`, which the table shows too.  With `--sanitize` two others run instead, which are right and read behind the
end of a tensor, or race in shared memory: what compute-sanitizer finds, and whether it finds that.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.engine import Engine
from engine.model import Candidate, Plan, Tier, Verdict
from engine.model.events import Event, FindingRaised, KernelCompiled, LayerChecked, ProfileTaken, RunFinished
from problems.index import open_index
from tests.benchmarks.gpu.cuda_texts import CANDIDATES, SANITIZED, CudaText

ROW = "{:<16} {:<12} {:<12} {:>8} {:>8} {:>8}  {}"


async def events_of(
    engine: Engine, text: CudaText, name: str, device: str, *, sanitizes: bool = False
) -> tuple[list[Event], float]:
    """The events of one candidate's smoke and full cases, and the seconds of the whole run."""
    problem = open_index().find(text.operator)
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device=device, target=engine.device.target)
    plan = replace(plan, sanitizes=sanitizes)
    candidate = Candidate(source=text.source(f"bench_{name}").encode(), problem=text.operator, filename=f"{name}.py")
    began = time.perf_counter()
    found = [event async for event in engine.evaluate(candidate, plan)]
    return found, time.perf_counter() - began


def word_of(verdict: Verdict) -> str:
    """The verdict in one word: a right run that was flagged is not a pass."""
    return "flagged" if verdict.flagged else verdict.outcome.value


def row_of(name: str, text: CudaText, found: list[Event], seconds: float) -> tuple[str, bool]:
    """One line of the table, and whether the verdict is the expected one."""
    verdict = next(event.verdict for event in found if isinstance(event, RunFinished))
    spans = next((event.spans for event in found if isinstance(event, ProfileTaken)), ())
    build_s = sum(span.busy_s for span in spans if span.name == "build extension")
    registers = [event.kernel.registers or 0 for event in found if isinstance(event, KernelCompiled)]
    cells = (name, text.expected, word_of(verdict), f"{build_s:.1f}", f"{seconds:.1f}", max(registers, default=0))
    return ROW.format(*cells, verdict.sentence[:160]), word_of(verdict) == text.expected


async def sanitized(device: str) -> int:
    """Print what compute-sanitizer finds in each planted error; 1 where its tool does not find it."""
    found_all = True
    with tempfile.TemporaryDirectory() as folder:
        artefacts = ArtefactStore(folder=Path(folder))
        async with Engine(device=device, artefacts=artefacts, environment=os.environ) as engine:
            for name, text in SANITIZED.items():
                found, seconds = await events_of(engine, text, name, device, sanitizes=True)
                said = [event.finding for event in found if isinstance(event, FindingRaised)]
                messages = [finding.message for finding in said if finding.check == "sanitizer"]
                reports = [event.report for event in found if isinstance(event, LayerChecked)]
                layers = [report for report in reports if report.by == "sanitizer"]
                verdict = next(event.verdict for event in found if isinstance(event, RunFinished))
                print(f"{name}: {word_of(verdict)}, {seconds:.1f} s, {layers}", *messages, sep="\n  ", flush=True)
                found_all = found_all and any(message.startswith(text.expected) for message in messages)
    return 0 if found_all else 1


async def main() -> int:
    """Run them one after the other and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--only", nargs="*", default=list(CANDIDATES), choices=list(CANDIDATES), metavar="NAME")
    parser.add_argument("--sanitize", action="store_true", help="run compute-sanitizer over two planted errors")
    options = parser.parse_args()
    if options.sanitize:
        return await sanitized(options.device)
    print(ROW.format("candidate", "expected", "verdict", "build s", "run s", "regs", "sentence"), flush=True)
    names = [*options.only, *(name for name in options.only if name == "silu")]
    as_expected = True
    with tempfile.TemporaryDirectory() as folder:
        artefacts = ArtefactStore(folder=Path(folder))
        async with Engine(device=options.device, artefacts=artefacts, environment=os.environ) as engine:
            for name in names:
                line, expected = row_of(name, CANDIDATES[name], *await events_of(
                    engine, CANDIDATES[name], name, options.device
                ))  # fmt: skip
                print(line, flush=True)
                as_expected = as_expected and expected
    return 0 if as_expected else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
