"""State of a grid of variants: finished ones, the current one, their results, and the proposal.
Each change makes a new record.  Nothing here runs a candidate, writes a file or reads a clock; proposals are decided
only by `engine.tuning.trials`.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.model.benchmark import Interval
from engine.model.events import Event
from engine.reports.printable import printable
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from engine.tuning.trials import Trial, proposed, why_none
from engine.tuning.tunables import Variant
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, State, outcome_words, state_of
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong
from kgtui.state.workbench.status import StripContext, activity_of, status_of


class Ending(enum.StrEnum):
    """Reason why no more variants are run."""

    WHOLE = "whole"
    STOPPED = "stopped"
    SAVED = "saved"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A variant whose run has its verdict; its shown values are computed once.
    `ratio` is the speed-up over the unchanged file, None for that file itself and if it was not timed.
    """

    place: int
    trial: Trial
    ratio: Interval | None
    device_us: Interval | None
    registers: int | None
    spill_bytes: int | None
    shared_bytes: int | None
    occupancy_percent: float | None

    @property
    def name(self) -> str:
        """The values of the variant, as its name."""
        return self.trial.variant.name

    @property
    def source(self) -> bytes:
        """The file with these values."""
        return self.trial.variant.source


@dataclass(frozen=True, kw_only=True)
class VariantGrid:
    """One grid of one version of one file.
    The first of `variants` is the unchanged file; the one at index `len(tried)` is running unless the grid has ended.
    `now` is the file's value of each tunable.  `last_s` is the time when the last variant ended, or the grid began.
    """

    path: Path
    problem: str
    device: str
    target: str | None
    variants: tuple[Variant, ...]
    now: Mapping[str, str]
    began_s: float
    last_s: float
    tried: tuple[Tried, ...] = ()
    running: RunRecord = NO_RUN
    ending: Ending | None = None
    winner: Tried | None = None
    why_none: str = ""
    is_written: bool = False

    @property
    def source(self) -> bytes:
        """The file at the start of the grid."""
        return self.variants[0].source

    @property
    def current(self) -> Variant | None:
        """The variant that is running."""
        return self.variants[len(self.tried)] if self.ending is None else None

    def run_began(self) -> VariantGrid:
        """The grid after the start of the next variant."""
        return replace(self, running=NO_RUN)

    def with_events(self, events: Sequence[Event]) -> VariantGrid:
        """The grid after new events of the running variant."""
        return replace(self, running=reduce_all(self.running, events))

    def finished(self, trial: Trial, *, now_s: float) -> VariantGrid:
        """The grid after the verdict on the running variant; it ends with the last one."""
        first = self.tried[0].trial if self.tried else trial
        done = Tried(
            place=len(self.tried),
            trial=trial,
            ratio=trial.ratio_to(first) if self.tried else None,
            device_us=trial.device_us,
            registers=trial.registers,
            spill_bytes=trial.spill_bytes,
            shared_bytes=trial.shared_bytes,
            occupancy_percent=trial.occupancy_percent,
        )
        after = replace(self, tried=(*self.tried, done), running=NO_RUN, last_s=now_s)
        return after.ended(Ending.WHOLE) if len(after.tried) == len(self.variants) else after

    def ended(self, ending: Ending) -> VariantGrid:
        """The grid after its end; there may be a best variant."""
        trials = [one.trial for one in self.tried]
        best = proposed(trials) if trials else None
        winner = next((one for one in self.tried if one.trial is best), None)
        why = "" if winner or not trials else why_none(trials)
        return replace(self, ending=ending, running=NO_RUN, winner=winner, why_none=why)


def left_s(grid: VariantGrid, now_s: float) -> float | None:
    """Remaining time by the mean of finished variants; None before the first."""
    done = len(grid.tried)
    if not done:
        return None
    mean_s = (grid.last_s - grid.began_s) / done
    return max(0.0, mean_s * (len(grid.variants) - done) - (now_s - grid.last_s))


def doing(view: RunRecord) -> tuple[State, str, str]:
    """The stage of a variant's run, its description, and its progress; "" if unknown."""
    strip_context = StripContext(operator="", filename="", waiting=not view.started)
    status = activity_of(view) if view.running else status_of(view, strip_context)
    return status.state, f"{status.state} {status.detail}".rstrip(), status.detail


