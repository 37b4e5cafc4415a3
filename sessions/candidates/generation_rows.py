"""Records of generated candidates in the store: batches, requests to providers, usage and cost; frozen records."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from engine.model import Outcome


class GenerationState(enum.StrEnum):
    """State of one request to a provider."""

    RESERVED = "reserved"
    """Stored before it is sent; its highest possible cost is reserved."""
    SETTLED = "settled"
    """Its answer is stored, whole or cut, with its cost if known."""
    FAILED = "failed"
    """The provider refused it, so nothing was charged."""
    LOST = "lost"
    """The program ended or was cancelled before the end of the answer; whether it was charged is unknown."""


class Stop(enum.StrEnum):
    """Why an answer ended."""

    COMPLETE = "complete"
    LENGTH = "length"
    REFUSED = "refused"
    CUT = "cut"
    """The connection broke during the answer."""
    CANCELLED = "cancelled"


class Ending(enum.StrEnum):
    """Why a batch ended."""

    FINISHED = "finished"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class TokenUsage:
    """Tokens of one answer as the provider counted them.

    `input_tokens` includes those read from and written to the provider's cache, `output_tokens` those of reasoning.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __post_init__(self) -> None:
        if min(self.input_tokens, self.output_tokens, self.cached_tokens, self.cache_write_tokens) < 0:
            raise ValueError(f"a number of tokens cannot be negative: {self}")
        if self.cached_tokens + self.cache_write_tokens > self.input_tokens:
            raise ValueError(f"cached tokens are part of the input tokens: {self}")
        if not 0 <= self.reasoning_tokens <= self.output_tokens:
            raise ValueError(f"reasoning tokens are part of the output tokens: {self}")

    @property
    def total_tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a batch; None is no limit."""

    microusd: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class NewGeneration:
    """A request that is about to be sent; `sent` are its messages as JSON, `place` its place in the strategy."""

    problem: str
    provider: str
    model: str
    place: str
    sent: str
    reserved_microusd: int | None
    reserved_tokens: int


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """Settled request; `usage` and `cost_microusd` are None where they are unknown, `source` without code."""

    received: str
    stop: Stop
    usage: TokenUsage | None
    cost_microusd: int | None
    source: bytes | None
    extraction: str
    elapsed_s: float


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One try to send a request; `status` is that of HTTP, None without an answer."""

    number: int
    status: int | None
    message: str
    waited_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    """One batch; `request` is JSON.  `ending` is None while it is running, and after a crash.

    `worked_s` is the time of all processes that worked on it, up to the last answer or verdict.
    """

    id: int
    session: int
    request: str
    limits: Limits
    started_at: datetime
    ending: Ending | None
    worked_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The verdict on a generated candidate; `speedup` is over eager, None unless it passed and was timed.

    `proven` of the `passed` cases are proven, None where no proof was tried.  `rule_passed` of the `rule_calls` calls
    of a foreign problem that were compared pass its suite's own rule; None of other problems.
    """

    number: int
    outcome: Outcome | None
    sentence: str
    flagged: bool
    passed: int
    total: int
    elapsed_s: float
    benchmark_s: float
    speedup: float | None
    proven: int | None = None
    rule_calls: int | None = None
    rule_passed: int | None = None


@dataclass(frozen=True, kw_only=True)
class GenerationRow:
    """One request to a provider, its answer and its result; None is unknown or not there yet."""

    id: int
    session: int
    batch: int | None
    problem: str
    provider: str
    model: str
    place: str
    state: GenerationState
    sent: str
    received: str
    stop: Stop | None
    extraction: str
    usage: TokenUsage | None
    cost_microusd: int | None
    reserved_microusd: int | None
    reserved_tokens: int
    digest: str | None
    elapsed_s: float
    run: RunResult | None

    @property
    def model_name(self) -> str:
        """Provider and model in one word, "anthropic:claude-x"."""
        return f"{self.provider}:{self.model}"


class CostBy(enum.StrEnum):
    """Key by which costs are summed."""

    MODEL = "model"
    OPERATOR = "operator"
    DAY = "day"
    SESSION = "session"


@dataclass(frozen=True, kw_only=True)
class CostRow:
    """Cost of the generations of one group.

    `unpriced` of the `answers` have no known cost; `cost_microusd` sums the others, None when there is none.
    `uncounted` of them have no known tokens; the sums of tokens are those of the others.
    `correct` counts answers whose run passed without a flag, `faster` those of them above the baseline; `faster` and
    `device_s` are None where nothing was timed.
    """

    group: str
    answers: int
    unpriced: int
    uncounted: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost_microusd: int | None
    wall_s: float
    engine_s: float
    device_s: float | None
    correct: int
    faster: int | None
