"""The verdict strip: what happens, how far it is, and what it came to, in three lines."""

from __future__ import annotations

from engine.model import Outcome, Stage
from kgtui.seams import INTERPRETED_DEVICE
from kgtui.state.benchmarks import awaited
from kgtui.state.glyphs import TONES, Glyphs, State, state_of
from kgtui.state.lines import Line, Span, Tone, line, muted, strong
from kgtui.state.numbers import seconds
from kgtui.state.run import RunView, StageView
from kgtui.state.status import Desk, Status, is_stale, status_of

_STAGE_WORDS = {
    Stage.STATIC: "read", Stage.LOAD: "load", Stage.VERIFY: "verify", Stage.PROBE: "probe",
    Stage.COMPILE: "compile", Stage.BENCHMARK: "bench",
}  # fmt: skip
_STARTING_SENTENCE = "the file is judged as soon as the engine is there"
_IDLE_SENTENCE = "save the file to judge it; r runs it as it is"


def head(view: RunView, desk: Desk, glyphs: Glyphs) -> tuple[Line, Line]:
    """The first line, its left and its right part: state, what is judged and where; the run's number and the mode."""
    status = status_of(view, desk)
    tone = TONES[status.state]
    words = f"{glyphs.state(status.state)} {status.state}{' ' + status.detail if status.detail else ''}"
    took = elapsed(status, view, desk)
    left = [Span(words, Tone.STRONG if tone is Tone.PLAIN else tone), Span(f" {took}" if took else "", tone)]
    place = f"{desk.device} to {desk.target}" if desk.target else desk.device
    for text in (desk.operator, desk.filename, place):
        left += [muted(f" {glyphs.dot} "), strong(text) if text == desk.operator else Span(text)]
    return tuple(left), line(muted(f"{_number(view, desk)}  "), *_mode(desk, status, glyphs))


def progress(view: RunView, glyphs: Glyphs, *, short: bool = False, timed: bool = True) -> Line:
    """The second line: the stages of the run.

    `short` leaves out the first ones when they passed, and probing too where the stages are not even `timed`.
    """
    parts: list[Span] = [] if short else [muted("saved")]
    for stage in _STAGE_WORDS:
        seen = view.stage(stage)
        if stage is Stage.COMPILE and view.started and view.target is None:
            continue
        if stage is Stage.BENCHMARK and seen is None and view.device in ("", INTERPRETED_DEVICE):
            continue
        if short and stage in (Stage.STATIC, Stage.LOAD) and seen is not None and seen.outcome is Outcome.PASS:
            continue
        if stage is Stage.PROBE and _says_nothing(seen, brief=short and not timed):
            continue
        between = [muted(f" {glyphs.then} ")] if parts else []
        parts += [*between, *_stage(stage, view, glyphs, timed=timed)]
    return tuple(parts)


def sentence(view: RunView, desk: Desk) -> Line:
    """The third line: what the run came to, or what is to be done."""
    if desk.notice:
        return line(Span(desk.notice, Tone.WARN))
    if desk.unsaved and not view.running:
        return line(Span("not saved: ctrl+s saves and judges; below are the results of the saved text", Tone.WARN))
    if desk.paused and not view.running and is_stale(view, desk):
        return line(Span("the file has changed since this run; p goes on and judges it", Tone.WARN))
    if view.verdict is not None:
        flagged = "flagged: " if view.verdict.flagged else ""
        return line(f"{flagged}{_place(view)}{_explained(view.verdict.sentence, view)}")
    if view.failed:
        first = view.failed[0]
        so_far = f"{len(view.failed)} failed so far, first {first.case}: {first.message or first.outcome}"
        return line(Span(_explained(so_far, view)))
    if view.holder is not None:
        right = muted(f"; right on all {len(view.cases)} cases")
        return line(Span(awaited(view.holder), Tone.WARN), right)
    if view.active and view.active.stage is Stage.BENCHMARK:
        timed = f"{len(view.benchmarks)} of {view.active.total or view.benchmarks_planned} bench cases timed"
        return line(muted(f"right on all {len(view.cases)} cases; {timed}"))
    if view.active and view.active.stage is Stage.PROBE:
        return line(muted(f"right on all {len(view.cases)} cases; probing where the answers come from"))
    if view.active and view.active.stage is Stage.COMPILE:
        return line(muted(f"right on all {len(view.cases)} cases; compiling what they launched for {view.target}"))
    if view.running:
        return line(muted(f"{len(view.cases)} of {view.planned} cases judged, none failed"))
    return line(muted(_STARTING_SENTENCE if desk.waiting else _IDLE_SENTENCE))


