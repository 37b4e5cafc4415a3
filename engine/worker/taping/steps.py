"""Interface of listeners to operators and launches: the tape of a call, or of a graph capture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import torch

from engine.model import Launch
from engine.protocol.proof.tape import ClaimedKernel

# Kernels take any arguments: Any throughout this file.


class PendingLaunch(Protocol):
    """A launch that is about to run; `values` are its arguments by parameter, constants included."""

    @property
    def function(self) -> Callable[..., Any]:
        """The plain Python function of the kernel."""
        ...

    @property
    def grid(self) -> tuple[int, int, int]:
        """The number of programs along each axis."""
        ...

    @property
    def values(self) -> Mapping[str, Any]:
        """The arguments."""
        ...

    @property
    def described(self) -> Launch:
        """The record of the launch."""
        ...

    @property
    def claimed(self) -> ClaimedKernel | None:
        """The TTIR and arguments of the specialisation, once it was launched; None if they are not known."""
        ...


class StepReceiver(Protocol):
    """Receives the steps of a call in their order."""

    @property
    def is_on(self) -> bool:
        """Whether steps are recorded now."""
        ...

    def taken(self, tensors: Iterable[torch.Tensor]) -> None:
        """An operator is about to work on these tensors."""
        ...

    def read(self, operator: str, tensor: torch.Tensor) -> None:
        """The host read content of a tensor."""
        ...

    def allocated(self, result: object) -> None:
        """An operator allocated memory without content."""
        ...

    def filled(self, target: torch.Tensor, number: Any) -> None:  # Any: what torch fills with
        """Every element of a tensor was set to this number."""
        ...

    def moved(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """The elements of a tensor were copied to another."""
        ...

    def looked_up(
        self, target: torch.Tensor, source: torch.Tensor, positions: torch.Tensor, dimension: int, *, each: bool = False
    ) -> None:
        """New memory got the elements of a tensor at positions along a dimension."""
        ...

    def given(
        self, operator: str, tensors: Iterable[torch.Tensor], taken: Sequence[torch.Tensor], *, integers: bool = False
    ) -> None:
        """An operator without replay left content in these tensors; `taken` are those that it read.

        `integers` is whether all of these hold whole numbers, none of them the bits of fractions.
        """
        ...

    def launching(self, launch: PendingLaunch) -> contextlib.AbstractContextManager[None]:
        """Context in which a kernel is launched."""
        ...

    def leave_incomplete(self, why: str) -> None:
        """A step cannot be recorded."""
        ...
