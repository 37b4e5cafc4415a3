"""The launches of a run compiled for other targets, as rows and sentences."""

from __future__ import annotations

from collections import Counter

from engine.model import Outcome
from engine.model.counts import counted
from engine.reports.targets import Ports, TargetReport
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, State, outcome_tone, outcome_words
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong

TARGET_COLUMNS = (
    Column(label="target", width=9),
    Column(label="builds", width=24, least=17),
    Column(label="regs", width=6),
    Column(label="spill", width=9),
    Column(label="shared", width=10),
    Column(label="occup.", width=8),
    Column(label="first error", width=120, least=20, rank=1),
)


def target_rows(ports: Ports, *, glyphs: Glyphs, own: str | None) -> tuple[Row, ...]:
    """A row for every target, `own` being that of the run; its key is the target."""
    return tuple(
        Row(key=report.target, cells=_cells(report, glyphs, is_own=report.target == own)) for report in ports.reports
    )


def ports_line(ports: Ports, *, glyphs: Glyphs) -> Line:
    """Progress or result in a sentence."""
    done, planned = len(ports.kernels), ports.planned
    if not ports.asked and ports.message:
        return line(Span(ports.message, Tone.BAD))
    if not ports.asked:
        return line(muted("r compiles the launches of this run for every target in the list; no device is needed"))
    if ports.running:
        word = "all compiled, printing machine code" if ports.complete else f"compiling {done}/{planned}"
        busy = Span(f"{glyphs.state(State.COMPILING)} {word}", Tone.BUSY)
        return line(busy, muted(f"  {_launches(ports)}; esc stops"))
    if not ports.complete:
        return line(Span(f"stopped after {done}/{planned}: {ports.message}", Tone.WARN), muted("  r restarts"))
    unbuilt = [report.target for report in ports.reports if report.outcome is not Outcome.PASS]
    if unbuilt:
        return line(Span(f"does not build for {', '.join(unbuilt)}", Tone.BAD), muted(f"  {_launches(ports)}"))
    return line(Span("builds for every target of the list", Tone.GOOD), muted(f"  {_launches(ports)}"))


def target_detail(report: TargetReport | None) -> tuple[Line, ...]:
    """Every error of one target in full, equal ones once."""
    if report is None:
        return ()
    failed = [kernel for kernel in report.kernels if kernel.outcome is not Outcome.PASS]
    if not report.kernels:
        return (line(strong(report.target), muted("  nothing was compiled yet")),)
    if not failed:
        result = f"  {len(report.kernels)} of {report.launches} compiled, none failed; enter shows the code"
        return (line(strong(report.target), muted(result)),)
    causes = Counter(
        (kernel.launch.kernel, kernel.location.line if kernel.location else None, " ".join(kernel.message.split()))
        for kernel in failed
    )
    return tuple(
        line(
            strong(report.target),
            f"  {name}",
            muted(f" line {place}" if place else ""),
            f": {message}",
            muted(f"  ({count} launches)" if count > 1 else ""),
        )
        for (name, place, message), count in causes.items()
    )


def _cells(report: TargetReport, glyphs: Glyphs, *, is_own: bool) -> tuple[Span, ...]:
    dash, failed, spilled = glyphs.dash, report.first_failed, report.spill_bytes
    percent = report.occupancy_percent
    return (
        Span(report.target, Tone.STRONG if is_own else Tone.PLAIN),
        _builds(report, glyphs),
        Span(dash if report.registers is None else str(report.registers)),
        Span(dash if spilled is None else numbers.bytes_of(spilled), Tone.WARN if spilled else Tone.PLAIN),
        Span(dash if report.shared_bytes is None else numbers.bytes_of(report.shared_bytes)),
        Span(dash if percent is None else numbers.percent(percent)),
        muted("" if failed is None else f"{failed.launch.kernel}: {' '.join(failed.message.split())}"),
    )


def _builds(report: TargetReport, glyphs: Glyphs) -> Span:
    """Number of launches that built, and a short reason if not all did."""
    outcome = report.outcome
    sign = glyphs.outcome(outcome)
    word = "" if outcome is None else "ok" if outcome is Outcome.PASS else outcome_words(outcome)
    return Span(f"{sign} {len(report.built)}/{report.launches} {word}".rstrip(), outcome_tone(outcome))


def _launches(ports: Ports) -> str:
    return f"{counted(ports.launches, 'specialisation')}, {counted(len(ports.targets), 'target')}"
