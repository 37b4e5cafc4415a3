"""A plan: which cases of a problem are run, where, and within which limits.

Frozen, keyword-only, checked when they are made.  No torch here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from engine.model.json_values import read, written
from engine.model.problems.case import Case, Tier
from engine.model.problems.problem import Problem


class Policy(enum.StrEnum):
    """Rule by which findings affect the verdict; engine.verdict.policy has the effects of each."""

    DEFAULT = "default"
    STRICT = "strict"
    FACTS_ONLY = "facts-only"


class CacheState(enum.StrEnum):
    """Whether a timed call finds its inputs in the device's second-level cache."""

    COLD = "cold"
    WARM = "warm"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resources that a candidate may use before it is stopped: one process of it, and all of one run together.

    Seconds are counted as in engine/cpu_time/deadline.py.
    """

    load_s: float = 20.0
    case_s: float = 10.0
    compile_s: float = 60.0
    memory_bytes: int = 8 << 30
    output_bytes: int = 1 << 30
    log_bytes: int = 1 << 20
    processes: int = 256
    total_memory_bytes: int = 12 << 30
    total_disk_bytes: int = 6 << 30
    total_processes: int = 512

    def __post_init__(self) -> None:
        if min(self.load_s, self.case_s, self.compile_s) <= 0:
            raise ValueError(f"time limits must be positive: {self}")


@dataclass(frozen=True, kw_only=True)
class BenchmarkPlan:
    """Cases to be timed if the candidate is right, and their baselines.

    `baselines` are names that a judge can prepare: "eager", "compile", "compile-max", "cublas", "vllm". `case_s` is
    the time limit of one case, verification of its timed calls included.  `ends_s`, after the start of the run, is
    when it should be over for a waiting user: except for the first, no case begins that would leave less time for the
    probes than verification took, if it took as long as the longest so far.  None times every case. `tuning_s` is the
    time limit of the candidate's own autotuners for each case: to compile their configurations ahead once all cases are
    done, and again to measure them.  Configurations left then are not tried.
    """

    cases: tuple[Case, ...]
    cache: CacheState = CacheState.COLD
    baselines: tuple[str, ...] = ("eager",)
    case_s: float = 1.1
    ends_s: float | None = None
    tuning_s: float = 30.0

    def __post_init__(self) -> None:
        if self.case_s <= 0:
            raise ValueError(f"a case needs time to be measured, got case_s={self.case_s}")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one candidate is verified: which cases in which order, where, for which target.

    Ids and values only, so that it can be written as JSON and carried out on another machine.

    `target` is the compilation target of captured launches ("sm_90", "gfx942"); None skips that stage. `limits` of None
    are the engine's own, which depend on the device.  `benchmark` of None times nothing. `policy` determines the effect
    of findings.  `seeds` repeat the inputs of the cases that they name. All random draws of the run follow from
    `draw_seed`; None draws new numbers, and may reuse inputs of earlier runs. Timed calls always draw new ones.  A run
    that `chooses_seed` draws it once the candidate is loaded.  One that `sanitizes` runs compute-sanitizer on a call of
    a candidate that passed.  A run with `one_worker`, which times nothing, makes on a GPU no dry run and probes in the
    worker that verified, unless something has to be confirmed in another one.
    """

    problem: Problem
    cases: tuple[Case, ...]
    device: str
    target: str | None
    seeds: Mapping[str, int] = field(default_factory=dict)
    draw_seed: int | None = None
    chooses_seed: bool = False
    limits: Limits | None = None
    benchmark: BenchmarkPlan | None = None
    policy: Policy = Policy.DEFAULT
    sanitizes: bool = False
    one_worker: bool = False

    def __post_init__(self) -> None:
        if self.one_worker and self.benchmark is not None:
            raise ValueError("a run with one worker times nothing: leave out its benchmark")

    @property
    def is_timed(self) -> bool:
        """Whether a right candidate is to be timed."""
        return self.benchmark is not None and bool(self.benchmark.cases)

    @staticmethod
    def for_tiers(
        problem: Problem,
        *,
        tiers: tuple[Tier, ...],
        device: str,
        target: str | None,
        failed_before: tuple[str, ...] = (),
        limits: Limits | None = None,
    ) -> Plan:
        """Plan of the cases of `tiers`: those that failed last time first, then tier by tier in the problem's order."""
        chosen = [case for tier in tiers for case in problem.cases if case.tier is tier]
        chosen.sort(key=lambda case: case.name not in failed_before)
        return Plan(problem=problem, cases=tuple(chosen), device=device, target=target, limits=limits)

    def to_json(self) -> str:
        """The plan as one line of JSON."""
        return msgspec.json.encode(written(self)).decode()

    @staticmethod
    def from_json(text: str | bytes) -> Plan:
        """The plan that `to_json` wrote.

        Raises:
            ValueError: the text is not a plan of this version.
        """
        try:
            return msgspec.convert(read(msgspec.json.decode(text)), Plan)
        except (msgspec.MsgspecError, ValueError) as error:
            raise ValueError(f"not a plan: {error}; it was written by another version, or is damaged") from error

    @property
    def has_own_draws(self) -> bool:
        """Whether no inputs of another run are used."""
        return self.chooses_seed or self.draw_seed is not None

    @property
    def is_seed_given(self) -> bool:
        """Whether the seed was chosen before the run, so that a candidate may have been written for it."""
        return self.draw_seed is not None and not self.chooses_seed

    @property
    def timed_only(self) -> tuple[Case, ...]:
        """The cases that are timed without being verified before."""
        timed = self.benchmark.cases if self.benchmark is not None else ()
        return tuple(case for case in timed if case not in self.cases)