def progress_line(grid: VariantGrid, *, now_s: float, glyphs: Glyphs, stale: bool) -> Line:
    """Progress of the grid, or its end with the proposed variant."""
    done, total, name = len(grid.tried), len(grid.variants), grid.path.name
    if grid.current is not None:
        state, words, _ = doing(grid.running)
        rest = left_s(grid, now_s)
        time_left = "" if rest is None else f", about {_roughly(rest)} left"
        busy = Span(f"{glyphs.state(state)} {done}/{total} tried", Tone.BUSY)
        return line(busy, f"  {words}", muted(f"{time_left}; esc stops"))
    if grid.is_written and grid.winner is not None:
        return line(Span(f"{grid.winner.name} was written into {name}", Tone.GOOD), muted("; details below"))
    counted = f"{done}/{total} tried"
    match grid.ending:
        case Ending.SAVED:
            return line(Span(f"stopped: {name} was saved, {counted}", Tone.WARN), muted("; r tunes the new version"))
        case Ending.STOPPED:
            how = Span(f"stopped, {counted}", Tone.WARN)
        case _:
            how = Span(f"{counted} in {numbers.seconds(grid.last_s - grid.began_s)}", Tone.STRONG)
    if stale:
        return line(how, muted(f"; {name} has changed: r tunes the new version"))
    return line(how, "; ", *_outcome(grid, glyphs))


def proposal_lines(grid: VariantGrid) -> tuple[Line, ...]:
    """The change of the file by the best variant, as a patch."""
    if grid.winner is None:
        return ()
    name = grid.path.name
    before, after = (
        content.decode("utf-8", errors="replace").splitlines() for content in (grid.source, grid.winner.source)
    )
    patch = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=1, lineterm="")
    return tuple(line(Span(printable(text), _patch_tone(text))) for text in patch)


def tried_detail(tried: Tried, grid: VariantGrid, *, glyphs: Glyphs) -> tuple[Line, ...]:
    """One variant in full: its values, its run, and the result."""
    run = tried.trial.run
    verdict = run.final
    number = "not saved" if run.number is None else f"run #{run.number}"
    mark = "the file " if tried.place == 0 else "fastest: " if tried is grid.winner else ""
    flagged = "flagged: " if verdict.flagged else "" if verdict.outcome.value == "pass" else "failed: "
    cases = len(run.benchmark_report.right)
    mean = f"; times are geometric means of {cases} cases" if tried.device_us and cases > 1 else ""
    return (
        line(mark, strong(tried.name), muted(f"  {number}  "), printable(f"{flagged}{verdict.sentence}")),
        line(_taken(tried, glyphs), muted(mean)),
    )


def tuning_markdown(grid: VariantGrid, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The whole table as Markdown."""
    where = f"{grid.device}{f', compiled for {grid.target}' if grid.target else ''}"
    lines = [f"### {grid.problem}: {len(grid.tried)} of {len(grid.variants)} variants tried", ""]
    lines += [f"- file `{grid.path.name}`", f"- device {where}", ""]
    lines += [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    if grid.winner is not None:
        patch = "".join(f"{''.join(span.text for span in one)}\n" for one in proposal_lines(grid))
        lines += ["", f"{grid.winner.name} was measured to be the fastest:", "", f"```diff\n{patch}```"]
    elif grid.why_none:
        lines += ["", grid.why_none]
    return "\n".join(lines) + "\n"


def verdict_words(tried: Tried) -> tuple[State, str]:
    """Result of the run of a variant."""
    verdict = tried.trial.run.final
    if tried.trial.is_right:
        return State.PASSED, "passed"
    if verdict.flagged:
        return State.FLAGGED, "flagged"
    return state_of(verdict.outcome), outcome_words(verdict.outcome)


def _outcome(grid: VariantGrid, glyphs: Glyphs) -> Line:
    winner = grid.winner
    if winner is None or winner.ratio is None:
        return line(grid.why_none or "r restarts")
    factor = numbers.factor(winner.ratio, glyphs=glyphs)
    return line(strong(winner.name), f" is {factor} as fast as the file: ", strong("w"), " writes it")


def _roughly(left_s: float) -> str:
    return f"{left_s:.0f} s" if left_s < 90 else f"{left_s / 60:.0f} min"


def _taken(tried: Tried, glyphs: Glyphs) -> str:
    """Resources of its kernels, the maximum of several."""
    percent, dash = tried.occupancy_percent, glyphs.dash
    return ", ".join(
        (
            f"{dash if tried.registers is None else tried.registers} registers",
            f"{dash if tried.spill_bytes is None else numbers.bytes_of(tried.spill_bytes)} spilled",
            f"{dash if tried.shared_bytes is None else numbers.bytes_of(tried.shared_bytes)} shared",
            f"{dash if percent is None else numbers.percent(percent)} occupancy",
        )
    )


def _patch_tone(text: str) -> Tone:
    if text.startswith(("---", "+++", "@@")):
        return Tone.MUTED
    return Tone.GOOD if text.startswith("+") else Tone.BAD if text.startswith("-") else Tone.PLAIN
