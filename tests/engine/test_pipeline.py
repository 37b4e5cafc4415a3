"""A run from its source to its verdict, with a staff whose answers are written here."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from engine import events, wire
from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import Candidate, Case, Cost, DType, Limits, Outcome, OutputReport, Plan, Problem, Tier, Tolerance
from engine.pipeline import Run

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

PROBLEM = Problem(
    name="toy::twice", entry="f", signature="f(x: Tensor) -> Tensor", summary="", category="toy",
    cases=(Case(name="empty", dtype=DType.FLOAT32, tier=Tier.FULL, params={}),),
    make_inputs=lambda case, rng: (torch.zeros(0),), reference=lambda x: 2 * x, eager=lambda x: 2 * x,
    tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
    cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1), origin="m:P",
)  # fmt: skip


async def test_a_case_without_elements_needs_no_kernel(employ: Employ, tmp_path: Path) -> None:
    def empty_case(kind: str, command: wire.AnyCommand) -> wire.AnyReply:
        report = OutputReport(name="return", outcome=Outcome.PASS, shape=(0,), dtype="float32")
        match command:
            case wire.Load():
                return wire.Loaded(id=command.id)
            case wire.Prepare():
                arena = wire.ArenaSpec(path=command.arena_path or "", storages=(), bytes=256)
                return wire.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
            case wire.Call():
                return wire.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)
            case wire.Compare():
                return wire.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)
            case wire.Release():
                return wire.Released(id=command.id, seed=1)
            case _:
                return wire.Done(id=command.id)

    _, staff = employ(empty_case)
    candidate = Candidate(source=b"import triton\n@triton.jit\ndef k(): ...\ndef f(x): ...\n", problem="toy::twice")
    run = Run(
        candidate=candidate, plan=Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cpu", target=None), staff=staff,
        artefacts=ArtefactStore(folder=tmp_path), device=Device(platform="cpu", index=0, name="cpu"), limits=Limits(),
    )  # fmt: skip
    told = [event async for event in run.stream(asyncio.Event())]
    finished = told[-1]
    assert isinstance(finished, events.RunFinished)
    assert (finished.verdict.outcome, finished.verdict.flagged) == (Outcome.PASS, False)
