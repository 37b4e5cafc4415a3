"""Texts of the History screen: rows, details, totals, and the progress of a file.
Speed-ups are shown only of runs that passed without a flag: the store returns no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.model.counts import counted
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import TONES, Glyphs, State, state_of, verdict_words
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.run.endings import ago
from sessions.rows import ListedRun, Milestone, RunRow, RunState, SessionRow, Totals

TIMES_EAGER = "eager"
_SPARKS = 24

_NARROW = ("run", "state", "operator", "file", "cases", TIMES_EAGER, "when")
_MEDIUM = ("run", "state", "operator", "file", "cases", TIMES_EAGER, "device", "when", "tag", "note")
_COLUMNS = {
    "run": 8,
    "state": 18,
    "operator": 15,
    "file": 13,
    "cases": 6,
    TIMES_EAGER: 7,
    "when": 11,
    "device": 12,
    "tag": 9,
    "note": 17,
}
_WIDER = {"operator": 32, "file": 32, "device": 22, "tag": 14, "note": 48}
SESSION_COLUMNS = (
    Column(label="session", width=9),
    Column(label="started (UTC)", width=18),
    Column(label="runs", width=7),
    Column(label="passed", width=8),
    Column(label="flagged", width=9),
    Column(label="run time", width=9),
    Column(label="cost", width=9),
    Column(label="what", width=60),
)
NOTHING_YET = "no runs yet; ctrl+o, then enter on an operator opens its file, and each save starts a run"


def run_columns(*, medium: bool, wide: bool) -> tuple[Column, ...]:
    """The columns that fit."""
    names = _MEDIUM if medium or wide else _NARROW
    widths = _COLUMNS | _WIDER if wide else _COLUMNS
    return tuple(Column(label=name, width=widths[name]) for name in names)


def run_rows(
    runs: Sequence[ListedRun], columns: tuple[Column, ...], *, glyphs: Glyphs, now: datetime, marked: Sequence[int] = ()
) -> tuple[Row, ...]:
    """A row for every run; its key is its number, and marked ones have a sign."""
    names = [column.label for column in columns]
    rows = []
    for listed in runs:
        cells = _run_cells(listed, glyphs, now)
        if listed.run.id in marked:
            cells["run"] = Span(f"{glyphs.marked}#{listed.run.id}", Tone.STRONG)
        rows.append(Row(key=str(listed.run.id), cells=tuple(cells[name] for name in names)))
    return tuple(rows)


def session_rows(sessions: Sequence[SessionRow], *, glyphs: Glyphs) -> tuple[Row, ...]:
    """A row for every session; its key is its number."""
    return tuple(Row(key=str(one.id), cells=_session_cells(one, glyphs)) for one in sessions)


def run_details(listed: ListedRun, way: Sequence[Milestone], *, file: str, glyphs: Glyphs) -> tuple[Line, ...]:
    """The details that the list has no room for, and the progress of this file."""
    run, dot = listed.run, f" {glyphs.dot} "
    state, word = _state(run)
    where = f"{run.device_name or run.device}{f' to {run.target}' if run.target else ''}"
    cases = "+".join(run.tiers) or "selected cases"
    unended = "no verdict yet" if run.state is RunState.RUNNING else "kgtui exited before the verdict"
    said = one_line(run.sentence or unended)
    said = "" if said == word else f"  {said}"
    reviewed = Span(f"  {run.review} by you" if run.review else "", Tone.STRONG)
    marked = [muted("tag "), Span(run.tag, Tone.LINK) if run.tag else muted(glyphs.dash), muted("   note ")]
    return (
        line(strong(f"#{run.id}  "), Span(f"{glyphs.state(state)} {word}", TONES[state]), reviewed, said),
        line(run.problem, muted(dot), file, muted(f"{dot}{where}{dot}{cases}{dot}{run.policy} policy")),
        line(
            muted(
                f"started {run.started_at:%Y-%m-%d %H:%M} UTC, took {numbers.seconds(run.elapsed_s)}{dot}"
                f"session {run.session}{dot}source {run.digest[:12]}"
            )
        ),
        # The user's note first, since the lines below may not fit into a low terminal.
        line(*marked, Span(one_line(run.note)) if run.note else muted(glyphs.dash)),
        way_line(way, glyphs=glyphs),
    )


def session_details(session: SessionRow, *, glyphs: Glyphs) -> tuple[Line, ...]:
    """Summary of a session."""
    dot = f" {glyphs.dot} "
    ended = "open or interrupted" if session.ended_at is None else f"ended {session.ended_at:%Y-%m-%d %H:%M} UTC"
    tokens = session.prompt_tokens + session.completion_tokens
    return (
        line(strong(f"session {session.id}  "), one_line(session.label)),
        line(muted(f"started {session.started_at:%Y-%m-%d %H:%M} UTC{dot}{ended}")),
        line(
            f"{counted(session.runs, 'run')} of {counted(session.problems, 'operator')}",
            muted(dot),
            f"{session.passed:,} passed",
            muted(dot),
            f"{session.flagged:,} flagged",
            muted(f"{dot}{long_time(session.elapsed_s)} of run time"),
        ),
        line(f"{tokens:,} tokens", muted(dot), f"cost {_session_cost(session, glyphs)}"),
    )


def totals_line(totals: Totals, *, glyphs: Glyphs) -> Line:
    """Totals of the listed runs."""
    dot = muted(f" {glyphs.dot} ")
    spans = [
        strong(f"{totals.runs:,}"),
        muted(" run" if totals.runs == 1 else " runs"),
        dot,
        Span(f"{totals.passed:,} passed"),
        dot,
    ]
    spans += [Span(f"{totals.flagged:,} flagged", Tone.WARN if totals.flagged else Tone.MUTED), dot]
    spans += [muted(long_time(totals.elapsed_s))]
    tokens = totals.prompt_tokens + totals.completion_tokens
    if tokens or totals.cost_microusd is not None:
        spans += [dot, Span(_known_cost(totals) or "no price known")]
        spans += [dot, muted(f"{numbers.count_of(tokens)} tokens")]
    return tuple(spans)


def _known_cost(of: Totals | SessionRow) -> str:
    """The known costs, with `>` if they are not all, "" if none is; an unknown cost is never counted as 0."""
    if of.cost_microusd is None or (of.unpriced and not of.cost_microusd):
        return ""
    return f"> {money(of.cost_microusd)}" if of.unpriced else money(of.cost_microusd)


def _session_cost(session: SessionRow, glyphs: Glyphs) -> str:
    return _known_cost(session) or ("unknown" if session.unpriced else glyphs.dash)


def way_line(way: Sequence[Milestone], *, glyphs: Glyphs) -> Line:
    """The best so far of this file, run by run: of its speed-ups, or of its passed cases if nothing was timed."""
    runs = counted(len(way), "run")
    timed = _comparable(way)
    if timed:
        bests = _best_so_far([one.speedup or 0.0 for one in timed])
        best = max(timed, key=lambda one: one.speedup or 0.0)
        words = f"{bests[0]:.2f} to {bests[-1]:.2f}{glyphs.times} eager, best #{best.run_id}"
        return line(muted("best "), Span(sparkline(bests, glyphs=glyphs), Tone.GOOD), f" {words}", muted(f" of {runs}"))
    verified = [one for one in way if one.total]
    if not verified:
        return line(muted("no case of this file has run yet, apart from tuned variants"))
    bests = _best_so_far([float(one.passed) for one in verified])
    best_run = max(verified, key=lambda one: one.passed)  # not by its share: 3 of 3 selected cases are fewer
    words = f"{best_run.passed} of {best_run.total} cases passed at best"
    return line(
        muted("best "),
        Span(sparkline(bests, glyphs=glyphs, top=float(max(one.total for one in verified))), Tone.GOOD),
        f" {words}",
        muted(f", of {runs}; nothing was timed"),
    )


def sparkline(values: Sequence[float], *, glyphs: Glyphs, top: float | None = None) -> str:
    """The values as bars from zero to the highest, several values per bar if there are many."""
    highest = top or max(values)
    shown = [values[(place + 1) * len(values) // _SPARKS - 1] for place in range(_SPARKS)]
    shown = shown if len(values) > _SPARKS else list(values)
    steps = len(glyphs.bars) - 1
    return "".join(glyphs.bars[round(steps * min(1.0, value / highest)) if highest else 0] for value in shown)


def money(microusd: int) -> str:
    """US dollars; with all digits if two are too few."""
    whole = f"${microusd / 1e6:,.2f}"
    return whole if microusd >= 10_000 or not microusd else f"${microusd / 1e6:.6f}".rstrip("0")


def long_time(duration_s: float) -> str:
    """A duration, up to hours."""
    minutes = round(duration_s / 60)
    return numbers.seconds(duration_s) if duration_s < 6000 else f"{minutes // 60:,} h {minutes % 60} min"


def one_line(text: str) -> str:
    """A user's text without line breaks and control characters, which would break the row."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _session_cells(session: SessionRow, glyphs: Glyphs) -> tuple[Span, ...]:
    return (
        Span(str(session.id)),
        muted(f"{session.started_at:%Y-%m-%d %H:%M}"),
        Span(f"{session.runs:,}"),
        Span(f"{session.passed:,}"),
        Span(f"{session.flagged:,}", Tone.WARN if session.flagged else Tone.MUTED),
        muted(long_time(session.elapsed_s)),
        muted(_session_cost(session, glyphs)),
        Span(one_line(session.label)),
    )


