"""Rows of the other tables: findings, compiled kernels, past runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Finding, Launch, Outcome, Severity
from engine.reports.run_record import RunRecord
from kgtui.ports.protocols import PastRun
from kgtui.state.format.glyphs import TONES, Glyphs, outcome_tone, outcome_words
from kgtui.state.format.lines import Column, Line, Row, Span, Tone, line, muted, strong
from kgtui.state.format.numbers import percent, seconds
from kgtui.state.run.endings import ago, ending_of

FINDING_COLUMNS = (
    Column(label="line", width=6),
    Column(label="severity", width=9),
    Column(label="check", width=17),
    Column(label="observation", width=90, least=20),
)
HISTORY_COLUMNS = (
    Column(label="run", width=7),
    Column(label="when", width=12),
    Column(label="outcome", width=16),
    Column(label="cases", width=9),
    Column(label="where", width=16, rank=1),
    Column(label="source", width=9, rank=3),
    Column(label="took", width=8, rank=2),
)
_WIDEST_KERNEL = 16  # the distinguishing part of a kernel needs the space; the text below has the full name
_WIDEST_SPECIALISATION = 28  # room for two constants and two dtypes
_WEIGHTS = {
    Severity.NOTE: Tone.MUTED,
    Severity.HINT: Tone.BUSY,
    Severity.SUSPECT: Tone.WARN,
    Severity.PROOF: Tone.BAD,
}
_HEAVIEST_FIRST = (Severity.PROOF, Severity.SUSPECT, Severity.HINT, Severity.NOTE)


def findings_in_order(view: RunRecord) -> tuple[Finding, ...]:
    """The findings, most severe first, then in order of occurrence."""
    return tuple(sorted(view.findings, key=lambda finding: _HEAVIEST_FIRST.index(finding.severity)))


def finding_rows(view: RunRecord, *, glyphs: Glyphs, stale: bool = False) -> tuple[Row, ...]:
    """A row for every finding; its key is its index in `findings_in_order`."""
    return tuple(
        Row(
            key=str(place),
            stale=stale,
            cells=(
                Span(str(found.location.line) if found.location else glyphs.dash, Tone.LINK),
                Span(found.severity, _WEIGHTS[found.severity]),
                Span(found.check),
                Span(f"{found.message}, in {found.case}" if found.case else found.message),
            ),
        )
        for place, found in enumerate(findings_in_order(view))
    )


def finding_detail(finding: Finding) -> tuple[Line, ...]:
    """One finding in full."""
    place = f"line {finding.location.line}" if finding.location else "no line"
    case = f", case {finding.case}" if finding.case else ""
    weight = Span(finding.severity, _WEIGHTS[finding.severity])
    return (line(weight, "  ", strong(finding.check), muted(f"  {place}{case}")), line(finding.message))


def kernel_columns(kernels: Sequence[CompiledKernel]) -> tuple[Column, ...]:
    """The columns for these kernels; on a narrow terminal, kernel and resources come first."""
    longest = max((len(kernel.launch.kernel) for kernel in kernels), default=0)
    failed = any(kernel.outcome is not Outcome.PASS for kernel in kernels)
    words = min(max((len(words) + 1 for words in _specialisations(kernels)), default=15), _WIDEST_SPECIALISATION)
    spill = max((len(_memory(kernel.spill_bytes)) for kernel in kernels), default=0)
    shared = max((len(_memory(kernel.shared_bytes)) for kernel in kernels), default=0)
    return (
        Column(label="kernel", width=min(max(longest + 1, 8), _WIDEST_KERNEL), least=12),
        Column(label="built", width=17 if failed else 7, rank=0 if failed else 3),
        Column(label="specialised on", width=words, least=12, rank=2 if failed else 0),
        Column(label="first in", width=12, least=10, most=16, rank=3 if failed else 1),
        Column(label="regs", width=5, rank=2),
        Column(label="spill", width=max(spill + 1, 6), rank=2),
        Column(label="shared", width=max(shared + 1, 9), rank=2),
        Column(label="occup.", width=7, rank=3),
        Column(label="warps", width=6, rank=5),
        Column(label="stages", width=7, rank=5),
        Column(label="took", width=9, rank=6),
        Column(label="options, or the error", width=60, least=16, rank=1 if failed else 4),
    )


def kernel_rows(
    kernels: Sequence[CompiledKernel], view: RunRecord, *, glyphs: Glyphs, stale: bool = False
) -> tuple[Row, ...]:
    """A row for every compiled specialisation, one for all that fail with the same message.
    Its key is the index of the kernel, or of the first of several.  `view` has the cases that launched it.
    """
    specialisations = _specialisations(kernels)
    rows: list[Row] = []
    for alike in _grouped(kernels):
        first = kernels[alike[0]]
        cells = _kernel_cells(first, glyphs, specialisations[alike[0]], view.first_case(first.launch))
        if len(alike) > 1:
            names = {kernels[place].launch.kernel for place in alike}
            more = "" if len(names) == 1 else f" and {len(names) - 1} more"
            cells = (
                Span(f"{len(alike)} {glyphs.times} {first.launch.kernel}{more}"),
                cells[1],
                muted(f"{len(alike)} specialisations"),
                *cells[3:],
            )
        rows.append(Row(key=str(alike[0]), cells=cells, stale=stale))
    return tuple(rows)


def kernel_note(view: RunRecord) -> Line:
    """Reason why there is no kernel to show."""
    if view.target is None and view.started:
        return line(muted("nothing was compiled: this run had no target; t chooses one"))
    if view.running:
        return line(muted("the launches are compiled after the cases"))
    if view.started and not view.launches:
        return line(muted(nothing_launched(view)))
    return line(muted("no kernel compiled yet; r runs the file"))


def left_out_note(view: RunRecord) -> Line:
    """How many kernels the run did not compile; empty if it compiled all of them."""
    if not view.kernels_left_out:
        return ()
    why = "cancelled" if view.cancelled else "cases failed" if view.failed else "the run ended early"
    count = f"{view.kernels_left_out} of {view.kernels_planned} kernels not compiled"
    return line(muted(f"{count}: {why}; T compiles all"))


def nothing_launched(view: RunRecord) -> str:
    """Reason why a run without launches has nothing to compile; one that failed may have started some."""
    if view.failed:
        return "no launch of a Triton kernel finished, so there is nothing to compile"
    return "the candidate launched no Triton kernel, so there is nothing to compile"


def history_rows(
    runs: tuple[PastRun, ...], *, glyphs: Glyphs, now: datetime, current: int | None, marked: Sequence[int] = ()
) -> tuple[Row, ...]:
    """A row for every run of this operator, newest first; marked ones have a sign."""
    return tuple(
        Row(
            key=str(run.number),
            cells=_run_cells(run, glyphs, now, is_current=run.number == current, is_marked=run.number in marked),
        )
        for run in runs
    )


def _grouped(kernels: Sequence[CompiledKernel]) -> list[list[int]]:
    """Groups of kernel indices; kernels that failed with the same message are in one group."""
    groups: dict[object, list[int]] = {}
    for place, kernel in enumerate(kernels):
        built = kernel.outcome is Outcome.PASS or not kernel.message
        groups.setdefault(place if built else (kernel.outcome, kernel.message), []).append(place)
    return list(groups.values())


def _specialisations(kernels: Sequence[CompiledKernel]) -> list[str]:
    """Text of each specialisation: first the properties in which kernels of one name differ, then the rest."""
    facts = [_facts_of(kernel.launch) for kernel in kernels]
    seen: dict[tuple[str, str], set[str]] = {}
    of_name = Counter(kernel.launch.kernel for kernel in kernels)
    shared: Counter[tuple[str, str]] = Counter()
    for kernel, own in zip(kernels, facts, strict=True):
        for name, word in own.items():
            seen.setdefault((kernel.launch.kernel, name), set()).add(word)
            shared[kernel.launch.kernel, name] += 1
    words = []
    for kernel, own in zip(kernels, facts, strict=True):
        called = kernel.launch.kernel
        differing = [name for name in own if len(seen[called, name]) > 1 or shared[called, name] < of_name[called]]
        usual = [name for name in own if name not in differing and not name.startswith(" ")]
        words.append(" ".join(filter(None, (own[name] for name in (*differing, *usual)))))
    return words


def _facts_of(launch: Launch) -> dict[str, str]:
    """Properties of a specialisation by name; those whose name starts with a space are shown only if they differ."""
    if not launch.num_warps:
        return {"types": "CUDA extension"}
    chosen, found = _constants(launch, by_author=True), _constants(launch, by_author=False)
    types = dict.fromkeys(kind.lstrip("*") for kind in launch.signature.values() if kind.startswith("*"))
    integers = [f"{name}:{kind}" for name, kind in launch.signature.items() if kind[:1] in "iu" and name not in found]
    aligned = ",".join(launch.divisible_by_16)
    return {
        **{name: f"{name}={value}" for name, value in chosen.items()},
        "types": " ".join(types),
        " warps": f"warps={launch.num_warps}",
        " stages": f"stages={launch.num_stages}",
        " ones": " ".join(f"{name}={value}" for name, value in found.items()),
        " integers": " ".join(integers),
        " aligned": f"%16:{aligned}" if aligned else "%16:none",
        " options": " ".join(f"{name}={value}" for name, value in launch.options.items()),
    }


def _constants(launch: Launch, *, by_author: bool) -> dict[str, str]:
    """The constants chosen by the author, or those that Triton made of integers equal to 1."""
    return {
        name: value
        for name, value in launch.constants.items()
        if (launch.signature.get(name, "constexpr") == "constexpr") is by_author
    }


def _kernel_cells(kernel: CompiledKernel, glyphs: Glyphs, words: str, case: str) -> tuple[Span, ...]:
    launch, dash, occupied = kernel.launch, glyphs.dash, occupancy(kernel)
    word = Span(f"{glyphs.outcome(kernel.outcome)} {outcome_words(kernel.outcome)}", outcome_tone(kernel.outcome))
    return (
        Span(launch.kernel),
        word,
        Span(words),
        muted(case or dash),
        Span(dash if kernel.registers is None else str(kernel.registers)),
        Span(_memory(kernel.spill_bytes) or dash, _spill_tone(kernel.spill_bytes)),
        Span(_memory(kernel.shared_bytes) or dash),
        Span(dash if occupied is None else percent(occupied.percent)),
        Span(str(launch.num_warps) if launch.num_warps else dash),
        Span(str(launch.num_stages) if launch.num_warps else dash),
        muted(seconds(kernel.elapsed_s)),
        muted(" ".join((kernel.message or _found(launch)).split())),
    )


def _found(launch: Launch) -> str:
    """Triton's own specialisation: integers equal to 1."""
    return " ".join(f"{name}={value}" for name, value in _constants(launch, by_author=False).items())


def _memory(count: int | None) -> str:
    return "" if count is None else f"{count:,} B"


def _spill_tone(spill_bytes: int | None) -> Tone:
    return Tone.WARN if spill_bytes else Tone.PLAIN


def _run_cells(run: PastRun, glyphs: Glyphs, now: datetime, *, is_current: bool, is_marked: bool) -> tuple[Span, ...]:
    state, word = ending_of(run)
    where = f"{run.device} to {run.target}" if run.target else run.device
    return (
        Span(f"{glyphs.marked if is_marked else ''}#{run.number}", Tone.STRONG if is_current else Tone.PLAIN),
        muted(ago(run.started_at, now)),
        Span(f"{glyphs.state(state)} {f'{run.review}, ' if run.review else ''}{word}", TONES[state]),
        Span(glyphs.dash if run.passed is None else f"{run.passed}/{run.total}"),
        muted(where),
        Span(run.digest[:8]),
        muted(glyphs.dash if run.elapsed_s is None else seconds(run.elapsed_s)),
    )
