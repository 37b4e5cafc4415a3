"""The verdict strip: activity, progress and result in three lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from engine.model import Outcome, Stage
from engine.model.counts import counted
from engine.verdict.decide import first_unbuilt
from kgtui.ports.protocols import CPU_DEVICE
from kgtui.state.bench.benchmarks import awaited
from kgtui.state.format.glyphs import TONES, Glyphs, State, state_of
from kgtui.state.format.lines import Line, Span, Tone, line, muted, plain_text, strong
from kgtui.state.format.numbers import seconds
from kgtui.state.run.tables import findings_in_order
from kgtui.state.workbench.status import CandidateStage, Status, StripContext, is_stale, status_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.reports.run_record import RunRecord, StageRecord

_STAGE_WORDS = {
    Stage.STATIC: "read",
    Stage.LOAD: "load",
    Stage.VERIFY: "verify",
    Stage.PROVE: "prove",
    Stage.PROBE: "probe",
    Stage.COMPILE: "compile",
    Stage.BENCHMARK: "bench",
}
_WRONG = frozenset(
    {
        Outcome.WRONG_VALUE,
        Outcome.WRONG_SHAPE,
        Outcome.WRONG_DTYPE,
        Outcome.NONFINITE,
        Outcome.MUTATED_INPUT,
    }
)
_STARTING_SENTENCE = "starting engine..."
_BEGINNING_SENTENCE = "starting the run..."
_IDLE_SENTENCE = "save the file to run it"
_PAUSED_SENTENCE = "paused: saves are not run"


def head(view: RunRecord, strip_context: StripContext, glyphs: Glyphs) -> tuple[Line, Line]:
    """Left and right part of the first line: state, operator and device; run number and mode."""
    status = status_of(view, strip_context)
    tone = TONES[status.state]
    words = f"{glyphs.state(status.state)} {status.state}{' ' + status.detail if status.detail else ''}"
    took = elapsed(status, view, strip_context)
    left = [Span(words, Tone.STRONG if tone is Tone.PLAIN else tone), Span(f" {took}" if took else "", tone)]
    place = f"{strip_context.device} to {strip_context.target}" if strip_context.target else strip_context.device
    for text in (strip_context.operator, strip_context.filename, place):
        left += [muted(f" {glyphs.dot} "), strong(text) if text == strip_context.operator else Span(text)]
    return tuple(left), line(muted(f"{_number(view, strip_context)}  "), *_mode(strip_context, status, glyphs))


def progress(view: RunRecord, glyphs: Glyphs, *, short: bool = False, timed: bool = True, first: str = "saved") -> Line:
    """The second line: the stages of the run, after the event that requested it.

    `short` leaves out the first ones if they passed, and also probing unless the stages are `timed`.
    """
    parts: list[Span] = [] if short else [muted(first)]
    for stage in _STAGE_WORDS:
        seen = view.stage(stage)
        if stage is Stage.COMPILE and view.started and view.target is None:
            continue
        if stage is Stage.BENCHMARK and seen is None and view.device in ("", CPU_DEVICE):
            continue
        if short and stage in (Stage.STATIC, Stage.LOAD) and seen is not None and seen.outcome is Outcome.PASS:
            continue
        if stage is Stage.PROVE and seen is None:
            continue
        if stage is Stage.PROBE and _says_nothing(seen, brief=short and not timed):
            continue
        between = [muted(f" {glyphs.then} ")] if parts else []
        parts += [*between, *_stage(stage, view, glyphs, timed=timed)]
    return tuple(parts)


def progress_within(
    room: int, view: RunRecord, glyphs: Glyphs, *, short: bool = False, timed: bool = True, first: str = "saved"
) -> Line:
    """`progress`, without the first stages, and then without times, if it does not fit into `room` cells."""
    stages: Line = ()
    for is_short, has_times in ((short, timed), (True, timed), (True, False)):
        stages = progress(view, glyphs, short=is_short, timed=has_times, first=first)
        if cell_len(plain_text((stages,))) <= room:
            break
    return stages


def sentence_within(room: int, view: RunRecord, strip_context: StripContext) -> Line:
    """`sentence`, without the count of failed cases, which the second line has, if it needs more than `room` cells."""
    words = sentence(view, strip_context)
    if cell_len(plain_text((words,))) <= room:
        return words
    count = f"{len(view.failed)} of {view.planned} cases failed, first "
    return tuple(span._replace(text=span.text.replace(count, "first ", 1)) for span in words)


def sentence(view: RunRecord, strip_context: StripContext) -> Line:
    """The third line: the result of the run, or the next step."""
    if strip_context.notice:
        return line(Span(strip_context.notice, Tone.WARN))
    if strip_context.unsaved and not view.running:
        return line(Span("unsaved: ctrl+s saves and runs; the results below are of the saved version", Tone.WARN))
    if strip_context.paused and not view.running and not strip_context.opened and is_stale(view, strip_context):
        return line(Span("file changed while paused; p resumes", Tone.WARN))
    if strip_context.paused and not view.running and not strip_context.opened:
        last = f"; the last run: {_ended(view)}" if view.verdict is not None else ""
        return line(Span(_PAUSED_SENTENCE, Tone.WARN), last)
    if view.verdict is not None and strip_context.picked:
        return _ended_selected(view, strip_context)
    if view.verdict is not None:
        return line(_ended(view))
    if strip_context.remark and not view.started:
        return line(muted(strip_context.remark))
    if view.cut_short:
        return line(f"no verdict: {_progress(view)}")
    if view.running and not strip_context.is_live:
        return line(muted(f"running in another process: {_progress(view)}"))
    if view.failed:
        first = view.failed[0]
        count = f"{len(view.failed)} failed so far"
        if len(view.cases) >= view.planned:
            count = f"{len(view.failed)} of {view.planned} cases failed"
        return line(Span(_explained(f"{count}, first {first.case}: {first.message or first.outcome}", view)))
    if view.holder is not None:
        right = muted(f"; {len(view.cases)}/{len(view.cases)} cases passed")
        return line(Span(awaited(view.holder), Tone.WARN), right)
    if view.active and view.active.stage is Stage.BENCHMARK:
        timed = f"{len(view.benchmarks)} of {view.active.total or view.benchmarks_planned} bench cases timed"
        return line(muted(f"{len(view.cases)}/{len(view.cases)} cases passed; {timed}"))
    if view.running and (unbuilt := first_unbuilt(view.kernels)) is not None:
        return line(f"{unbuilt.launch.kernel} does not build for {unbuilt.target}: {unbuilt.message}")
    if view.active and view.active.stage is Stage.PROVE:
        proven = sum(proof.proven for proof in view.proofs)
        return line(muted(f"{view.passed}/{view.planned} cases passed, {proven} proven so far"))
    if view.active and view.active.stage is Stage.PROBE:
        return line(muted(f"{len(view.cases)}/{len(view.cases)} cases passed; probing"))
    if view.active and view.active.stage is Stage.COMPILE:
        return line(
            muted(f"{len(view.cases)}/{len(view.cases)} cases passed; compiling their launches for {view.target}")
        )
    if view.running:
        tiers = "".join(f"{tier.tier} passed after {seconds(tier.at_s)}; " for tier in view.tiers)
        return line(muted(f"{tiers}{len(view.cases)} of {view.planned} cases run, none failed"))
    return line(
        muted(
            _BEGINNING_SENTENCE
            if strip_context.begun
            else _STARTING_SENTENCE
            if strip_context.waiting
            else _IDLE_SENTENCE
        )
    )


def pressed(key: str, words: str) -> Line:
    """The next step: a key and its effect."""
    return line(strong(key), muted(f" {words}"))


def title(view: RunRecord, strip_context: StripContext, glyphs: Glyphs) -> str:
    """The terminal's title: state and operator."""
    status = status_of(view, strip_context)
    return f"{glyphs.state(status.state)} {status.state} {strip_context.operator}"


