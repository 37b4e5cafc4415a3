"""Whether a launch only moved data: its tensors hold earlier content of its other tensors, perhaps converted.

A candidate that computes elsewhere may have a kernel copy the output, or store numbers that it is given, so that the
output depends on that kernel.  Contents are compared in the order of the elements.  The arguments of the case were not
computed elsewhere: for an operator that only moves elements, a launch that copies them may be the whole work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.clock.returned import is_plain_tensor
from engine.clock.safe_torch import Base, without_modes


@dataclass(frozen=True, kw_only=True)
class Look:
    """The tensors of a launch, their content before it, and its numbers; empty if they could not be read.

    `given` is whether each tensor is in memory of the case.
    """

    tensors: tuple[torch.Tensor, ...]
    before: tuple[torch.Tensor, ...]
    given: tuple[bool, ...] = ()
    numbers: tuple[float, ...] = ()


def before(values: Iterable[object], *, case: Sequence[torch.Tensor] = ()) -> Look:
    """Read the tensors among the arguments of a launch; a descriptor represents its tensor.

    `case` are the storages of the case, as bytes.
    """
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        return Look(tensors=(), before=())
    with without_modes():
        parts = tuple(_parts(values))
        named = (getattr(value, "base", value) for value in parts)
        tensors = tuple(value for value in named if isinstance(value, torch.Tensor) and is_plain_tensor(value))
        constants = (getattr(value, "value", value) for value in parts)
        # Zeros and ones are excluded: honest kernels store them too, for example for an empty sum or product.
        numbers = tuple(value for value in constants if type(value) is float and value not in (0.0, 1.0))
        given = tuple(any(_is_within(tensor, storage) for storage in case) for tensor in tensors)
        return Look(tensors=tensors, before=tuple(map(_flat, tensors)), given=given, numbers=numbers)


def _is_within(tensor: torch.Tensor, storage: torch.Tensor) -> bool:
    start = Base.data_ptr(storage)
    return start <= Base.data_ptr(tensor) < start + Base.numel(storage)


def _parts(values: Iterable[object]) -> Iterator[object]:
    """The arguments, with tuples flattened."""
    for value in values:
        if isinstance(value, tuple):
            yield from _parts(value)
        else:
            yield value


def only_moved(look: Look) -> bool:
    """Whether the launch changed something, and only elements that were computed elsewhere."""
    with without_modes():
        made = [one for one, given in zip(look.before, look.given, strict=True) if not given]
        changed = [
            (now, now_differs)
            for now, then in zip(map(_flat, look.tensors), look.before, strict=True)
            if bool((now_differs := _differs(now, then)).any())
        ]
        return bool(changed) and all(
            _is_given(now, differs, made) or _is_passed_number(now, differs, look.numbers) for now, differs in changed
        )


def _is_given(now: torch.Tensor, changed: torch.Tensor, given: Sequence[torch.Tensor]) -> bool:
    """Whether one of the tensors holds the current content at all changed places."""
    alike = (one for one in given if Base.numel(one) == Base.numel(now) and one.is_complex() == now.is_complex())
    return any(not bool((_differs(now, one) & changed).any()) for one in alike)


def _is_passed_number(now: torch.Tensor, changed: torch.Tensor, numbers: Sequence[float]) -> bool:
    """Whether each changed element is a number argument of the launch, up to rounding."""
    if not now.is_floating_point() or not numbers:
        return False
    converted = Base.to(torch.tensor(numbers, dtype=torch.float64, device=now.device), now.dtype)
    return any(not bool((_differs(now, Base.expand_as(one, now)) & changed).any()) for one in converted)


def _differs(now: torch.Tensor, then: torch.Tensor) -> torch.Tensor:
    """Elements in which two tensors of one length differ by more than a rounding; NaN equals NaN."""
    wide = torch.complex128 if now.is_complex() else torch.float64 if now.is_floating_point() else now.dtype
    new, old = Base.to(now, wide), Base.to(Base.to(then, now.dtype), wide)
    if not (now.is_floating_point() or now.is_complex()):
        return torch.ne(new, old)
    allowed = torch.finfo(now.dtype).eps * Base.abs(old)
    same = torch.eq(new, old) | (torch.isnan(new) & torch.isnan(old))
    # An integer beyond the range of a 16-bit type becomes infinity, which is close to no value.
    return ~(same | ((Base.abs(new - old) <= allowed) & torch.isfinite(old)))


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return Base.reshape(Base.clone(tensor, memory_format=torch.contiguous_format), (-1,))
