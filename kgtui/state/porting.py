"""The launches of a run compiled for other targets: what is known of each, made from events alone.

Two specialisations of one kernel differ in what they take up, so a target is summed up by its worst.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from engine.events import KernelPorted, PortDisassembled, PortingFinished, PortingStarted
from engine.model import CompiledKernel, Outcome
from engine.occupancy import occupancy
from kgtui.state import numbers
from kgtui.state.glyphs import Glyphs, State, outcome_tone, outcome_words
from kgtui.state.lines import Column, Line, Row, Span, Tone, line, muted, strong

PortEvent: TypeAlias = PortingStarted | KernelPorted | PortDisassembled | PortingFinished

TARGET_COLUMNS = (
    Column(label="target", width=10),
    Column(label="builds", width=18),
    Column(label="regs", width=6),
    Column(label="spill", width=9),
    Column(label="shared", width=10),
    Column(label="occup.", width=7),
    Column(label="first error", width=120),
)


@dataclass(frozen=True, kw_only=True)
class Ports:
    """What is known of other targets; `outcome` is None while it is being compiled, and before it was asked for.

    `number_of` is the event's number of each kernel: where its machine code belongs to.
    """

    targets: tuple[str, ...] = ()
    launches: int = 0
    kernels: tuple[CompiledKernel, ...] = ()
    number_of: tuple[int, ...] = ()
    outcome: Outcome | None = None
    message: str = ""

    @property
    def asked(self) -> bool:
        """Whether somebody wanted to know."""
        return bool(self.targets)

    @property
    def running(self) -> bool:
        """Whether more will come."""
        return self.asked and self.outcome is None

    @property
    def planned(self) -> int:
        """How many builds there are to be."""
        return len(self.targets) * self.launches

    def of(self, target: str) -> tuple[CompiledKernel, ...]:
        """The kernels that were compiled for `target`, well or badly."""
        return tuple(kernel for kernel in self.kernels if kernel.target == target)


NOT_PORTED = Ports()


def ported(ports: Ports, event: PortEvent) -> Ports:
    """What is known after one more event."""
    match event:
        case PortingStarted():
            return Ports(targets=event.targets, launches=event.launches)
        case KernelPorted():
            return replace(ports, kernels=(*ports.kernels, event.kernel), number_of=(*ports.number_of, event.number))
        case PortDisassembled():
            return replace(ports, kernels=_with_machine_code(ports, event))
        case PortingFinished():
            return replace(ports, outcome=event.outcome, message=event.message)


def target_rows(ports: Ports, *, glyphs: Glyphs, own: str | None) -> tuple[Row, ...]:
    """A row for every target, `own` being that of the run; its key is the target."""
    return tuple(Row(key=target, cells=_cells(ports, target, glyphs, is_own=target == own)) for target in ports.targets)


def ports_line(ports: Ports, *, glyphs: Glyphs) -> Line:
    """How far it is, or what it came to, in a sentence."""
    done, planned = len(ports.kernels), ports.planned
    if not ports.asked:
        return line(muted("r compiles the launches of this run for every target of the list; no device is needed"))
    if ports.running:
        word = "printing machine code" if done == planned else f"compiling {done}/{planned}"
        return line(
            Span(f"{glyphs.state(State.COMPILING)} {word}", Tone.BUSY), muted(f"  {_launches(ports)}; esc stops")
        )
    if ports.outcome is not Outcome.PASS:
        return line(Span(f"stopped after {done}/{planned}: {ports.message}", Tone.WARN), muted("  r begins again"))
    unbuilt = [target for target in ports.targets if not _builds(ports.of(target))]
    if unbuilt:
        return line(Span(f"does not build for {', '.join(unbuilt)}", Tone.BAD), muted(f"  {_launches(ports)}"))
    return line(Span("builds for every target of the list", Tone.GOOD), muted(f"  {_launches(ports)}"))


def target_detail(ports: Ports, target: str | None) -> tuple[Line, ...]:
    """Every error of one target in full, the same one only once."""
    if target is None:
        return ()
    kernels = ports.of(target)
    told: dict[tuple[str, str, int | None], int] = {}
    for kernel in kernels:
        if kernel.outcome is not Outcome.PASS:
            place = kernel.location.line if kernel.location else None
            key = (kernel.launch.kernel, " ".join(kernel.message.split()), place)
            told[key] = told.get(key, 0) + 1
    if not told:
        return (line(strong(target), muted(f"  {len(kernels)} of {ports.launches} launches built, none failed")),)
    return tuple(
        line(
            strong(target), f"  {name}", muted(f" line {place}" if place else ""), f": {message}",
            muted(f"  ({count} launches)" if count > 1 else ""),
        )
        for (name, message, place), count in told.items()
    )  # fmt: skip


def _with_machine_code(ports: Ports, event: PortDisassembled) -> tuple[CompiledKernel, ...]:
    return tuple(
        replace(kernel, artefacts=(*kernel.artefacts, event.artefact)) if number == event.number else kernel
        for kernel, number in zip(ports.kernels, ports.number_of, strict=True)
    )


def _cells(ports: Ports, target: str, glyphs: Glyphs, *, is_own: bool) -> tuple[Span, ...]:
    kernels = ports.of(target)
    built = [kernel for kernel in kernels if kernel.outcome is Outcome.PASS]
    failed = next((kernel for kernel in kernels if kernel.outcome is not Outcome.PASS), None)
    occupied = [known for kernel in built if (known := occupancy(kernel)) is not None]
    spilled = _most(kernel.spill_bytes for kernel in built)
    registers = _most(kernel.registers for kernel in built)
    return (
        Span(target, Tone.STRONG if is_own else Tone.PLAIN),
        _builds_span(ports, kernels, failed, glyphs),
        Span(glyphs.dash if registers is None else str(registers)),
        Span(glyphs.dash if spilled is None else numbers.bytes_of(spilled), Tone.WARN if spilled else Tone.PLAIN),
        Span(_bytes(_most(kernel.shared_bytes for kernel in built), glyphs)),
        Span(numbers.percent(min(known.percent for known in occupied)) if occupied else glyphs.dash),
        muted("" if failed is None else " ".join(f"{failed.launch.kernel}: {failed.message}".split())),
    )


def _builds_span(
    ports: Ports, kernels: tuple[CompiledKernel, ...], failed: CompiledKernel | None, glyphs: Glyphs
) -> Span:
    """How many of the launches built, and in one word why not all did."""
    good = sum(kernel.outcome is Outcome.PASS for kernel in kernels)
    count = f"{good}/{ports.launches}"
    if failed is not None:
        return Span(f"{glyphs.outcome(failed.outcome)} {count} {outcome_words(failed.outcome)}"[:17],
                    outcome_tone(failed.outcome))  # fmt: skip
    if good == ports.launches:
        return Span(f"{glyphs.outcome(Outcome.PASS)} {count} ok", Tone.GOOD)
    return muted(f"{glyphs.dash} {count}")


def _builds(kernels: tuple[CompiledKernel, ...]) -> bool:
    return bool(kernels) and all(kernel.outcome is Outcome.PASS for kernel in kernels)


def _launches(ports: Ports) -> str:
    return f"{ports.launches} launch{'es' if ports.launches != 1 else ''}, each for {len(ports.targets)} targets"


def _most(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known, default=None)


def _bytes(value: int | None, glyphs: Glyphs) -> str:
    return glyphs.dash if value is None else numbers.bytes_of(value)
