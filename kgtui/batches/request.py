"""Request of a batch: its candidates, device, cases and policy.  A batch with the same request can be resumed."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from engine.model import BenchmarkPlan, Policy, Problem, Tier
from kgtui.generation.carrying_out import benchmark_of
from kgtui.generation.verifying import RunConditions

TAG = "batch"


@dataclass(frozen=True, kw_only=True)
class BatchRequest:
    """Its JSON is in the store.  `candidates` is an absolute path, `operator` applies to all candidates if given.

    `suites` are the ids of the suites that operators were looked up in, `timed` says whether passing candidates are
    timed on a device that can be timed.
    """

    candidates: str
    operator: str | None
    suites: tuple[str, ...]
    device: str
    target: str | None
    tiers: tuple[Tier, ...]
    policy: Policy
    timed: bool

    def to_json(self) -> str:
        """One line of JSON, the same for equal requests."""
        return msgspec.json.encode(self, order="sorted").decode()

    @property
    def conditions(self) -> RunConditions:
        """How each candidate is run."""
        return RunConditions(
            device=self.device,
            target=self.target,
            benchmark=self.benchmark,
            tiers=self.tiers,
            policy=self.policy,
            tag=TAG,
        )

    def benchmark(self, problem: Problem) -> BenchmarkPlan | None:
        """Timed cases of a candidate that passes; None if nothing is timed."""
        return benchmark_of(self.device)(problem) if self.timed else None