def elapsed(status: Status, view: RunRecord, strip_context: StripContext) -> str:
    """Duration of the run so far; empty without a run."""
    if status.busy:
        return seconds(strip_context.elapsed_s) if strip_context.is_live else ""
    if view.finished_s is None or status.state in (State.EDITED, State.PAUSED):
        return ""
    return seconds(view.finished_s)


def _number(view: RunRecord, strip_context: StripContext) -> str:
    if strip_context.number is None:
        return "not saved" if view.started else ""
    if strip_context.candidate is CandidateStage.SETTLED:
        return f"{strip_context.remark}  run #{strip_context.number}"
    if strip_context.is_live and strip_context.opened:
        return f"run #{strip_context.number}"
    if strip_context.opened:
        return f"run #{strip_context.number} (read-only)"
    return f"cached #{strip_context.number}" if strip_context.cached else f"run #{strip_context.number}"


def _mode(strip_context: StripContext, status: Status, glyphs: Glyphs) -> tuple[Span, ...]:
    """The mode, whether only smoke cases are run, and the pause if another state hides it."""
    word = Span(f"{'SMOKE ' if strip_context.smoke else ''}{strip_context.mode.upper()}", Tone.STRONG)
    hides_pause = strip_context.paused and status.state is not State.PAUSED
    return (Span(f"{glyphs.state(State.PAUSED)} paused  ", Tone.WARN), word) if hides_pause else (word,)