def title(view: RunView, desk: Desk, glyphs: Glyphs) -> str:
    """The terminal's title: state and operator."""
    status = status_of(view, desk)
    return f"{glyphs.state(status.state)} {status.state} {desk.operator}"


def elapsed(status: Status, view: RunView, desk: Desk) -> str:
    """How long the run takes or took; nothing when none did."""
    if status.busy:
        return seconds(desk.elapsed_s)
    if view.finished_s is None or status.state in (State.EDITED, State.PAUSED):
        return ""
    return seconds(view.finished_s)


def _number(view: RunView, desk: Desk) -> str:
    if desk.number is None:
        return "not kept" if view.started else ""
    if desk.opened:
        return f"run #{desk.number} as it was"
    return f"cached #{desk.number}" if desk.cached else f"run #{desk.number}"


def _mode(desk: Desk, status: Status, glyphs: Glyphs) -> tuple[Span, ...]:
    """The mode, and the pause where another state hides it."""
    word = Span(desk.mode.upper(), Tone.STRONG)
    hides_pause = desk.paused and status.state is not State.PAUSED
    return (Span(f"{glyphs.state(State.PAUSED)} paused  ", Tone.WARN), word) if hides_pause else (word,)


def _explained(text: str, view: RunView) -> str:
    """A sentence that ends with the first failed case, with what its answer looks like in place of its numbers."""
    first = view.failed[0] if view.failed else None
    named = f"first {first.case}: " if first else ""
    before, found, _ = text.partition(named) if first else (text, "", "")
    for report in first.outputs if first and found else ():
        for diagnosis in report.explanation.diagnoses[:1] if report.explanation else ():
            return f"{before}{named}{diagnosis.sentence}"
    return text


def _place(view: RunView) -> str:
    """Where the file itself is at fault; the cases that fail name their lines in the table."""
    place = view.verdict.location if view.verdict and not view.failed else None
    if place is None:
        return ""
    return f"line {place.line}, column {place.column}: " if place.column else f"line {place.line}: "


def _says_nothing(seen: StageView | None, *, brief: bool) -> bool:
    """Whether a stage has not begun, or has passed where there is no room to say so."""
    return seen is None or (brief and seen.outcome is Outcome.PASS)


def _stage(stage: Stage, view: RunView, glyphs: Glyphs, *, timed: bool) -> tuple[Span, ...]:
    word, seen = _STAGE_WORDS[stage], view.stage(stage)
    parsed = view.stage(Stage.PARSE)
    if stage is Stage.STATIC and parsed is not None and (seen is None or parsed.outcome is not Outcome.PASS):
        # Parsing and reading are one step to a reader: what matters is whether the text is a kernel.
        seen = parsed
    if seen is None:
        return (muted(f"{word} {glyphs.dash}"),)
    count = _count(stage, view, seen)
    if seen.outcome is None:
        return (Span(f"{word.upper()} {count}".rstrip(), Tone.BUSY),)
    if seen.outcome is Outcome.PASS:
        took_s = seen.elapsed_s or 0.0
        took = f" {seconds(took_s).replace(' ', '')}" if timed and took_s >= 0.01 else ""
        return (Span(f"{word} {count}".rstrip() + took), Span(f" {glyphs.state(State.PASSED)}", Tone.GOOD))
    state = state_of(seen.outcome)
    return (Span(f"{word.upper()} {count}".rstrip() + f" {glyphs.state(state)}", TONES[state]),)


def _count(stage: Stage, view: RunView, seen: StageView) -> str:
    if stage is Stage.VERIFY:
        passed = sum(case.outcome is Outcome.PASS for case in view.cases)
        return f"{passed}/{seen.total or view.planned}"
    if stage is Stage.COMPILE and (seen.total or view.kernels_planned):
        built = sum(kernel.outcome is Outcome.PASS for kernel in view.kernels)
        return f"{built}/{seen.total or view.kernels_planned}"
    if stage is Stage.BENCHMARK and (seen.total or view.benchmarks_planned):
        timed = sum(one.outcome is Outcome.PASS for one in view.benchmarks)
        return f"{timed}/{seen.total or view.benchmarks_planned}"
    return ""
