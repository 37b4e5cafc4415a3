"""Outputs of the reference under known mistakes of a kernel.

Each hypothesis is the case's own arguments, changed according to the mistake: a scalar that is ignored, strides that
are ignored, a tail that is left out.  The trusted reference computes the resulting outputs, which are compared with
those of the candidate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypothesis import Hypothesis, changed, replaced, require_small_enough, tensor_at
from engine.judge.diagnosis.layout_hypotheses import layouts
from engine.judge.diagnosis.ranking import Facts
from engine.judge.diagnosis.scalar_values import other_values
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.value_hypotheses import misreadings
from engine.model import ProblemDefinition
from engine.protocol.tensors import dtype_name

if TYPE_CHECKING:
    from engine.model import Arguments, Value

_BLOCKS = tuple(1 << power for power in range(4, 13))
_NARROW = (torch.float16, torch.bfloat16)
_WIDER_THAN_SINGLE = (torch.float64, torch.int64, torch.int32)
_MOST_OVER = 15  # largest remainder of a division by the block size
_STRIDE_NAMES = ("inc", "ld", "stride")


def hypotheses(problem: ProblemDefinition, inputs: Arguments, shape: torch.Size) -> Iterator[Hypothesis]:
    """Possible mistakes in a call on `inputs` with an output of this shape, the likelier first."""
    places = [place for place, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.numel()]
    read = [place for place in places if problem.arguments[place] not in problem.written_only]
    for place, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor):
            yield from _scalars(problem, inputs, place)
            yield from _products(problem, inputs, place)
            yield from _cut_sizes(problem, inputs, place, shape)
    for place in read:
        yield from _absences(problem, inputs, place)
    yield from _wholes(problem, inputs)
    yield from _all_strides(problem, inputs)
    for place in read:
        yield from layouts(problem, inputs, place, shape)
    if len(read) > 1:
        for place in read:
            yield from _constants(problem, inputs, place)
    yield from misreadings(problem, inputs, read)
    yield from _precisions(inputs, read)
    yield from _paddings(inputs, places)
    for place in read:
        if len(read) == 1 or tensor_at(inputs, place).is_floating_point():  # index 0 is no omission
            yield from _ends(problem, inputs, place)
        yield from _parts(problem, inputs, place)
    for place in read:
        if tensor_at(inputs, place).is_floating_point():
            yield from _shared_out(problem, inputs, place)


def _scalars(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """Another value in place of an argument that is not a tensor."""
    name, given = problem.arguments[place], inputs[place]
    is_stride = _is_stride(name, given)
    for other, words in other_values(problem, inputs, place):
        facts: Facts = {"argument": name, "given": str(given), "value": words}
        symptom = Symptom.STRIDE_ARGUMENT if is_stride else Symptom.ARGUMENT
        if isinstance(given, float) and math.isfinite(given) and other == 1.0:
            symptom = Symptom.ONES
        yield Hypothesis(symptom=symptom, arguments=partial(replaced, inputs, place, other), facts=facts)
        if is_stride and isinstance(given, int) and isinstance(other, int) and 0 < other < given:
            yield from _narrower(inputs, place, given, other, facts)


def _cut_sizes(problem: ProblemDefinition, inputs: Arguments, place: int, shape: torch.Size) -> Iterator[Hypothesis]:
    """A size argument of which only whole blocks are processed; no number of elements that no tensor has is a size."""
    name, given = problem.arguments[place], inputs[place]
    most = max(shape.numel(), *(value.numel() for value in inputs if isinstance(value, torch.Tensor)), 0)
    if isinstance(given, int) and given <= most and not _is_stride(name, given):
        for cut, block in sorted({given // block * block: block for block in _BLOCKS}.items(), reverse=True):
            if 0 < cut < given:
                facts: Facts = {"argument": name, "given": given, "value": cut, "block": block}
                for buffers in (
                    inputs,
                    _shorter_buffers(inputs, given, cut),
                ):  # a reference may read their size
                    arguments = partial(replaced, buffers, place, cut)
                    yield Hypothesis(symptom=Symptom.SIZE_ENDED, arguments=arguments, facts=facts)


def _shorter_buffers(inputs: Arguments, given: int, cut: int) -> Arguments:
    """Flat buffers of `given` columns with only the first `cut` of them."""
    return tuple(
        value[: value.numel() // given * cut]
        if isinstance(value, torch.Tensor) and value.dim() == 1 and value.numel() % given == 0
        else value
        for value in inputs
    )


def _products(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A factor multiplied by another, unrelated one."""
    name, given = problem.arguments[place], inputs[place]
    for other, value in zip(problem.arguments, inputs, strict=True):
        if other != name and isinstance(given, float) and isinstance(value, float) and value != 1.0:
            facts: Facts = {"argument": name, "given": str(given), "value": f"{other} * {name} ({value * given:g})"}
            yield Hypothesis(
                symptom=Symptom.ARGUMENT, arguments=partial(replaced, inputs, place, value * given), facts=facts
            )


