"""Makes uninitialised memory visible: every allocation without defined content is filled first.

An output element that a kernel never writes then shows as poison, whichever allocation it is in, instead of as the
right answer that an earlier call left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ALLOCATIONS = frozenset(
    getattr(torch.ops.aten, name)
    for name in ("empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted")
)


class AllocationListener(Protocol):
    """Records uninitialized memory."""

    def allocated(self, tensor: torch.Tensor, poison: int) -> None:
        """Memory was allocated and filled with the byte `poison`."""
        ...

    def written(self, tensors: Iterable[torch.Tensor]) -> None:
        """An operator of torch has written to these tensors."""
        ...


class Poison(TorchDispatchMode):
    """While active, new uninitialised tensors of this thread hold the byte `pattern` everywhere."""

    def __init__(self, pattern: int, listener: AllocationListener | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self.pattern = pattern
        self.listener = listener


def _dispatch(
    mode: Poison,
    operator: Any,  # an OpOverload; torch has no public name for its type
    types: Sequence[type],
    args: Sequence[Any] = (),  # Any: the operator's own
    kwargs: dict[str, Any] | None = None,
) -> Any:
    result = operator(*args, **(kwargs or {}))
    is_new = operator.overloadpacket in _ALLOCATIONS and "out" not in (kwargs or {})
    if is_new and isinstance(result, torch.Tensor):
        fill: Callable[[int], object] | None = getattr(result.untyped_storage(), "fill_", None)
        if fill is not None and result.device.type != "meta" and result.untyped_storage().nbytes():
            fill(mode.pattern)
            if mode.listener is not None and result.device.type == "cpu":
                mode.listener.allocated(result, mode.pattern)
    elif mode.listener is not None and operator._schema.is_mutable:
        mode.listener.written(_written(operator, args, kwargs or {}))
    return result


def _written(operator: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterable[torch.Tensor]:  # Any: as above
    """The tensors that an operator writes into."""
    for place, argument in enumerate(operator._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            for tensor in value if isinstance(value, list | tuple) else (value,):
                if isinstance(tensor, torch.Tensor):
                    yield tensor


# Not a method in the class body: torch wraps those, and the wrapper's first call imports torch's whole compiler.
Poison.__torch_dispatch__ = _dispatch  # type: ignore[method-assign, assignment]  # see above
