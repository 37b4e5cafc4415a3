"""Uninitialised memory, made visible: every allocation that promises no content is filled first.

An output element that a kernel never writes then shows as poison, whichever allocation it lives in,
instead of as the right answer that an earlier call left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ALLOCATIONS = frozenset(
    getattr(torch.ops.aten, name)
    for name in ("empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted")
)


class Poison(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves its base untyped
    """While active, new uninitialised tensors of this thread hold the byte `pattern` everywhere."""

    def __init__(self, pattern: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.pattern = pattern


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
    return result


# Not a method in the class body: torch wraps those, and the wrapper's first call imports torch's whole compiler.
Poison.__torch_dispatch__ = _dispatch  # type: ignore[method-assign, assignment]