def _run_cells(listed: ListedRun, glyphs: Glyphs, now: datetime) -> dict[str, Span]:
    run = listed.run
    state, word = _state(run)
    speedup = muted(glyphs.dash)
    if listed.speedup is not None:
        speedup = Span(f"{listed.speedup.value:.2f}{glyphs.times}", Tone.GOOD if listed.speedup.low > 1 else Tone.PLAIN)
    return {
        "run": Span(f"#{run.id}"),
        "state": Span(f"{glyphs.state(state)} {f'{run.review}, ' if run.review else ''}{word}", TONES[state]),
        "operator": Span(run.problem),
        "file": Span(one_line(run.path.name)) if run.path else muted(glyphs.dash),
        "cases": Span(f"{run.passed}/{run.total}") if run.total else muted(glyphs.dash),
        TIMES_EAGER: speedup,
        "when": muted(ago(run.started_at, now)),
        "device": muted(run.device_name or run.device),
        "tag": Span(one_line(run.tag or ""), Tone.LINK),
        "note": Span(one_line(run.note or "")),
    }


def _state(run: RunRow) -> tuple[State, str]:
    if run.outcome is not None:
        state = State.FLAGGED if run.flagged else state_of(run.outcome)
        return state, verdict_words(run.outcome, flagged=run.flagged, passed=run.passed, proven=run.proven)
    return (State.VERIFYING, "running") if run.state is RunState.RUNNING else (State.INTERRUPTED, "interrupted")


def _comparable(way: Sequence[Milestone]) -> list[Milestone]:
    """The timed runs over as many cases as the newest timed one: means over different cases are not comparable."""
    timed = [one for one in way if one.speedup is not None]
    return [one for one in timed if one.timed == timed[-1].timed]


def _best_so_far(values: Sequence[float]) -> list[float]:
    bests: list[float] = []
    for value in values:
        bests.append(max(value, bests[-1]) if bests else value)
    return bests
