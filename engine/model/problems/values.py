"""Arguments and results of an entry.  No torch here but for types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import torch

    Value: TypeAlias = (
        torch.Tensor
        | torch.dtype
        | bool
        | int
        | float
        | complex
        | str
        | "PointerArray"
        | list["Value"]
        | tuple["Value", ...]
        | dict[str, "Value"]
        | None
    )
    Arguments: TypeAlias = tuple[Value, ...]
    Outputs: TypeAlias = torch.Tensor | tuple[torch.Tensor, ...]
    Returned: TypeAlias = Outputs | list[torch.Tensor] | bool | int | float | complex | None


@dataclass(frozen=True, kw_only=True, eq=False)
class PointerArray:
    """Tensors that a candidate gets as one int64 tensor of their addresses, shape (n,), on the device of the case.

    Functions of a problem get this record itself.  Tensors that share memory, or repeat, are allowed.
    """

    tensors: tuple[torch.Tensor, ...]
