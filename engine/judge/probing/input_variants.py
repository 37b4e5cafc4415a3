"""Unusual content of a case, laid out after a candidate was right on the usual content.

Only content that an honest kernel must get right is laid out.  So the content changes nothing but numbers that
`make_inputs` draws again for every seed; the reference must be finite; and the problem's `eager`, an honest computation
in the same precision, must be right on that content with half of the tolerance.

Errors of a few roundings in float32 at the usual scale of the case are allowed too.  For small inputs an honest kernel
may lose digits by cancellation, as 1 - exp(-2x) does: its constants are not small, and neither are the errors of what
it adds to them, while the answer is.  Answers may also be small beside terms as large as the usual answers, as where
all numbers are negative, or as answers to other rows: there the errors that the largest of these may have are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import torch

from engine import protocol
from engine.judge.compare.measures import computable, typical
from engine.judge.compare.outputs import allowing
from engine.judge.compare.quick import wrong_anywhere
from engine.judge.inputs import cases
from engine.judge.inputs.outputs import eager_outputs, expected_outputs, lay_out
from engine.judge.probing import input_values
from engine.model import Tolerance
from engine.protocol import tensors

Outputs: TypeAlias = tuple[torch.Tensor, ...]

_FACTORS = (1.0, 4.0, 16.0, 64.0)
_PLACES = (True, True, True, True, False, False)  # attempts per factor: first at an unobserved element, then anywhere
_MARGIN = 0.5
_VANISHING = 2.0**-48
_ROUNDINGS = 8  # units in the last place: some three operations, or approximations as exact as those of a GPU
_HARMLESS = (protocol.Variant.ONE_ELEMENT, protocol.Variant.PERMUTED)
"""Variants without ties in an output of integers; the result of a tie is unspecified."""
_OF_OTHER_TERMS = (
    protocol.Variant.PERMUTED,
    protocol.Variant.SCALED,
    protocol.Variant.EVEN,
    protocol.Variant.EQUAL,
    protocol.Variant.ORDERED,
)
"""Variants of numbers as large as usual ones, or as others beside them, whose answers may be smaller."""


class UnsuitableContentError(Exception):
    """This content cannot decide about a candidate; the message has the reason."""


class Variants:
    """Carries out `LayOutVariant` for the prepared case."""

    def __init__(self, device: torch.device, memory: cases.ArenaMemory) -> None:
        self._device = device
        self._memory = memory

    def vary(self, prepared: cases.PreparedCase, command: protocol.LayOutVariant) -> protocol.VariantLaidOut:
        """Lay out the variant, or reply with the reason why not; then everything is unchanged."""
        if command.variant is not protocol.Variant.MOVED:
            return self._changed(prepared, command)
        prepared.arena = self._moved(prepared, command)
        cases.fill(prepared, prepared.base, command.poison)
        return protocol.VariantLaidOut(id=command.id, arena=prepared.arena.spec)

    def prepare_variant(self, prepared: cases.PreparedCase, variant: protocol.Variant) -> None:
        """Make a variant that will be laid out next."""
        prepared.prepared_variant = self._made(prepared, variant)

    def _moved(self, prepared: cases.PreparedCase, command: protocol.LayOutVariant) -> cases.Arena:
        """An arena that shares no byte with the current one, whose content is overwritten."""
        spoilt = [torch.full_like(storage, command.poison) for storage in prepared.initial]
        prepared.arena.write(spoilt, guard=command.poison)
        prepared.arena.close()
        if command.arena_path is not None:
            return cases.arena_in_file(prepared.base, Path(command.arena_path), first=prepared.arena.spec.bytes)
        return cases.arena_on_device(prepared.base, self._memory, first=prepared.arena.spec.bytes)

    def _changed(self, prepared: cases.PreparedCase, command: protocol.LayOutVariant) -> protocol.VariantLaidOut:
        made, prepared.prepared_variant = prepared.prepared_variant, None
        if made is None or made.variant is not command.variant or made.before is not prepared.content:
            made = self._made(prepared, command.variant)
        if made.content is not None:
            on_host = isinstance(prepared.arena, tensors.ArenaFile)
            cases.fill(prepared, cases.on_host(made.content) if on_host else made.content, command.poison)
        return protocol.VariantLaidOut(
            id=command.id, arena=prepared.arena.spec, dismissed=made.why, changed=made.changed, kept=made.kept
        )

    def _made(self, prepared: cases.PreparedCase, variant: protocol.Variant) -> cases.MadeVariant:
        if prepared.free is None:
            prepared.free = self._free(prepared)
        kept = tuple(dict.fromkeys(name for name, part in _floats(prepared) if part not in prepared.free))
        rng = torch.Generator(self._device).manual_seed(prepared.draws.number(variant))
        changed = ""
        try:
            if not prepared.free:
                raise UnsuitableContentError("no tensor of numbers may be changed")
            if variant is protocol.Variant.ONE_ELEMENT:
                content, changed = self._with_another_element(prepared, prepared.free, rng)
            else:
                content = self._with_other_values(prepared, prepared.free, variant, rng)
            self._require_suitable(prepared, variant, content)
        except UnsuitableContentError as error:
            return cases.MadeVariant(
                variant=variant, before=prepared.content, why=str(error), changed=changed, kept=kept
            )
        return cases.MadeVariant(variant=variant, before=prepared.content, content=content, changed=changed, kept=kept)

    def _with_other_values(
        self,
        prepared: cases.PreparedCase,
        free: tuple[protocol.TensorSpec, ...],
        variant: protocol.Variant,
        rng: torch.Generator,
    ) -> cases.Content:
        storages = self._copied(prepared.base)
        # Of several tiny factors a product is smaller than the errors that an honest kernel may have.
        changed = (max(free, key=_elements),) if variant is protocol.Variant.TINY else free
        for part in changed:
            tensor = _without_repeats(tensors.view(part, storages[part.storage]))
            tensor.copy_(input_values.values_of(variant, tensor, rng))
        return self._content(prepared, variant, storages)

    def _with_another_element(
        self, prepared: cases.PreparedCase, free: tuple[protocol.TensorSpec, ...], rng: torch.Generator
    ) -> tuple[cases.Content, str]:
        """The current content with one element changed that the answer depends on, and a description of it."""
        before = tuple(value.to(self._device) for value in prepared.content.expected)
        # An outlier makes the other answers of its row 0 and so ties, on which integer answers depend.
        in_range = any(map(_is_whole, before))
        # Doubled, since a stale output may itself be off by the tolerance and must still be detected.
        variant = protocol.Variant.ONE_ELEMENT
        doubled = _tolerances(prepared, _rounding(prepared, variant, before), factor=2.0)
        for factor in _FACTORS:
            for hidden in _PLACES:
                storages = self._copied(prepared.content)
                part = free[_drawn([_elements(part) for part in free], rng)]
                tensor = _without_repeats(tensors.view(part, storages[part.storage]))
                place = input_values.one_element(tensor, rng, factor=factor, hidden=hidden, in_range=in_range)
                old = float(tensor[place.index])
                tensor[place.index] = place.value
                made = self._content(prepared, variant, storages)
                if not _agree(before, made.expected, doubled):
                    name = next(name for name, spec in _floats(prepared) if spec == part)
                    where = ",".join(map(str, place.index))
                    return made, f"{name}[{where}] {old:.6g} became {float(tensor[place.index]):.6g}"
        raise UnsuitableContentError("no element was found that the answer depends on")

    def _free(self, prepared: cases.PreparedCase) -> tuple[protocol.TensorSpec, ...]:
        """Tensors whose content depends on the seed, and has no structure; a constant one, such as a table, stays."""
        with self._device:
            rng = torch.Generator(self._device).manual_seed(prepared.draws.number("free tensors"))
            _, others = lay_out(prepared.problem, prepared.problem.make_inputs(prepared.case, rng))
        return tuple(
            part
            for name, part in _floats(prepared)
            if name not in prepared.problem.structured
            and not torch.equal(
                tensors.view(part, prepared.base.storages[part.storage]).to(self._device),
                tensors.view(part, others[part.storage]),
            )
        )

    def _copied(self, content: cases.Content) -> list[torch.Tensor]:
        """The storages of a content, copied to the device of the judge."""
        return [storage.to(self._device, copy=True) for storage in content.storages]

    def _content(
        self, prepared: cases.PreparedCase, variant: protocol.Variant, storages: list[torch.Tensor]
    ) -> cases.Content:
        specs = prepared.base.specs
        inputs = tuple(tensors.value_of(spec, storages) for spec in specs)
        try:
            with self._device:
                expected = expected_outputs(prepared.problem, inputs)
        except Exception as error:  # the problem's own code, on unusual content
            raise UnsuitableContentError(f"the reference fails on it: {type(error).__name__}") from error
        return cases.Content(
            seed=prepared.base.seed, inputs=inputs, specs=specs, storages=storages, make_expected=lambda: expected,
            rounding=_rounding(prepared, variant, expected),
        )  # fmt: skip

    def _require_suitable(
        self, prepared: cases.PreparedCase, variant: protocol.Variant, content: cases.Content
    ) -> None:
        """Raise UnsuitableContentError if an honest kernel may have a reason to be wrong on this content."""
        if not prepared.problem.determinism.has_one_answer:
            raise UnsuitableContentError("the operator has several correct answers")
        if not all(bool(computable(value).isfinite().all()) for value in content.expected):
            raise UnsuitableContentError("the reference is not finite")
        if variant not in _HARMLESS and any(_is_whole(value) for value in content.expected):
            raise UnsuitableContentError("an integer answer may depend on rounding there")
        pairs = zip(content.expected, prepared.base.expected, strict=True)
        if any(not _is_whole(value) and _typical(value) < _VANISHING * _typical(usual) for value, usual in pairs):
            raise UnsuitableContentError("the answer is nearly zero, and so is its tolerance")
        zeros = tuple(map(torch.zeros_like, content.expected))
        if _agree(zeros, content.expected, _tolerances(prepared, content.rounding)):
            raise UnsuitableContentError("a zero is within tolerance of the answer")
        try:
            with self._device:
                witness = eager_outputs(prepared.problem, content.inputs)
        except Exception as error:  # the problem's own code, on unusual content
            raise UnsuitableContentError(f"eager fails on it: {type(error).__name__}") from error
        if not _agree(witness, content.expected, _tolerances(prepared, content.rounding, factor=_MARGIN)):
            raise UnsuitableContentError("eager is not clearly correct on it")


def _elements(spec: protocol.TensorSpec) -> int:
    """Number of distinct elements in memory; an expanded element counts once."""
    count = 1
    for size, stride in zip(spec.shape, spec.strides, strict=True):
        count *= size if stride else min(size, 1)
    return count


def _floats(prepared: cases.PreparedCase) -> Iterator[tuple[str, protocol.TensorSpec]]:
    """The floating-point tensors that are read, each with the name of its argument."""
    for name, value in zip(prepared.problem.arguments, prepared.base.specs, strict=True):
        for part in protocol.tensor_specs(value):
            is_read = name not in prepared.problem.written_only and _elements(part)
            if is_read and tensors.dtype_named(part.dtype).is_floating_point:
                yield name, part


def _without_repeats(tensor: torch.Tensor) -> torch.Tensor:
    """A view with each element once: expanded dimensions reduced to size 1."""
    for dim, stride in enumerate(tensor.stride()):
        if stride == 0 and tensor.shape[dim] > 1:
            tensor = tensor.narrow(dim, 0, 1)
    return tensor


def _drawn(weights: list[int], rng: torch.Generator) -> int:
    odds = torch.tensor(weights, dtype=torch.float64, device=rng.device)
    return int(torch.multinomial(odds, 1, generator=rng))


def _tolerances(
    prepared: cases.PreparedCase, rounding: tuple[float, ...], *, factor: float = 1.0
) -> tuple[Tolerance, ...]:
    """The tolerance of each output, `factor` times that of the problem, and the errors of `rounding`."""
    own = prepared.problem.tolerance(prepared.case)
    own = replace(own, relative=factor * own.relative, absolute=factor * own.absolute)
    return tuple(allowing(own, error) for error in rounding)


def _rounding(prepared: cases.PreparedCase, variant: protocol.Variant, expected: Outputs) -> tuple[float, ...]:
    """Errors at the scale of each output of the case: of a few roundings, since kernels add in float32 at least.

    Beside other terms it is the error that the largest answer, usual or in the variant, may have by the tolerance.
    """
    usual = prepared.base.expected
    few = (_ROUNDINGS * _unit_of(value) * _typical(value) for value in usual)
    if variant not in _OF_OTHER_TERMS:
        return tuple(few)
    absolute = prepared.problem.tolerance(prepared.case).absolute
    largest = (absolute * max(map(_largest, pair)) for pair in zip(usual, expected, strict=True))
    return tuple(map(max, few, largest))


def _unit_of(value: torch.Tensor) -> float:
    """Relative distance of neighbours in the type that a kernel computes an output in; 0 for integers."""
    return 0.0 if _is_whole(value) else min(torch.finfo(value.dtype).eps, torch.finfo(torch.float32).eps)


def _typical(value: torch.Tensor) -> float:
    """The root mean square of the finite values, which the tolerance is scaled to."""
    finite = _finite_sizes(value)
    return float(typical(finite, finite.numel())) if finite.numel() else 0.0


def _largest(value: torch.Tensor) -> float:
    finite = _finite_sizes(value)
    return float(finite.max()) if finite.numel() else 0.0


def _finite_sizes(value: torch.Tensor) -> torch.Tensor:
    sizes = value.double() if value.dtype == torch.bool else computable(value).abs().double()
    return sizes[sizes.isfinite()]


def _is_whole(value: torch.Tensor) -> bool:
    """Whether the values are integers."""
    return not (value.is_floating_point() or value.is_complex())


def _agree(values: Outputs, expected: Outputs, tolerances: tuple[Tolerance, ...]) -> bool:
    return len(values) == len(expected) and all(
        value.dtype == wanted.dtype
        and value.shape == wanted.shape
        and not bool(wrong_anywhere(value, wanted, tolerance))
        for value, wanted, tolerance in zip(values, expected, tolerances, strict=True)
    )
