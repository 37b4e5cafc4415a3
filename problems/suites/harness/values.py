"""Arguments and results of a suite's functions: copied, cast to another precision, flattened to tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeVar

import torch

from engine.model import PlainObject, items_of, map_items
from engine.model.problems.suite_origin import Precision
from engine.reference.harness import UnavailableError
from problems.suites.harness.double import in_double

T = TypeVar("T")

_DOUBLE = {
    torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}  # fmt: skip
_LOWER = {torch.float64: torch.float32, torch.float32: torch.bfloat16, torch.complex128: torch.complex64}


def copied(value: T) -> T:
    """A deep copy of nested tuples, lists, dicts and PlainObjects; strides and shared memory between views are kept.

    Raises:
        UnavailableError: it contains a value that cannot be sent to a candidate's process.
    """
    storages: dict[int, torch.UntypedStorage] = {}
    found: T = _mapped(value, lambda tensor: _with_copied_storage(tensor.detach(), storages), {})
    return found


def _with_copied_storage(tensor: torch.Tensor, storages: dict[int, torch.UntypedStorage]) -> torch.Tensor:
    """The same view of a copy of the tensor's memory; each memory is copied once."""
    tensor = tensor.resolve_conj().resolve_neg()
    storage = tensor.untyped_storage()
    if storage.data_ptr() not in storages:
        octets = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
        storages[storage.data_ptr()] = octets.clone().untyped_storage()
    empty = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return empty.set_(storages[storage.data_ptr()], tensor.storage_offset(), tensor.size(), tensor.stride())


def in_precision(value: T, precision: Precision) -> T:
    """The value with all floating-point and complex tensors, and dtypes, in this precision."""
    if precision is Precision.OWN:
        return value
    table = _DOUBLE if precision is Precision.DOUBLE else _LOWER
    found: T = _mapped(value, lambda tensor: tensor.to(table.get(tensor.dtype, tensor.dtype)), {}, table)
    return found


def answered(
    compute: Callable[[T], object], arguments: T, precision: Precision, *, written: Sequence[int] = ()
) -> tuple[torch.Tensor, ...]:
    """Outputs of a reference for a copy of the arguments in this precision, then the content of the written arguments.

    `written` has indices of tensors in the order of `leaves`.

    Raises:
        UnavailableError: it cannot compute in this precision, or returns values that cannot be compared.
    """
    if precision is Precision.OWN:
        own = copied(arguments)
        return _outputs(compute(own), own, written)
    given = in_precision(copied(arguments), precision)
    if precision is Precision.LOWER and _dtypes(given) == _dtypes(arguments):
        raise UnavailableError("its inputs have no lower precision")
    try:
        with in_double() if precision is Precision.DOUBLE else contextlib.nullcontext():
            outputs = _outputs(compute(given), given, written)
    except Exception as error:  # the suite's code may fail in another precision
        raise UnavailableError(f"{type(error).__name__}: {error}") from error
    if precision is Precision.DOUBLE and any(output.dtype in _DOUBLE for output in outputs):
        raise UnavailableError("its reference does not compute in float64, even for such inputs")
    return outputs


def _outputs(returned: object, given: object, written: Sequence[int]) -> tuple[torch.Tensor, ...]:
    """The tensors of a result, possibly none if arguments are written, and the written arguments."""
    found = leaves(given) if written else []
    results = () if returned is None and written else tensors_of(returned)
    return (*results, *(found[number].detach() for number in written))


def leaves(value: Any) -> list[torch.Tensor]:  # Any: nested values
    """The tensors in nested tuples, lists, dicts and PlainObjects, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for item in items_of(value) for leaf in leaves(item)]


def _dtypes(value: object) -> set[torch.dtype]:
    """The dtypes of all tensors in nested tuples and lists."""
    return {leaf.dtype for leaf in leaves(value)}


def _mapped(
    value: Any, change: Any, seen: dict[Hashable, torch.Tensor], table: Any = None
) -> Any:  # Any: nested values
    match value:
        case torch.Tensor():
            view = _view(value)
            if view not in seen:
                seen[view] = change(value)
            return seen[view]
        case torch.Size():
            return tuple(value)
        case list() | PlainObject():
            return map_items(value, lambda item: _mapped(item, change, seen, table))
        case tuple() if not hasattr(value, "_fields"):
            return map_items(value, lambda item: _mapped(item, change, seen, table))
        case dict() if all(isinstance(key, str) for key in value):
            return map_items(value, lambda item: _mapped(item, change, seen, table))
        case torch.dtype():
            return (table or {}).get(value, value)
        case None | bool() | int() | float() | complex() | str():
            return value
    raise UnavailableError(f"an argument of type {type(value).__name__} cannot be moved to a candidate's process")


def _view(tensor: torch.Tensor) -> Hashable:
    """Key that is equal for equal views of one memory; empty tensors have no memory."""
    if not tensor.numel():
        return id(tensor)
    flags = (tensor.is_conj(), tensor.is_neg())
    return (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride(), flags)


def tensors_of(returned: object) -> tuple[torch.Tensor, ...]:
    """The tensors of a result in order, those of a dict sorted by key; numbers become 0-d tensors.

    Raises:
        UnavailableError: it contains another kind of value, or no tensor.
    """
    found = tuple(_flat(returned))
    if not found:
        raise UnavailableError("its reference returns no tensor")
    return found


def _flat(returned: object) -> Iterator[torch.Tensor]:
    match returned:
        case torch.Tensor():
            yield returned.detach()
        case list() | tuple():
            for item in returned:
                yield from _flat(item)
        case dict():
            yield from _flat([returned[key] for key in sorted(returned, key=str)])
        case None:
            return
        case bool() | int() | float() | complex():
            yield torch.tensor(returned, dtype=torch.float64 if isinstance(returned, float) else None)
        case _:
            raise UnavailableError(f"its reference returns a {type(returned).__name__}, which is not compared")
