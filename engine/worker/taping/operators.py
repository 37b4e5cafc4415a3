"""Operators of torch that a tape replays: they allocate, fill or move.  Each row describes one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch

from engine.clock.safe_torch import Base, without_modes
from engine.worker.operands import dtype_of, tensors_in
from engine.worker.taping.steps import StepReceiver

# Operators take arguments of any type, and torch has no public names for them: Any throughout this file.

Note: TypeAlias = Callable[[StepReceiver, Sequence[Any], Mapping[str, Any], Any], None]

_aten = torch.ops.aten


_INTEGERS = (torch.int32, torch.int64)


def note(
    recorder: StepReceiver,
    packet: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    result: Any,
    *,
    integers: bool = False,
) -> None:
    """Record the operator's step; the output of one that is not in the table is recorded as content.

    `integers` is whether it took and made whole numbers only.
    """
    handler = _NOTES.get(packet)
    if handler is not None and not isinstance(kwargs.get("out"), torch.Tensor):
        handler(recorder, args, kwargs, result)
        return
    found = _LOOK_UPS[packet](args, kwargs) if packet in _LOOK_UPS else None
    if found is not None and isinstance(result, torch.Tensor) and _can_look_up(found):
        recorder.looked_up(result, found.source, found.positions, found.dimension, each=found.each)
        return
    taken = tuple(tensors_in((args, kwargs)))
    recorder.given(str(packet._qualified_op_name), tensors_in((result,)), taken, integers=integers)


def note_view(recorder: StepReceiver, args: Sequence[Any], result: Any) -> None:
    """Record a view that had to be a copy: a reshape of elements in another order."""
    if isinstance(result, torch.Tensor) and args and isinstance(args[0], torch.Tensor):
        source = args[0]
        if not _share_storage(source, result) and Base.is_contiguous(result):
            with without_modes():
                in_order = Base.view(result, Base.size(source))
            recorder.allocated(result)
            recorder.moved(in_order, source)


def _allocated(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    recorder.allocated(result)


def _brought_in(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    """Record a tensor made from a number outside of torch: memory of unknown origin."""
    recorder.given("", (result,), ())


def _unchanged(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    """Record nothing: the result is the argument, whose content is known or of unknown origin."""


def _made_of(number: Any) -> Note:
    def made(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        recorder.allocated(result)
        recorder.filled(result, number)

    return made


def _made_full(place: int) -> Note:
    def made(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        recorder.allocated(result)
        recorder.filled(result, args[place] if len(args) > place else kwargs["fill_value"])

    return made


def _zeroed(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    recorder.filled(args[0], 0)


def _filled(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    number = args[1] if len(args) > 1 else kwargs["value"]
    if isinstance(number, torch.Tensor):
        recorder.moved(args[0], number)
    else:
        recorder.filled(args[0], number)


def _copied(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    recorder.moved(args[0], args[1])


def _cloned(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    if not _share_storage(result, args[0]):
        recorder.allocated(result)
        recorder.moved(result, args[0])


def _share_storage(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have one storage; the storage of a tensor subclass may have no address."""
    try:
        return bool(Base.untyped_storage(one).data_ptr() == Base.untyped_storage(other).data_ptr())
    except RuntimeError:
        return False


def _joined(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    recorder.allocated(result)
    pieces = [piece for piece in args[0] if Base.size(piece) != (0,)]
    dimension = int(args[1] if len(args) > 1 else kwargs.get("dim", 0))
    first = 0
    for piece in pieces:
        length = int(Base.size(piece)[dimension])
        with without_modes():
            place = Base.narrow(result, dimension, first, length)
        recorder.moved(place, piece)
        first += length


def _stacked(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    recorder.allocated(result)
    dimension = int(args[1] if len(args) > 1 else kwargs.get("dim", 0))
    for number, piece in enumerate(args[0]):
        with without_modes():
            place = Base.select(result, dimension, number)
        recorder.moved(place, piece)


def _padded(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    recorder.allocated(result)
    recorder.filled(result, args[2] if len(args) > 2 else kwargs.get("value", 0))
    source, pads = args[0], [int(pad) for pad in args[1]]
    place = result
    with without_modes():
        for axis in range(len(pads) // 2):
            dimension = Base.dim(source) - 1 - axis
            before, after = pads[2 * axis], pads[2 * axis + 1]
            length = int(Base.size(source)[dimension])
            start, stop = max(0, -before), length - max(0, -after)
            source = Base.narrow(source, dimension, start, stop - start)
            place = Base.narrow(place, dimension, max(0, before), stop - start)
    recorder.moved(place, source)


def _copied_each(recorder: StepReceiver, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
    for target, source in zip(args[0], args[1], strict=True):
        recorder.moved(target, source)


class _LookUp(NamedTuple):
    """Elements of `source` at `positions` along a dimension, as in `engine.protocol.proof.tape.LookedUp`."""

    source: torch.Tensor
    positions: torch.Tensor
    dimension: int
    each: bool = False


def _indexed(args: Sequence[Any], kwargs: Mapping[str, Any]) -> _LookUp | None:
    """An index by one tensor; None for an index by several, or by none."""
    places = [number for number, value in enumerate(args[1]) if value is not None]
    return _LookUp(args[0], args[1][places[0]], places[0]) if len(places) == 1 else None


def _selected(args: Sequence[Any], kwargs: Mapping[str, Any]) -> _LookUp | None:
    return _along(args[0], args[1], args[2]) if len(args) == 3 else None


def _gathered(args: Sequence[Any], kwargs: Mapping[str, Any]) -> _LookUp | None:
    found = _selected(args, kwargs)
    return found._replace(each=True) if found is not None else None


def _embedded(args: Sequence[Any], kwargs: Mapping[str, Any]) -> _LookUp | None:
    return _LookUp(args[0], args[1], 0)


def _along(source: torch.Tensor, dimension: Any, positions: torch.Tensor) -> _LookUp | None:
    dimensions = int(Base.dim(source))
    return _LookUp(source, positions, int(dimension) % dimensions) if dimensions else None


def _can_look_up(found: _LookUp) -> bool:
    """Whether the values of both tensors are those of their bytes, and the positions are integers."""
    if Base.is_conj(found.source) or Base.is_neg(found.source):
        return False
    return dtype_of(found.positions) in _INTEGERS and Base.dim(found.source) > 0


def _table(rows: Mapping[str, Note]) -> dict[Any, Note]:
    return {
        getattr(_aten, name): handler
        for names, handler in rows.items()
        for name in names.split()
        if hasattr(_aten, name)
    }


_NOTES = _table(
    {
        "empty empty_strided empty_like new_empty new_empty_strided empty_permuted": _allocated,
        "scalar_tensor": _brought_in,
        "lift lift_fresh": _unchanged,
        "zeros zeros_like new_zeros": _made_of(0),
        "ones ones_like new_ones": _made_of(1),
        "full full_like": _made_full(1),
        "new_full": _made_full(2),
        "zero_": _zeroed,
        "fill_": _filled,
        "copy_": _copied,
        "clone _to_copy contiguous _pin_memory": _cloned,
        "cat": _joined,
        "stack": _stacked,
        "constant_pad_nd": _padded,
        "_foreach_copy_": _copied_each,
    }
)

_LOOK_UPS: dict[Any, Callable[[Sequence[Any], Mapping[str, Any]], _LookUp | None]] = {
    _aten.index: _indexed,
    _aten.index_select: _selected,
    _aten.gather: _gathered,
    _aten.embedding: _embedded,
}