def _explained(text: str, view: RunRecord) -> str:
    """A sentence that ends with the first failed case, with its diagnosis in place of its numbers."""
    for first in view.failed[:1]:
        named = f"first {first.case}: " if len(view.failed) > 1 else f"case {first.case} failed: "
        before, found, _ = text.partition(named)
        for report in first.outputs if found else ():
            for diagnosis in report.explanation.diagnoses[:1] if report.explanation else ():
                return f"{before}{named}{diagnosis.sentence}"
    return text


def _progress(view: RunRecord) -> str:
    """Progress of the cases of a run that did not finish."""
    failed = (
        f", {len(view.failed)} of them {_failure_word([case.outcome for case in view.failed])}" if view.failed else ""
    )
    return f"{len(view.cases)} of {view.planned} cases were run{failed}"


def _ended(view: RunRecord) -> str:
    """Result of the run; for a cancelled one, its progress."""
    verdict = view.verdict
    if verdict is None:
        return ""
    if verdict.outcome is Outcome.CANCELLED:
        return f"cancelled: {_progress(view)}"
    if verdict.flagged and (why := _doubt(view, verdict.sentence)):
        return why
    return f"{_place(view)}{_explained(verdict.sentence, view)}"


def _ended_selected(view: RunRecord, strip_context: StripContext) -> Line:
    """Result of a run of selected cases, and how many others failed before."""
    count = strip_context.failed_besides
    others = f"; {counted(count, 'other case')} failed before, r runs all" if count else ""
    return line(f"selected cases: {_ended(view)}", Span(others, Tone.BAD))


def _doubt(view: RunRecord, sentence: str) -> str:
    """Reason why a passing run is flagged, before its count; a long sentence is cut at its end."""
    for found in findings_in_order(view)[:1]:
        before, said, after = sentence.partition(found.message)
        if said:
            place = f", line {found.location.line}" if found.location else ""
            return f"not credible{place}: {found.message}{after}; {before.partition(',')[0]}"
    return ""


def _place(view: RunRecord) -> str:
    """Location of an error of the file itself; lines of failed cases are in the table."""
    place = view.verdict.location if view.verdict and not view.failed else None
    if view.verdict is None or place is None or f"line {place.line}:" in view.verdict.sentence:
        return ""
    return f"line {place.line}, column {place.column}: " if place.column else f"line {place.line}: "


def _says_nothing(seen: StageRecord | None, *, brief: bool) -> bool:
    """Whether a stage can be left out: not begun, or passed and without room for it."""
    return seen is None or (brief and seen.outcome is Outcome.PASS)


def _stage(stage: Stage, view: RunRecord, glyphs: Glyphs, *, timed: bool) -> tuple[Span, ...]:
    word, seen = _STAGE_WORDS[stage], view.stage(stage)
    parsed = view.stage(Stage.PARSE)
    if stage is Stage.STATIC and parsed is not None and (seen is None or parsed.outcome is not Outcome.PASS):
        # Parsing and static analysis are shown as one step.
        seen = parsed
    if seen is None:
        return (muted(f"{word} {glyphs.dash}"),)
    count = _count(stage, view, seen)
    outcome = seen.outcome
    if outcome is None and not view.running:
        outcome = Outcome.CANCELLED  # the run ended during this stage
    if outcome is None:
        return (Span(f"{word.upper()} {count}".rstrip(), Tone.BUSY),)
    if outcome is Outcome.PASS:
        took_s = seen.elapsed_s or 0.0
        took = f" {seconds(took_s).replace(' ', '')}" if timed and took_s >= 0.01 else ""
        return (Span(f"{word} {count}".rstrip() + took), Span(f" {glyphs.state(State.PASSED)}", Tone.GOOD))
    state = state_of(outcome)
    return (Span(f"{word.upper()} {count}".rstrip() + f" {glyphs.state(state)}", TONES[state]),)


def _count(stage: Stage, view: RunRecord, seen: StageRecord) -> str:
    """Number of finished items of all, and the number of failed ones."""
    if stage is Stage.PROVE:
        unproven = sum(not proof.proven for proof in view.proofs)
        return f"{len(view.proofs)}/{seen.total}" + (f" {unproven} unproven" if unproven else "")
    outcomes, planned = {
        Stage.VERIFY: ([case.outcome for case in view.cases], view.planned),
        Stage.COMPILE: ([kernel.outcome for kernel in view.kernels], view.kernels_planned),
        Stage.BENCHMARK: ([one.outcome for one in view.benchmarks], view.benchmarks_planned),
    }.get(stage, ([], 0))
    total = seen.total or planned
    if not total:
        return ""
    failed = [outcome for outcome in outcomes if outcome is not Outcome.PASS]
    return f"{len(outcomes)}/{total}" + (f" {len(failed)} {_failure_word(failed)}" if failed else "")


def _failure_word(outcomes: Sequence[Outcome]) -> str:
    """Word for failed items: "wrong" if all of them returned an answer, else "failed"."""
    return "wrong" if all(outcome in _WRONG for outcome in outcomes) else "failed"