def _absences(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """None in place of an optional tensor, and one constant in place of a boolean tensor."""
    name, tensor = problem.arguments[place], tensor_at(inputs, place)
    if re.search(rf"\b{name}: [^,]*\bNone\b", problem.signature):
        facts: Facts = {"argument": name, "given": "the tensor", "value": "None"}
        absent = partial(replaced, inputs, place, None)
        yield Hypothesis(symptom=Symptom.ARGUMENT, arguments=absent, facts=facts)
    if tensor.dtype == torch.bool:
        for word, make in (("True", torch.ones_like), ("False", torch.zeros_like)):
            facts = {"argument": name, "given": "its elements", "value": f"{word} everywhere"}
            yield Hypothesis(symptom=Symptom.ARGUMENT, arguments=partial(changed, inputs, place, make), facts=facts)


def _wholes(problem: ProblemDefinition, inputs: Arguments) -> Iterator[Hypothesis]:
    """A factor of a part of the answer that multiplies all of it."""
    for place, given in enumerate(inputs):
        if isinstance(given, float) and given not in (0.0, 1.0):
            yield Hypothesis(
                symptom=Symptom.WHOLE_SCALED,
                arguments=partial(replaced, inputs, place, 1.0),
                after=partial(_scaled, factor=given),
                facts={"argument": problem.arguments[place], "given": f"{given:g}"},
            )


def _scaled(values: torch.Tensor, *, factor: float) -> torch.Tensor:
    return (values.double() * factor).to(values.dtype)


def _is_stride(name: str, value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and name.startswith(_STRIDE_NAMES)


def _narrower(inputs: Arguments, place: int, given: int, other: int, facts: Facts) -> Iterator[Hypothesis]:
    """The same number of columns with a shorter stride: a buffer of fewer elements, if references read its size."""
    for at, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and value.dim() == 1 and value.numel() % given == 0:
            shorter = replaced(inputs, at, value[: value.numel() // given * other])
            yield Hypothesis(
                symptom=Symptom.STRIDE_ARGUMENT, arguments=partial(replaced, shorter, place, other), facts=facts
            )


def _all_strides(problem: ProblemDefinition, inputs: Arguments) -> Iterator[Hypothesis]:
    """All stride arguments replaced by 1."""
    names = [name for name, value in zip(problem.arguments, inputs, strict=True) if _is_stride(name, value)]
    if len(names) > 1:
        ones: Arguments = tuple(
            1 if name in names else value for name, value in zip(problem.arguments, inputs, strict=True)
        )
        given = ", ".join(str(value) for name, value in zip(problem.arguments, inputs, strict=True) if name in names)
        facts: Facts = {"argument": " and ".join(names), "given": given, "value": "1"}
        yield Hypothesis(symptom=Symptom.STRIDE_ARGUMENT, arguments=lambda: ones, facts=facts)


def _constants(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A tensor that is ignored."""
    tensor = tensor_at(inputs, place)
    if tensor.is_floating_point():
        facts: Facts = {"argument": problem.arguments[place]}
        for symptom, make in ((Symptom.ONES, torch.ones_like), (Symptom.ZEROS, torch.zeros_like)):
            yield Hypothesis(symptom=symptom, arguments=partial(changed, inputs, place, make), facts=facts)


def _precisions(inputs: Arguments, read: Sequence[int]) -> Iterator[Hypothesis]:
    """Inputs rounded to a narrow type, and an overflow of one in the arithmetic."""
    floats = [place for place in read if tensor_at(inputs, place).is_floating_point()]
    wide = [place for place in read if tensor_at(inputs, place).dtype in _WIDER_THAN_SINGLE]
    if wide:
        facts: Facts = {"dtype": "float32"}
        to_single = partial(_rounded, inputs, wide, _through_single)
        yield Hypothesis(symptom=Symptom.ROUNDED_INPUTS, arguments=to_single, facts=facts)
    if any(tensor_at(inputs, place).dtype == torch.float32 for place in floats):
        to_tf32 = partial(_rounded, inputs, floats, _to_tf32)
        facts = {"dtype": "TensorFloat-32"}
        yield Hypothesis(symptom=Symptom.ROUNDED_INPUTS, arguments=to_tf32, facts=facts)
    for narrow in _NARROW:
        facts = {"dtype": dtype_name(narrow)}
        if any(tensor_at(inputs, place).dtype.itemsize > narrow.itemsize for place in floats):
            rounded = partial(_rounded, inputs, floats, partial(_through, dtype=narrow))
            yield Hypothesis(symptom=Symptom.ROUNDED_INPUTS, arguments=rounded, facts=facts)
        largest = f"{torch.finfo(narrow).max:g}"
        if floats:
            yield Hypothesis(
                symptom=Symptom.OVERFLOWN,
                arguments=lambda: inputs,
                arithmetic=narrow,
                facts={**facts, "largest": largest},
            )


def _rounded(inputs: Arguments, floats: Sequence[int], to_narrow: Callable[[torch.Tensor], torch.Tensor]) -> Arguments:
    return tuple(
        to_narrow(value) if place in floats and isinstance(value, torch.Tensor) else value
        for place, value in enumerate(inputs)
    )


def _through(values: torch.Tensor, *, dtype: torch.dtype) -> torch.Tensor:
    return values.to(dtype).to(values.dtype)


def _through_single(values: torch.Tensor) -> torch.Tensor:
    """Rounded to float32; an integer that rounds to more than the largest one of its type is that one."""
    if values.is_floating_point():
        return values.float().to(values.dtype)
    largest, rounded = torch.iinfo(values.dtype).max, values.float().double()
    return torch.where(rounded >= float(largest), largest, rounded.to(values.dtype))


def _to_tf32(values: torch.Tensor) -> torch.Tensor:
    """float32 with 10 bits of mantissa, to nearest with ties away from zero, as cvt.rna.tf32 does; others as given."""
    if values.dtype != torch.float32:
        return values
    rounded = (values.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF
    return torch.where(values.isfinite(), rounded.view(torch.float32), values)


def _paddings(inputs: Arguments, places: Sequence[int]) -> Iterator[Hypothesis]:
    """A dimension as long as the block that should have been masked, wherever it occurs."""
    sizes = {size for place in places for size in tensor_at(inputs, place).shape if size > 1}
    for size in sorted(sizes):
        for width in sorted({-(-size // block) * block for block in _BLOCKS} | {1 << (size - 1).bit_length()}):
            if size < width <= 4 * size:
                facts: Facts = {"size": size, "width": width}
                padded = partial(_padded, inputs, size, width)
                yield Hypothesis(symptom=Symptom.PADDED, arguments=padded, facts=facts)


def _padded(inputs: Arguments, size: int, width: int) -> Arguments:
    def wide(value: Value) -> Value:
        if not isinstance(value, torch.Tensor):
            return value
        wider = [width if length == size else length for length in value.shape]
        require_small_enough(math.prod(wider), value)
        padded = value.new_zeros(wider)
        padded[tuple(slice(length) for length in value.shape)] = value
        return padded

    return tuple(wide(value) for value in inputs)


def _ends(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A dimension of which the first or the last element is ignored."""
    for words, dim, size in _sizes(tensor_at(inputs, place)):
        for symptom, left_out in ((Symptom.LAST_ONE, size - 1), (Symptom.FIRST_ONE, 0)):
            if size < 2 or (left_out and left_out % _BLOCKS[0] == 0):
                continue  # reported as a missing last block of one element instead
            for fill in _fills(tensor_at(inputs, place)):
                facts: Facts = {"argument": problem.arguments[place], "dim": words, "fill": f"{fill:g}", "size": size}
                arguments = partial(changed, inputs, place, _filled, dim, left_out, 1, fill)
                yield Hypothesis(symptom=symptom, arguments=arguments, facts=facts)


def _parts(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A dimension of which only the beginning, or only the last block, is processed."""
    for words, dim, size in _sizes(tensor_at(inputs, place)):
        starts = {(size - 1) // block * block: block for block in _BLOCKS if block < size}
        for start in sorted(starts, reverse=True) if tensor_at(inputs, place).is_floating_point() else ():
            doubled = partial(changed, inputs, place, _doubled, dim, start)
            where: Facts = {"argument": problem.arguments[place], "dim": words, "start": start}
            yield Hypothesis(symptom=Symptom.TWICE, arguments=doubled, facts=where)
        for start, block in sorted(starts.items(), reverse=True):
            for fill in _fills(tensor_at(inputs, place)):
                facts: Facts = {
                    "argument": problem.arguments[place],
                    "dim": words,
                    "start": start,
                    "block": block,
                    "size": size,
                    "fill": f"{fill:g}",
                }
                for symptom, first, length in (
                    (Symptom.ENDED, start, size - start),
                    (Symptom.LAST_BLOCK, 0, start),
                ):
                    arguments = partial(changed, inputs, place, _filled, dim, first, length, fill)
                    yield Hypothesis(symptom=symptom, arguments=arguments, facts=facts)


def _shared_out(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A dimension whose last elements are ignored: the remainder when it is divided among programs."""
    for words, dim, size in _sizes(tensor_at(inputs, place)):
        for count in range(2, _MOST_OVER + 1) if size > 2 * _MOST_OVER else ():
            facts: Facts = {
                "argument": problem.arguments[place],
                "dim": words,
                "count": count,
                "size": size,
                "fill": "0",
            }
            arguments = partial(changed, inputs, place, _filled, dim, size - count, count, 0.0)
            yield Hypothesis(symptom=Symptom.LAST_FEW, arguments=arguments, facts=facts)


def _sizes(tensor: torch.Tensor) -> list[tuple[str, int | None, int]]:
    """The dimensions in words, each with its number and length, and all elements flattened."""
    sizes: list[tuple[str, int | None, int]] = [
        (f"dimension {dim}", dim, size) for dim, size in enumerate(tensor.shape)
    ]
    return [*sizes, ("all elements", None, tensor.numel())] if tensor.dim() > 1 else sizes


def _fills(tensor: torch.Tensor) -> tuple[float, ...]:
    """Values in place of an element that is masked out."""
    return (0.0, -math.inf) if tensor.is_floating_point() else (0,)


def _doubled(tensor: torch.Tensor, dim: int | None, start: int) -> torch.Tensor:
    copy = tensor.clone(memory_format=torch.contiguous_format)
    part = copy.view(-1) if dim is None else copy
    part.narrow(dim or 0, start, part.shape[dim or 0] - start).mul_(2)
    return copy


def _filled(tensor: torch.Tensor, dim: int | None, first: int, length: int, fill: float) -> torch.Tensor:
    copy = tensor.clone(memory_format=torch.contiguous_format)
    part = copy.view(-1) if dim is None else copy
    part.narrow(dim or 0, first, length).fill_(fill)
    return copy
