"""Interface of a harness: the module that makes inputs and expected outputs of one suite's tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from engine.model.problems.suite_origin import Precision

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments


class UnavailableError(Exception):
    """The task does not offer the request, such as a run in float64; the message has the reason."""


class OpenedTask(Protocol):
    """A task whose file has been imported.  `notes` are the differences of its run from the suite's own."""

    notes: tuple[str, ...]

    def needed_bytes(self) -> int | dict[str, int] | None:
        """The bytes of all inputs, weights and outputs, determined without making them; None if unknown.

        A dict has those of each case by its name, so that cases that do not fit into memory can be left out.
        """
        ...

    def draw(self, *, seed: int, weight_seed: int, case: str) -> Arguments:
        """The arguments of the candidate's entry in this case; equal seeds make equal arguments.

        Raises:
            UnavailableError: there is no such case, or its arguments cannot be sent to a candidate.
        """
        ...

    def expected(self, arguments: Arguments, precision: Precision) -> tuple[torch.Tensor, ...]:
        """The outputs for these arguments, which are not changed.

        Raises:
            UnavailableError: the task cannot be computed in this precision.
        """
        ...


@runtime_checkable
class ChecksItself(Protocol):
    """A task with its own code to check an output."""

    def passes_own_rule(self, arguments: Arguments, outputs: tuple[torch.Tensor, ...]) -> bool:
        """Result of that code for the outputs of a call on these arguments."""
        ...


@runtime_checkable
class CanBeTimed(Protocol):
    """A task whose reference can be timed."""

    def bound(self, arguments: Arguments) -> Callable[[], object]:
        """The reference's own call on these arguments, which it may write to; weights and the like are made now."""
        ...
