"""Runs side by side: resources of their kernels, findings, and the origin of each candidate.
Model, tokens and price are shown if the store has them; they are empty for a candidate not written by a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Finding, Launch, Outcome, Severity
from kgtui.state.code.kernel_matching import counterpart, is_same_specialisation
from kgtui.state.compare.sides import Side
from kgtui.state.compare.summary import DIFFERS, SAME, Table
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.history.past_runs import money, one_line
from kgtui.state.run.resources import resource_words

_HEAVIEST_FIRST = (Severity.PROOF, Severity.SUSPECT, Severity.HINT, Severity.NOTE)
_TONES = {Severity.PROOF: Tone.BAD, Severity.SUSPECT: Tone.WARN, Severity.HINT: Tone.BUSY, Severity.NOTE: Tone.MUTED}
_LINES_NAMED = 3
_UNKNOWN = "unknown"
_Kernels = tuple[CompiledKernel | None, ...]


_ORIGINS: Mapping[str, Callable[[Side], str | None]] = {
    "model": lambda side: side.answer.model if side.answer else None,
    "provider": lambda side: side.answer.provider if side.answer else None,
    "tokens in": lambda side: _tokens(side.answer.prompt_tokens) if side.answer else None,
    "tokens out": lambda side: _tokens(side.answer.completion_tokens) if side.answer else None,
    "cost": lambda side: price_of(side),
    "answered in": lambda side: numbers.seconds(side.answer.elapsed_s) if side.answer else None,
    "verified in": lambda side: numbers.seconds(side.run.elapsed_s),
    "run at (UTC)": lambda side: f"{side.run.started_at:%Y-%m-%d %H:%M}",
    "device": lambda side: side.run.device_name or side.run.device,
    "target": lambda side: side.run.target,
    "policy": lambda side: side.run.policy,
    "tag": lambda side: side.run.tag,
    "note": lambda side: side.run.note,
    "source": lambda side: side.run.digest[:12],
}


def _tokens(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def price_of(side: Side) -> str | None:
    """Cost of the answer with the candidate, as text; None if no model wrote it."""
    if side.answer is None:
        return None
    return "no price known" if side.answer.cost_microusd is None else money(side.answer.cost_microusd)


def resources_table(sides: Sequence[Side], *, glyphs: Glyphs) -> Table:
    """Resources of every kernel on every side, each next to the most similar specialisation; changed ones first."""
    rows: list[Row] = []
    about: dict[str, tuple[Line, ...]] = {}
    for number, kernels in enumerate(matched(sides)):
        known = next(kernel for kernel in kernels if kernel is not None)
        beside = tuple(zip(sides, kernels, strict=True))
        cells = [_resource_cell(kernel, side, glyphs) for side, kernel in beside]
        about[str(number)] = tuple(_kernel_words(side, kernel, known) for side, kernel in beside)
        row = (
            Span(known.launch.kernel),
            *cells,
            _unknown(side for side, one in beside if one is None)
            or _only([side.name for side, one in beside if one is not None], of=sides)
            or _same([cell.text for cell in cells]),
            muted(_specialised(known.launch)),
        )
        rows.append(Row(key=str(number), cells=row))
    place = 1 + len(sides)
    rows.sort(key=lambda row: row.cells[place].text in (SAME, _UNKNOWN))
    columns = (
        Column(label="kernel", width=19),
        *(Column(label=f"{title} regs spill shared occ.", width=26 + len(title) - 2) for title in _titles(sides)),
        Column(label="change", width=9),
        Column(label="specialised on", width=50, least=16, rank=1),
    )
    differing = sum(row.cells[place].text not in (SAME, _UNKNOWN) for row in rows)
    return Table(
        columns=columns,
        rows=tuple(rows),
        about=about,
        empty="no kernel was compiled in these runs",
        differing=differing,
    )


def matched(sides: Sequence[Side]) -> tuple[_Kernels, ...]:
    """The kernels of all sides in rows: those of the same types and constants; None if a side has none.
    If a side has none with the same constants, its most similar unmatched one is used.
    """
    left = [list(side.view.kernels) for side in sides]
    rows: list[_Kernels] = []
    for place, kernels in enumerate(left):
        while kernels:
            first = kernels.pop(0)
            found = [_partner(first, kernels, others) if other > place else None for other, others in enumerate(left)]
            for other, one in enumerate(found):
                if one is not None:
                    left[other].remove(one)
            rows.append(tuple(first if other == place else one for other, one in enumerate(found)))
    return tuple(rows)


def _partner(
    kernel: CompiledKernel, unmatched: Sequence[CompiledKernel], others: Sequence[CompiledKernel]
) -> CompiledKernel | None:
    """The counterpart of the kernel in `others`, excluding exact matches of another `unmatched` kernel."""
    exact = [other for other in others if is_same_specialisation(kernel, other)]
    taken = [other for other in others if any(is_same_specialisation(one, other) for one in unmatched)]
    return counterpart(kernel, exact or [other for other in others if other not in taken])


def findings_table(sides: Sequence[Side], *, glyphs: Glyphs) -> Table:
    """Findings of the checks on every side, the most severe first."""
    found = {(one.severity, one.check) for side in sides for one in side.view.findings}
    rows: list[Row] = []
    about: dict[str, tuple[Line, ...]] = {}
    for severity, check in sorted(found, key=lambda one: (_HEAVIEST_FIRST.index(one[0]), one[1])):
        held = [[one for one in side.view.findings if (one.severity, one.check) == (severity, check)] for side in sides]
        change = _same([str(sorted(one.message for one in ones)) for ones in held])
        cells = (*(_findings_cell(ones, glyphs) for ones in held), change)
        key = f"{severity} {check}"
        rows.append(Row(key=key, cells=(Span(severity, _TONES[severity]), Span(check), *cells)))
        about[key] = tuple(_finding_words(side, one) for side, ones in zip(sides, held, strict=True) for one in ones)
    columns = (
        Column(label="severity", width=9),
        Column(label="check", width=18),
        *(Column(label=side.name, width=16) for side in sides),
        Column(label="change", width=9),
    )
    differing = sum(row.cells[-1].text != SAME for row in rows)
    empty = "no findings in these runs"
    return Table(columns=columns, rows=tuple(rows), about=about, empty=empty, differing=differing)


def cost_table(sides: Sequence[Side], *, glyphs: Glyphs) -> Table:
    """Model, tokens and money; then device, policy and versions of each side."""
    facts = {what: [of(side) for side in sides] for what, of in _ORIGINS.items()}
    versions = sorted({name for side in sides for name in side.environment} - {"device"})
    facts |= {name: [side.environment.get(name) for side in sides] for name in versions}
    rows = []
    for what, texts in facts.items():
        cells = (muted(glyphs.dash) if text is None else Span(one_line(text)) for text in texts)
        rows.append(Row(key=what, cells=(muted(what), *cells)))
    columns = (Column(label="what", width=14), *(Column(label=side.name, width=28, least=16) for side in sides))
    about = {what: _origin_words(sides, texts) for what, texts in facts.items()}
    return Table(columns=columns, rows=tuple(rows), about=about)


def _origin_words(sides: Sequence[Side], texts: Sequence[str | None]) -> tuple[Line, ...]:
    """The full text of a cell for which the column is too narrow."""
    shown = [(side, text) for side, text in zip(sides, texts, strict=True) if text is not None]
    lines = tuple(line(strong(f"{side.name:<5} "), one_line(text)) for side, text in shown)
    return lines or (line(muted("not generated by a model: no model, tokens or price")),)


def _titles(sides: Sequence[Side]) -> tuple[str, ...]:
    """The names of the sides, with their targets where these differ: such kernels are not matched."""
    if len({side.run.target for side in sides}) < 2:
        return tuple(side.name for side in sides)
    return tuple(f"{side.name} {side.run.target or 'no target'}" for side in sides)


def _only(names: Sequence[str], *, of: Sequence[Side]) -> Span | None:
    """The one side that has a kernel, of several; None if more have it."""
    return Span(f"only {names[0]}", Tone.BUSY) if len(names) == 1 < len(of) else None


def _unknown(lacking: Iterable[Side]) -> Span | None:
    """The change of a kernel that a side may have launched without compiling it; None if no such side lacks it."""
    return muted(_UNKNOWN) if any(side.view.kernels_left_out for side in lacking) else None


def _same(texts: Sequence[object]) -> Span:
    return muted(SAME) if all(text == texts[0] for text in texts) else Span(DIFFERS, Tone.BUSY)


def _resource_cell(kernel: CompiledKernel | None, side: Side, glyphs: Glyphs) -> Span:
    if kernel is None:
        return muted("not compiled" if side.view.kernels_left_out else glyphs.dash)
    if kernel.outcome is not Outcome.PASS:
        return Span("does not build", Tone.BAD)
    occupied = occupancy(kernel)
    known = (
        kernel.registers,
        None if kernel.spill_bytes is None else numbers.bytes_of(kernel.spill_bytes),
        None if kernel.shared_bytes is None else numbers.bytes_of(kernel.shared_bytes),
        numbers.percent(occupied.percent) if occupied is not None else None,
    )
    regs, spill, shared, share = (glyphs.dash if value is None else f"{value}" for value in known)
    memory = f"{spill:>5} {shared:>6} {share:>4}"  # a long size would move the registers to the left
    return Span(f"{regs:>{24 - len(memory)}} {memory}", Tone.WARN if kernel.spill_bytes else Tone.PLAIN)


def _kernel_words(side: Side, kernel: CompiledKernel | None, known: CompiledKernel) -> Line:
    """One side of a row; `known` is a kernel of the row, whichever side has it."""
    if kernel is None:
        others = dict.fromkeys(one.target for one in side.view.kernels if one.launch.kernel == known.launch.kernel)
        elsewhere = known.target not in others and ", ".join(others)
        lacking = f"not compiled: {side.view.kernels_left_out} kernels were left out"
        missing = lacking if side.view.kernels_left_out else "no such kernel"
        words = f"compiled for {elsewhere}, not for {known.target}" if elsewhere else missing
        return line(strong(f"{side.name:<5} "), muted(words))
    return line(strong(f"{side.name:<5} "), muted(f"{_specialised(kernel.launch)}  "), *resource_words(kernel))


def _specialised(launch: Launch) -> str:
    """Constants chosen by the author, and element types."""
    chosen = [f"{name}={value}" for name, value in launch.constants.items()]
    types = dict.fromkeys(kind.lstrip("*") for kind in launch.signature.values() if kind.startswith("*"))
    return " ".join([*chosen, *types])


def _findings_cell(findings: Sequence[Finding], glyphs: Glyphs) -> Span:
    if not findings:
        return muted(glyphs.dash)
    lines = sorted({one.location.line for one in findings if one.location is not None})
    named = ", ".join(map(str, lines[:_LINES_NAMED])) + (", ..." if len(lines) > _LINES_NAMED else "")
    return Span(f"{len(findings)}, line {named}" if lines else str(len(findings)))


def _finding_words(side: Side, finding: Finding) -> Line:
    place = f"line {finding.location.line}: " if finding.location else f"{finding.case}: " if finding.case else ""
    return line(strong(f"{side.name:<5} "), muted(place), one_line(finding.message))
