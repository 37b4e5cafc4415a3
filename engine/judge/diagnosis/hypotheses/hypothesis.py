"""A hypothetical mistake: the equivalent change of the arguments, and the reference's outputs for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from engine.judge.diagnosis.ranking import Facts
from engine.judge.diagnosis.symptoms import Symptom

if TYPE_CHECKING:
    from engine.model import Arguments, Value

_MOST_STRETCH = 16  # a hypothetical tensor has at most so many times the elements of the one that it replaces,
_SMALL = 1 << 16  # and this many elements more


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A mistake and the arguments that have the same effect.

    `arithmetic` is the type that everything is computed in, if it differs; then the mistake counts only if
    intermediates overflow.  `after` is the further effect of the mistake on an output.
    """

    symptom: Symptom
    arguments: Callable[[], Arguments]
    facts: Facts = field(default_factory=dict)
    arithmetic: torch.dtype | None = None
    after: Callable[[torch.Tensor], torch.Tensor] | None = None

    def outcome(self, compute: Callable[[Arguments], tuple[torch.Tensor, ...]]) -> tuple[torch.Tensor, ...] | None:
        """Outputs of the reference `compute` under the hypothesis; None when there are none."""
        arguments = self.arguments()
        if self.arithmetic is None:
            outputs = compute(arguments)
            # A factor of 0 makes every output 0, so zeros would fit any hypothesis.
            is_specific = self.symptom is not Symptom.ZEROS or any(bool((output != 0).any()) for output in outputs)
            return self._finished(outputs) if is_specific else None
        with NarrowArithmetic(self.arithmetic) as narrow:
            outputs = compute(arguments)
        return outputs if narrow.overflown else None

    def _finished(self, outputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        return tuple(self.after(output) for output in outputs) if self.after is not None else outputs


def replaced(inputs: Arguments, place: int, value: Value) -> Arguments:
    """The arguments with another value at the position `place`."""
    return (*inputs[:place], value, *inputs[place + 1 :])


def changed(inputs: Arguments, place: int, change: Callable[..., torch.Tensor], *options: object) -> Arguments:
    """The arguments with `change(tensor, *options)` in place of the tensor at the position `place`."""
    return replaced(inputs, place, change(tensor_at(inputs, place), *options))


def tensor_at(inputs: Arguments, place: int) -> torch.Tensor:
    """The argument at the position `place`, which the caller knows to be a tensor."""
    value = inputs[place]
    assert isinstance(value, torch.Tensor)
    return value


def require_small_enough(elements: int, tensor: torch.Tensor) -> None:
    """Raise unless the hypothetical tensor needs at most a few times the memory of the tensor.

    Raises:
        ValueError: it does; a hypothesis must not exhaust the memory.
    """
    if elements > _MOST_STRETCH * tensor.numel() + _SMALL:
        raise ValueError(f"{elements} elements are too many for a tensor that replaces one of {tensor.numel()}")


class NarrowArithmetic(TorchFunctionMode):
    """While active, requests for double precision get `dtype` instead."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.overflown = False

    def __torch_function__(
        self,
        function: Any,  # torch has no public type for these functions
        types: Sequence[type],
        args: tuple[Any, ...] = (),  # Any: the function's own
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the function, with the narrow type in place of double precision."""
        if function is torch.Tensor.double:
            return args[0].to(self.dtype)
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.dtype == self.dtype and not self.overflown:
            with torch._C.DisableTorchFunction():
                self.overflown = bool(result.isinf().any())
        return result
