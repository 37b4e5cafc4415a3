"""A reference computed in float64 although its code requests float32, as in many tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_LOWER = frozenset({torch.float16, torch.bfloat16, torch.float32})
_CASTS = frozenset({"float", "half", "bfloat16"})


class _InDouble(TorchFunctionMode):
    """Replaces narrower floating-point dtypes by float64 in calls of torch."""

    def __torch_function__(
        self,
        func: Callable[..., Any],  # Any: functions of torch, their arguments and results
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__name__", "") in _CASTS and args and isinstance(args[0], torch.Tensor):
            return args[0].double()
        wider = {name: _wider(value) for name, value in (kwargs or {}).items()}
        return func(*map(_wider, args), **wider)


def _wider(value: Any) -> Any:  # Any: an argument of a function of torch
    if isinstance(value, torch.dtype):
        return torch.float64 if value in _LOWER else torch.complex128 if value is torch.complex64 else value
    return value


@contextmanager
def in_double() -> Iterator[None]:
    """In this context torch makes float64 tensors where code gives no dtype, or a narrower one."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _InDouble():
            yield
    finally:
        torch.set_default_dtype(before)
