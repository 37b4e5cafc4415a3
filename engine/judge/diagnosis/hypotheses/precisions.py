"""Hypotheses on types that are too narrow: rounded inputs, and intermediates that overflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis, tensor_at
from engine.judge.diagnosis.ranking import Facts
from engine.judge.diagnosis.symptoms import Symptom
from engine.protocol.tensors import dtype_name

if TYPE_CHECKING:
    from engine.model import Arguments

_NARROW = (torch.float16, torch.bfloat16)
_WIDER_THAN_SINGLE = (torch.float64, torch.int64, torch.int32)


def narrow_types(inputs: Arguments, read: Sequence[int]) -> Iterator[Hypothesis]:
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
