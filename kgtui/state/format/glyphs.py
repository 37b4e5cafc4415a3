"""The glyphs of the screen, in Unicode and in ASCII.
A glyph is always next to a word, so that nothing is lost without the glyph or its colour.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from engine.model import Outcome
from engine.model.benchmark import Standing
from kgtui.state.format.lines import Tone


class State(enum.StrEnum):
    """Activity of the workbench, or the result of its last run."""

    IDLE = "idle"
    EDITED = "edited"
    QUEUED = "queued"
    STARTING = "starting"
    GENERATING = "generating"
    LOADING = "loading"
    COMPILING = "compiling"
    VERIFYING = "verifying"
    PROVING = "proving"
    PROBING = "probing"
    BENCHMARKING = "benchmarking"
    PASSED = "passed"
    FAILED = "failed"
    FLAGGED = "flagged"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"
    UNSUPPORTED = "not possible here"
    ENGINE_ERROR = "engine error"


BUSY = frozenset(
    {
        State.QUEUED,
        State.STARTING,
        State.GENERATING,
        State.LOADING,
        State.COMPILING,
        State.VERIFYING,
        State.PROVING,
        State.PROBING,
        State.BENCHMARKING,
    }
)

TONES: Mapping[State, Tone] = {
    State.IDLE: Tone.MUTED, State.EDITED: Tone.WARN, State.QUEUED: Tone.BUSY, State.STARTING: Tone.BUSY,
    State.GENERATING: Tone.BUSY,
    State.LOADING: Tone.BUSY, State.COMPILING: Tone.BUSY, State.VERIFYING: Tone.BUSY, State.PROVING: Tone.BUSY,
    State.PROBING: Tone.BUSY, State.BENCHMARKING: Tone.BUSY, State.PASSED: Tone.GOOD, State.FAILED: Tone.BAD,
    State.FLAGGED: Tone.WARN, State.CANCELLED: Tone.MUTED, State.INTERRUPTED: Tone.MUTED, State.PAUSED: Tone.MUTED,
    State.UNSUPPORTED: Tone.MUTED, State.ENGINE_ERROR: Tone.WARN,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Glyphs:
    """One glyph set; `heat` has five steps from "no wrong element" to "all wrong".
    `bars` have eight steps; `marked` precedes a marked run.  `standings` are faster, slower and no difference.
    `markers` are the points of the plot: the candidate's, then the baselines'; `axes` its vertical line, corner and
    horizontal line.  `cut` marks a truncated text.
    """

    states: Mapping[State, str]
    then: str
    dot: str
    dash: str
    rule: str
    heat: tuple[str, str, str, str, str]
    bars: str
    standings: Mapping[Standing, str]
    markers: str
    axes: str
    braille: bool
    plus_minus: str
    times: str
    micro: str
    marked: str
    cut: str

    def state(self, state: State) -> str:
        """The glyph of a state."""
        return self.states[state]

    def outcome(self, outcome: Outcome | None) -> str:
        """The glyph of the outcome of a case, stage or run; that of idle for no outcome yet."""
        return self.states[state_of(outcome)]


UNICODE = Glyphs(
    states={
        State.IDLE: "·", State.EDITED: "~", State.QUEUED: "…", State.STARTING: "⟳", State.LOADING: "⟳",
        State.GENERATING: "⟳",
        State.COMPILING: "⟳", State.VERIFYING: "⟳", State.PROVING: "⟳", State.PROBING: "⟳", State.BENCHMARKING: "▶",
        State.PASSED: "✔", State.FAILED: "✗", State.FLAGGED: "⚑", State.CANCELLED: "⊘", State.PAUSED: "‖",
        State.UNSUPPORTED: "?", State.ENGINE_ERROR: "!", State.INTERRUPTED: "⊘",
    },
    then="▸", dot="·", dash="–", rule="─", heat=("·", "░", "▒", "▓", "█"), bars="▁▂▃▄▅▆▇█",
    standings={Standing.FASTER: "▲", Standing.SLOWER: "▼", Standing.SAME: "="}, markers="●○◇□△",
    axes="│└─", braille=True, plus_minus="±", times="×", micro="µ", marked="●", cut="…",
)  # fmt: skip
ASCII = Glyphs(
    states={
        State.IDLE: ".", State.EDITED: "~", State.QUEUED: ":", State.STARTING: "*", State.LOADING: "*",
        State.GENERATING: "*",
        State.COMPILING: "*", State.VERIFYING: "*", State.PROVING: "*", State.PROBING: "*", State.BENCHMARKING: "@",
        State.PASSED: "+", State.FAILED: "x", State.FLAGGED: "!", State.CANCELLED: "/", State.PAUSED: "=",
        State.UNSUPPORTED: "?", State.ENGINE_ERROR: "E", State.INTERRUPTED: "/",
    },
    then=">", dot="|", dash="-", rule="-", heat=(".", "-", "+", "*", "#"), bars="._-=+*%#",
    standings={Standing.FASTER: "^", Standing.SLOWER: "v", Standing.SAME: "="}, markers="*o+%#",
    axes="|+-", braille=False, plus_minus="+-", times="x", micro="u", marked="*", cut="~",
)  # fmt: skip


def state_of(outcome: Outcome | None) -> State:
    """The state for an outcome."""
    match outcome:
        case None:
            return State.IDLE
        case Outcome.PASS:
            return State.PASSED
        case Outcome.CANCELLED:
            return State.CANCELLED
        case Outcome.UNSUPPORTED:
            return State.UNSUPPORTED
        case Outcome.PROBLEM_ERROR | Outcome.ENGINE_ERROR:
            return State.ENGINE_ERROR
        case Outcome.CHEATED:
            return State.FLAGGED
        case _:
            return State.FAILED


def outcome_words(outcome: Outcome) -> str:
    """The text of an outcome on the screen."""
    return outcome.value.replace("_", " ")


def verdict_words(outcome: Outcome, *, flagged: bool, passed: int | None, proven: int | None) -> str:
    """A verdict in one or two words: "flagged", "proven" if each passed case is, or the outcome."""
    if flagged:
        return "flagged"
    if outcome is Outcome.PASS and passed and proven == passed:
        return "proven"
    return outcome_words(outcome)


def outcome_tone(outcome: Outcome | None) -> Tone:
    """The tone of an outcome."""
    return TONES[state_of(outcome)]
