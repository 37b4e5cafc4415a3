"""From the arguments of `kgtui check --candidates` to a batch request."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.devices import Device
from engine.errors import EngineError, UsageError
from engine.model import Policy, Tier
from kgtui.batches.candidates import CandidateSet, read_candidates, suite_candidates
from kgtui.batches.documents import WRITERS
from kgtui.batches.request import BatchRequest
from kgtui.batches.results import ListedOperator, listed_operator
from kgtui.batches.running import BatchOrder
from kgtui.cli.console import Console
from kgtui.cli.operators.index import problem_index
from kgtui.cli.operators.suites import typed_suite
from kgtui.cli.resolved_settings import place_for
from kgtui.files import disk
from kgtui.settings.paths import absolute
from problems.index import ProblemIndex

_TIERS = {"smoke": (Tier.SMOKE,), "full": (Tier.SMOKE, Tier.FULL), None: (Tier.SMOKE, Tier.FULL)}


@dataclass(frozen=True, kw_only=True)
class BatchCommand:
    """A batch with the options of the command line for its output; `outputs` are files to be written."""

    order: BatchOrder
    complaints: tuple[str, ...]
    device: Device
    jobs: int
    index: ProblemIndex
    operators: dict[str, ListedOperator]
    outputs: tuple[Path, ...]
    is_kept: bool


def read_batch(options: argparse.Namespace, console: Console) -> BatchCommand:
    """The batch of the command line; the candidates are read and none is run.

    Raises:
        UsageError: an argument names something that does not exist, or arguments contradict each other.
    """
    _require_together(options)
    outputs = tuple(absolute(name, console.folder) for name in options.output)
    for output in outputs:
        if output.suffix not in WRITERS:
            raise UsageError(f"--output {output.name}: a file is written as {', '.join(WRITERS)}, by its suffix")
        disk.require_writable(output)
    device, target = place_for(options, console, file=None)
    index = problem_index(options, console)
    if options.op is not None:
        index.resolve(options.op)
    path = absolute(options.candidates, console.folder)
    suite = typed_suite(options, console) if options.op is None else None
    if suite is not None:
        found = suite_candidates(path, suite)
    else:
        found = read_candidates(path, _Names(index), operator=options.op)
    request = BatchRequest(
        candidates=str(path),
        operator=options.op,
        suites=(suite.id,) if suite is not None else (),
        device=device.platform,
        target=target,
        tiers=_TIERS[options.cases],
        policy=Policy(options.policy),
        timed=not options.no_timing,
    )
    return BatchCommand(
        order=BatchOrder(request=request, candidates=found.candidates, resume=options.resume),
        complaints=found.complaints,
        device=device,
        jobs=options.jobs,
        index=index,
        operators=operators_of(found, index),
        outputs=outputs,
        is_kept=not options.no_store,
    )


def operators_of(found: CandidateSet, index: ProblemIndex) -> dict[str, ListedOperator]:
    """Description of each operator that has a candidate."""
    names = {candidate.listed.problem for candidate in found.candidates} - {""}
    operators = {}
    for name in names:
        try:
            operators[name] = listed_operator(index.describe(name))
        except EngineError:
            continue  # reported when its candidates run
    return operators


class _Names:
    """Lookup of operators in the index; the source of each is read once."""

    def __init__(self, index: ProblemIndex) -> None:
        self.resolve = index.resolve
        self.entry = cache(lambda name: index.describe(name).entry)


def _require_together(options: argparse.Namespace) -> None:
    """Reject options without a meaning for a batch."""
    if options.file is not None or options.sample:
        raise UsageError("--candidates names the files to verify; leave FILE and --sample out")
    if options.profile:
        raise UsageError("--profile needs a single kernel file: `kgtui check FILE --profile`")
    if options.stages:
        raise UsageError("--stages needs a single kernel file: `kgtui check FILE --stages`")
    if options.resume and options.no_store:
        raise UsageError("--resume continues a batch that was saved; leave --no-store out")
