"""Events of a generation: pure records, read by screens, commands and tests.
They are separate from the events of runs: an answer of a model is not a fact about a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.model import Outcome
from engine.model.events import Event
from kgtui.generation.budget import Spent
from sessions.candidates.generation_rows import Ending, GenerationRow


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Position of an answer: operator, model and place in the strategy."""

    problem: str
    model: str
    place: str


@dataclass(frozen=True, kw_only=True)
class RequestSent:
    """A request was stored and is being sent."""

    spot: Spot


@dataclass(frozen=True, kw_only=True)
class RequestRefused:
    """An attempt was refused; the next one follows after `waited_s`."""

    spot: Spot
    message: str
    waited_s: float


@dataclass(frozen=True, kw_only=True)
class AnswerGrew:
    """More of an answer arrived."""

    spot: Spot
    text: str


@dataclass(frozen=True, kw_only=True)
class CandidateSaved:
    """An agent saved its file for the `save`-th time, and is still working."""

    spot: Spot
    save: int
    source: bytes


@dataclass(frozen=True, kw_only=True)
class SaveVerified:
    """The run of a save has its verdict; it is not an answer yet."""

    spot: Spot
    save: int
    run: int | None
    outcome: Outcome
    flagged: bool
    sentence: str


@dataclass(frozen=True, kw_only=True)
class AnswerStored:
    """An answer is in the store; `is_reused` if it was stored before this program started."""

    spot: Spot
    row: GenerationRow
    spent: Spent
    is_reused: bool = False


@dataclass(frozen=True, kw_only=True)
class RunAdvanced:
    """New events of a candidate's run; none when it begins or restarts."""

    spot: Spot
    number: int | None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CandidateVerified:
    """The run of a candidate has its verdict; `run` is its number, None if it was not stored."""

    spot: Spot
    run: int | None
    outcome: Outcome
    flagged: bool
    sentence: str
    speedup: float | None
    is_reused: bool = False


@dataclass(frozen=True, kw_only=True)
class JobEnded:
    """All requests of one model for one operator are done; `message` is the reason for an early end.

    `unused` is how many fewer requests they were than the strategy may need.
    """

    problem: str
    model: str
    message: str = ""
    unused: int = 0


@dataclass(frozen=True, kw_only=True)
class BatchEnded:
    """No more requests are sent; `spent` is given if requests were cut off since the last stored answer."""

    ending: Ending
    message: str = ""
    spent: Spent | None = None


GenerationEvent: TypeAlias = (
    RequestSent
    | RequestRefused
    | AnswerGrew
    | CandidateSaved
    | SaveVerified
    | AnswerStored
    | RunAdvanced
    | CandidateVerified
    | JobEnded
    | BatchEnded
)
