"""Matches a kernel with its counterpart of an earlier run, and compares their resources."""

from __future__ import annotations

from collections.abc import Sequence

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Launch, Outcome
from engine.reports.run_record import RunRecord
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, outcome_words
from kgtui.state.format.lines import Line, Span, Tone, line, muted


def kernels_for(view: RunRecord, target: str | None) -> tuple[CompiledKernel, ...]:
    """Kernels that a run compiled for a target: its own, or another requested one; None is its own."""
    own = tuple(kernel for kernel in view.kernels if target is None or kernel.target == target)
    return own or (view.ports.of(target).kernels if target is not None else ())


def counterpart(kernel: CompiledKernel, others: Sequence[CompiledKernel]) -> CompiledKernel | None:
    """The one of `others` for the same target with the specialisation most similar to `kernel`.
    None if none has its name and element types, since code for another type is not comparable.
    """
    named = [other for other in others if _is_comparable(kernel, other)]
    return max(named, key=lambda other: _similarity(kernel.launch, other.launch), default=None)


def is_same_specialisation(one: CompiledKernel, other: CompiledKernel) -> bool:
    """Whether both are the same kernel for the same element types and with the same constants."""
    return _is_comparable(one, other) and one.launch.constants == other.launch.constants


def _is_comparable(one: CompiledKernel, other: CompiledKernel) -> bool:
    if one.launch.kernel != other.launch.kernel or one.target != other.target:
        return False
    kinds = ((kind, other.launch.signature.get(name, kind)) for name, kind in one.launch.signature.items())
    return all(kind == also for kind, also in kinds if kind.startswith("*") and also.startswith("*"))


def specialisation_line(before: Launch, after: Launch, *, glyphs: Glyphs) -> Line:
    """Differences of the two specialisations; empty if there are none."""
    was, now = _chosen(before), _chosen(after)
    changed = [
        f"{name} {was.get(name, glyphs.dash)} {glyphs.then} {now.get(name, glyphs.dash)}"
        for name in dict.fromkeys((*was, *now))
        if was.get(name) != now.get(name)
    ]
    return line(muted("specialised  "), ", ".join(changed)) if changed else ()


def resource_line(before: CompiledKernel, after: CompiledKernel, *, glyphs: Glyphs) -> Line:
    """Resources of the two; an unchanged number is printed once, an increase is a warning."""
    for kernel, which in ((before, "earlier"), (after, "later")):
        if kernel.outcome is not Outcome.PASS:
            message = " ".join(kernel.message.split())
            return line(Span(f"the {which} one did not build: {outcome_words(kernel.outcome)}, {message}", Tone.BAD))
    old, new = occupancy(before), occupancy(after)
    return line(
        *_pair("registers", before.registers, after.registers, glyphs),
        muted("   "),
        *_pair("spilled", before.spill_bytes, after.spill_bytes, glyphs, unit=" B"),
        muted("   "),
        *_pair("shared", before.shared_bytes, after.shared_bytes, glyphs, unit=" B"),
        muted("   "),
        *_pair(
            "occupancy",
            old.percent if old else None,
            new.percent if new else None,
            glyphs,
            is_percent=True,
        ),
    )


def _similarity(one: Launch, other: Launch) -> tuple[int, ...]:
    """Similarity of two specialisations: types first, then values."""
    return (
        sum(one.signature.get(name) == kind for name, kind in other.signature.items()),
        sum(one.constants.get(name) == value for name, value in other.constants.items()),
        one.divisible_by_16 == other.divisible_by_16,
        one.num_warps == other.num_warps,
        one.num_stages == other.num_stages,
        dict(one.options) == dict(other.options),
    )


def _chosen(launch: Launch) -> dict[str, str]:
    types = {name: kind for name, kind in launch.signature.items() if kind != "constexpr"}
    return {
        **types,
        **launch.constants,
        "divisible by 16": " ".join(launch.divisible_by_16) or "none",
        "warps": str(launch.num_warps),
        "stages": str(launch.num_stages),
        **launch.options,
    }


def _pair(
    noun: str, before: float | None, after: float | None, glyphs: Glyphs, *, unit: str = "", is_percent: bool = False
) -> tuple[Span, ...]:
    def text(value: float | None) -> str:
        if value is None:
            return "unknown"
        return numbers.percent(value) if is_percent else f"{value:,}{unit}"

    if before == after:
        return (muted(f"{noun} "), Span(text(after)))
    grew = before is not None and after is not None and after > before
    worse = grew is not is_percent and before is not None and after is not None
    tone = Tone.WARN if worse else Tone.GOOD if before is not None and after is not None else Tone.PLAIN
    return (muted(f"{noun} "), Span(f"{text(before)} {glyphs.then} {text(after)}", tone))
