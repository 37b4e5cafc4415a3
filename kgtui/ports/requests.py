"""Requests for runs, and the interface of their consumers: pure records."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from engine.model import BenchmarkPlan, Candidate, Launch, Plan, Policy, Problem, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.model.events import Event

AGENT_TAG = "agent"
"""The tag of runs requested by coding agents through `kgtui mcp`."""

DEFAULT_TIERS = (Tier.SMOKE, Tier.FULL)


class Priority(enum.IntEnum):
    """Priority of a waiting request; lower numbers run first."""

    SAVE = 0
    BATCH = 1


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One candidate to run.

    The run is stored with `tag` and `note`, if given.  `cases` are the only ones to run, each on the inputs of its seed
    in `seeds`; `again` requests a run even if the store has an answer.  `benchmark` is timed once all cases pass; None
    times nothing.  With `against` the candidate is timed alternately with that other one.  Its launches are also
    compiled for `targets`.  `draw_seed` and `chooses_seed` are those of the plan.  A run that `stops_at_verdict` leaves
    out the disassembly after it.  Content with `is_generated` is in no file: `path` only names it.  With `sanitizes`, a
    passing candidate is checked by compute-sanitizer.  `one_worker` is that of the plan.
    """

    problem: Problem
    path: Path
    content: bytes
    device: str
    target: str | None
    tiers: tuple[Tier, ...] = DEFAULT_TIERS
    policy: Policy = Policy.DEFAULT
    cases: tuple[str, ...] = ()
    seeds: tuple[tuple[str, int], ...] = ()
    again: bool = False
    draw_seed: int | None = None
    chooses_seed: bool = False
    tag: str | None = None
    note: str | None = None
    benchmark: BenchmarkPlan | None = None
    against: Candidate | None = None
    targets: tuple[str, ...] = ()
    priority: Priority = Priority.SAVE
    stops_at_verdict: bool = False
    is_generated: bool = False
    sanitizes: bool = False
    one_worker: bool = False

    @cached_property
    def candidate(self) -> Candidate:
        """The candidate for the engine."""
        return Candidate(
            source=self.content,
            problem=self.problem.name,
            filename=self.path.name,
            folder=None if self.is_generated else self.path.parent,
            modules=self.problem.suite.modules if self.problem.suite is not None else (),
        )

    def plan(self, failed_before: tuple[str, ...]) -> Plan:
        """The cases to run, those of `failed_before` first unless cases were selected."""
        if self.cases:
            selected = tuple(case for case in self.problem.cases if case.name in self.cases)
            plan = Plan(
                problem=self.problem, cases=selected, device=self.device, target=self.target, seeds=dict(self.seeds)
            )
        else:
            plan = Plan.for_tiers(
                self.problem, tiers=self.tiers, device=self.device, target=self.target, failed_before=failed_before
            )
        return replace(
            plan,
            benchmark=self.benchmark,
            policy=self.policy,
            draw_seed=self.draw_seed,
            chooses_seed=self.chooses_seed,
            sanitizes=self.sanitizes,
            one_worker=self.one_worker,
        )


@dataclass(frozen=True, kw_only=True)
class RetargetRequest:
    """The launches of a run to compile for other targets; the result is recorded with that run.

    `number` is the run's in the store, None when it is not recorded; `after_s` is the time of its last event.
    """

    candidate: Candidate
    entry: str
    launches: tuple[Launch, ...]
    targets: tuple[str, ...]
    number: int | None
    after_s: float
    priority: Priority = Priority.SAVE


@dataclass(frozen=True, kw_only=True)
class RunHeader:
    """Header of a run to be shown: its number in the store, None when it is not recorded.

    `picked` says that only selected cases are run.
    """

    number: int | None
    cached: bool
    digest: str
    picked: bool = False


class Audience(Protocol):
    """The receiver of one run; called on the event loop, must return quickly."""

    def run_began(self, header: RunHeader) -> None:
        """A run begins, to which the following events belong."""

    def on_events(self, events: Sequence[Event]) -> None:
        """The next events of the run happened; they are already stored."""

    def trouble_arose(self, message: str) -> None:
        """The store cannot be read or written."""
