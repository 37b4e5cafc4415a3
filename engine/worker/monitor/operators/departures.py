"""Operations that take the content of tensors out of torch: to numbers, arrays or raw memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode

_CARRYING_OUT: dict[Any, str] = {  # Any: methods of C and of Python have no type in common that can be named
    torch._C.TensorBase.numpy: "Tensor.numpy",
    torch._C.TensorBase.tolist: "Tensor.tolist",
    torch.Tensor.__array__: "Tensor.__array__",
    torch.Tensor.__dlpack__: "Tensor.__dlpack__",
    torch._C.TensorBase.apply_: "Tensor.apply_",
    torch._C.TensorBase.map_: "Tensor.map_",
    torch._C.TensorBase.map2_: "Tensor.map2_",
}
"""Methods that convert a tensor to arrays or Python numbers; `torch_operators` recognises these by "Tensor."."""
_ASKING: frozenset[Any] = frozenset({torch.isfinite, torch.Tensor.isfinite, torch.isinf, torch.Tensor.isinf})
"""Questions that torch answers by arithmetic on all elements."""


class Listener(Protocol):
    """What records the operations: see `Ledger`."""

    @property
    def is_on(self) -> bool:
        """Whether operations are recorded."""
        ...

    def asked(self) -> AbstractContextManager[None]:
        """Context in which nothing of this thread is recorded."""
        ...

    def within(self) -> AbstractContextManager[None]:
        """Context in which operators of this thread are recorded again."""
        ...

    def carried_out(self, how: str, tensor: torch.Tensor) -> None:
        """Record that the content of a tensor was taken out of torch."""
        ...


class Departures(TorchFunctionMode):
    """While active, has a ledger record which tensors are converted to numbers, arrays or raw memory."""

    def __init__(self, ledger: Listener) -> None:
        super().__init__()
        self._ledger = ledger

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        is_known = getattr(function, "__hash__", None) is not None
        how = _CARRYING_OUT.get(function) if is_known else None
        if how is not None and self._ledger.is_on and args and isinstance(args[0], torch.Tensor):
            self._ledger.carried_out(how, args[0])
        owner = next((one for one in types if has_own(one, "__torch_function__")), None) if types else None
        if owner is not None and torch._C._is_torch_function_enabled():
            with self._ledger.within():
                result = owner.__torch_function__(function, types, args, kwargs or {})  # type: ignore[attr-defined]
            if result is not NotImplemented:
                return result
        if is_known and function in _ASKING and args and type(args[0]) is torch.Tensor:  # a subclass could compute
            with self._ledger.asked():
                return function(*args, **(kwargs or {}))
        return function(*args, **kwargs) if kwargs else function(*args)


def has_own(kind: type, method: str) -> bool:
    """Whether a tensor subclass, or a tensor-like object, overrides torch's operations."""
    if kind is torch.Tensor:  # nearly every call
        return False
    mine, torchs = getattr(kind, method, None), getattr(torch.Tensor, method)
    return mine is not None and getattr(mine, "__func__", mine) is not getattr(torchs, "__func__", torchs)
