"""Permitted error of a quantised task against full precision, in units of the error that its formats cause.

The reference is computed twice in float64, on the inputs and on inputs rounded to the task's formats (symmetric, one
scale per tensor, the coarsest scheme that such tasks allow).  The root mean square difference of the two is one unit,
but at least about that of the last rounding of the output: a quarter of its step. The error of a correct kernel is
about one unit, or less with finer scales; that of a kernel with fewer bits is larger.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.model import CalledCase, OutputMatch

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments

UNIT = "quantisation units"
_MOST_UNITS, _MOST_UNITS_OF_ELEMENT = 2.0, 12.0
_LEAST_SHARE = 2.0**-18  # of a typical output: float32 rounding exists even if rounding the inputs changes nothing
_BITS = {"int8": 8, "int4": 4}
_WEIGHTS = frozenset({"weight", "w", "mat2", "other"})
_KEPT = frozenset({"bias", "eps"})


@dataclass(frozen=True, kw_only=True)
class Formats:
    """The formats of a task's weights and activations; formats other than int8, int4 and float8 change nothing.

    `parameters` are the names of the entry's arguments in order.
    """

    weight: str
    activation: str
    parameters: tuple[str, ...]

    def of(self, name: str) -> str:
        """The format of an argument."""
        if name in _KEPT:
            return ""
        return self.weight if name in _WEIGHTS else self.activation


def formats_of(details: Mapping[str, str]) -> Formats | None:
    """The formats that a reader stored in the details of a task; None for a task that is not quantised."""
    if "quantisation" not in details:
        return None
    spec = json.loads(details["quantisation"])
    parameters = tuple(json.loads(details.get("parameters", "[]")))
    return Formats(weight=str(spec.get("weight")), activation=str(spec.get("activation")), parameters=parameters)


def comparer(
    formats: Formats, exact: Callable[[Arguments], Sequence[torch.Tensor]]
) -> Callable[[CalledCase], tuple[OutputMatch, ...]]:
    """The comparer of a task; `exact` computes its reference in float64 for the arguments of a call."""

    def compare(call: CalledCase) -> tuple[OutputMatch, ...]:
        full, rounded = exact(call.arguments), exact(rounded_arguments(call.arguments, formats))
        return tuple(match(*one) for one in zip(call.outputs, full, rounded, strict=True))

    return compare


def match(got: torch.Tensor, full: torch.Tensor, rounded: torch.Tensor) -> OutputMatch:
    """Compare an output with full precision and with the reference on rounded inputs, in units of their difference."""
    import torch

    share = max(_LEAST_SHARE, torch.finfo(got.dtype).eps / 4 if got.is_floating_point() else 0.0)
    got, full, rounded = got.double(), full.double(), rounded.double()
    unit = max(_rms(rounded - full), share * _rms(full), 1e-30)
    error = (got - full).abs() / unit
    units, emulated = _rms(got - full) / unit, _rms(got - rounded) / unit
    wrong = ~(error <= _MOST_UNITS_OF_ELEMENT)
    if not units <= _MOST_UNITS:
        wrong = torch.ones_like(wrong)
    message = ""
    if bool(wrong.any()):
        message = (
            f"rms error {units:.3g} {UNIT} against full precision and {emulated:.3g} against an emulated quantised "
            f"reference; at most {_MOST_UNITS:g} are accepted, and {_MOST_UNITS_OF_ELEMENT:g} of any element"
        )
    return OutputMatch(wrong=wrong, message=message, error=float(error.max()) if error.numel() else 0.0, unit=UNIT)


def rounded_arguments(arguments: Arguments, formats: Formats) -> Arguments:
    """The arguments of a recorded call, with floating-point tensors rounded to their formats but in their own dtype."""
    values: tuple[Any, ...] = arguments  # Any: a tuple of positional arguments, and pairs of name and value
    args, kwargs, *written = values
    names = (*formats.parameters, *[""] * len(args))
    positional = tuple(_rounded(value, formats.of(name)) for name, value in zip(names, args, strict=False))
    return (positional, tuple((name, _rounded(value, formats.of(name))) for name, value in kwargs), *written)


def _rounded(value: Any, form: str) -> Any:  # Any: arguments of every kind
    import torch

    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
        return value
    if form.startswith("float8"):
        return value.to(torch.float8_e4m3fn).to(value.dtype)
    return rounded_to(value, _BITS[form]) if form in _BITS else value


def rounded_to(value: torch.Tensor, bits: int) -> torch.Tensor:
    """The nearest multiples of a scale that maps the largest element to the largest integer of `bits` bits."""
    most = 2 ** (bits - 1) - 1
    scale = value.abs().max().double() / most
    return value if not bool(scale > 0) else ((value.double() / scale).round() * scale).to(value.dtype)


def _rms(value: torch.Tensor) -> float:
    return float(value.square().mean().sqrt()) if value.numel() else 0.0
