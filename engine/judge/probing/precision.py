"""Precision of an answer, compared with an honest one and with one of the next lower precision.

All three are compared with float64 on the content of the call.  A tolerance has to allow for the longest sum that is
added up in the worst order, and so it leaves room for a sum of rounded terms; if the errors of the honest answer and of
the lower one are far apart, the candidate's is near one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine import protocol
from engine.judge.inputs import cases
from engine.judge.inputs.outputs import eager_outputs, expected_outputs, output_names
from engine.model import Determinism, DType, OutputReport, ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments, Value

_MOST_STEPS = 256  # additions rounded one by one; each costs a few operations
_MOST_PRODUCTS = 1 << 22  # products of a matrix product held at once
_LOWER = {
    DType.FLOAT32: ("tf32", 11),
    DType.FLOAT16: ("sums in float16", 11),
    DType.BFLOAT16: ("sums in bfloat16", 8),
}
_SINGLE_BITS, _DOUBLE_BITS = 24, 53
_Running: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


def measure_precision(
    prepared: cases.PreparedCase, command: protocol.MeasurePrecision
) -> tuple[protocol.OutputPrecision, ...]:
    """One entry for each output of the call that the worker has just made.

    Raises:
        UntrustedFileError: the worker has left no readable file.
    """
    problem, content = prepared.problem, prepared.content
    got = cases.outputs_of(prepared, command, prepared.arena.read())
    names = output_names(problem, content.specs, content.expected)
    # The steps of a foreign reference, in its own process, cannot be rounded one by one.
    is_apart = problem.suite is not None
    if is_apart or prepared.case.dtype not in _LOWER or problem.determinism is not Determinism.ROUNDING:
        return tuple(protocol.OutputPrecision(name=name) for name in names)
    precision, bits = _LOWER[prepared.case.dtype]
    is_single = prepared.case.dtype is DType.FLOAT32
    with _device_of(content.inputs):  # tensors that the reference creates must be on the same device
        truth = expected_outputs(problem, _widened(content.inputs))
        honest = [honest_outputs(problem, content.inputs)]
        if is_single:
            honest.append(stepwise_outputs(problem, content.inputs, bits=_SINGLE_BITS, running=_running_single))
            lowered = lowered_outputs(problem, content.inputs, bits=bits)
        else:
            lowered = stepwise_outputs(problem, content.inputs, bits=bits, running=partial(_running, bits=bits))
    return tuple(
        _output_precision(name, precision, value, exact, [*fair, low])
        for name, value, exact, low, *fair in zip(names, got, truth, lowered, *honest, strict=True)
    )


def honest_outputs(problem: ProblemDefinition, inputs: Arguments) -> list[torch.Tensor]:
    """Outputs of eager torch in the dtype of the inputs, without TF32; in the order of the problem's outputs."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        return list(eager_outputs(problem, inputs))
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


def stepwise_outputs(
    problem: ProblemDefinition, inputs: Arguments, *, bits: int, running: _Running
) -> list[torch.Tensor]:
    """The reference with every step rounded to this number of bits, and sums added up by `running`."""
    with _Rounding(bits, running):
        return list(expected_outputs(problem, _widened(inputs)))


def lowered_outputs(problem: ProblemDefinition, inputs: Arguments, *, bits: int) -> list[torch.Tensor]:
    """The reference with inputs and steps rounded to this number of bits, and sums rounded only at the end."""
    rounded = tuple(_each_tensor(value, partial(_rounded, bits=bits)) for value in _widened(inputs))
    with _Rounding(bits, None):
        return list(expected_outputs(problem, rounded))


def _output_precision(
    name: str, precision: str, value: torch.Tensor | OutputReport, truth: torch.Tensor, others: Sequence[torch.Tensor]
) -> protocol.OutputPrecision:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
        return protocol.OutputPrecision(name=name)
    # The candidate's bytes are in host memory where a driver shares none between processes.
    exact, *answers = (tensor.to(value.device, torch.float64) for tensor in (truth, value, *others))
    finite = torch.stack([tensor.isfinite() for tensor in (exact, *answers)]).all(dim=0)
    size = exact[finite].square().mean().sqrt()
    errors = torch.stack([(answer - exact)[finite].square().mean().sqrt() / size for answer in answers])
    if not bool(errors.isfinite().all()):
        return protocol.OutputPrecision(name=name)
    got, *honest, lowered = errors.tolist()
    return protocol.OutputPrecision(name=name, precision=precision, got=got, honest=max(honest), lowered=lowered)


def _device_of(inputs: Arguments) -> torch.device:
    return next((value.device for value in inputs if isinstance(value, torch.Tensor)), torch.device("cpu"))


def _widened(inputs: Arguments) -> Arguments:
    """The same values in float64, with float64 as the requested type of results."""
    return tuple(_each_tensor(value, torch.Tensor.double) for value in inputs)


def _each_tensor(value: Value, change: Callable[[torch.Tensor], torch.Tensor]) -> Value:
    if isinstance(value, torch.Tensor):
        return change(value) if value.is_floating_point() else value
    if isinstance(value, torch.dtype):
        return torch.float64 if value.is_floating_point else value
    return value


def _rounded(values: torch.Tensor, bits: int) -> torch.Tensor:
    """Float64 rounded to this number of significant bits, ties to even; nan and infinity are kept."""
    # On the bits: frexp and ldexp take twice as long.
    below, raw = _DOUBLE_BITS - bits, values.view(torch.int64)
    increment = ((raw >> below) & 1).add_((1 << (below - 1)) - 1)
    nearest = increment.add_(raw).bitwise_and_(-(1 << below)).view(torch.float64)
    return torch.where(values.isfinite(), nearest, values)


def _running(terms: torch.Tensor, *, bits: int) -> torch.Tensor:
    """Running sums along the first dimension, rounded at a limited number of steps."""
    sums: list[torch.Tensor] = []
    carry = terms.new_zeros(terms.shape[1:])
    for part in torch.split(terms, max(1, -(-len(terms) // _MOST_STEPS))):
        sums.append(_rounded(carry + part.cumsum(0), bits))
        carry = sums[-1][-1]
    return torch.cat(sums)


def _running_single(terms: torch.Tensor) -> torch.Tensor:
    """Running sums along the first dimension in float32, one term after another: the worst of the honest orders."""
    # Not torch.cumsum, which adds by blocks, on some devices in float64.
    sums = np.cumsum(terms.float().cpu().numpy(), axis=0, dtype=np.float32)
    return torch.from_numpy(sums).to(terms.device).double()


class _Rounding(TorchDispatchMode):
    """While active, float64 results are rounded to this number of bits; sums are added up by `running`, if any."""

    def __init__(self, bits: int, running: _Running | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self.bits = bits
        self.running = running


def _dispatch(
    mode: _Rounding,
    operator: Any,  # an OpOverload; torch has no public name for its type
    types: Sequence[type],
    args: Sequence[Any] = (),  # Any: the operator's own
    kwargs: dict[str, Any] | None = None,
) -> Any:
    kwargs = kwargs or {}
    is_sum = operator.overloadpacket in _SUMS and args[0].dtype == torch.float64 and args[0].numel()
    if is_sum and mode.running is not None:
        return _SUMS[operator.overloadpacket](mode, *args, **kwargs)
    result = operator(*args, **kwargs)
    if not isinstance(result, torch.Tensor) or result.dtype != torch.float64:
        return result
    alias = operator._schema.returns[0].alias_info
    if alias is None:
        return _rounded(result, mode.bits)
    return result.copy_(_rounded(result, mode.bits)) if alias.is_write else result


# Not a method in the class body: torch wraps those, and the wrapper's first call imports torch's whole compiler.
_Rounding.__torch_dispatch__ = _dispatch  # type: ignore[method-assign, assignment]  # see above


def _product(mode: _Rounding, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    assert mode.running is not None
    rows = max(1, _MOST_PRODUCTS // max(1, right.numel()))
    parts = [
        _total(mode, _rounded(part.T.unsqueeze(2) * right.unsqueeze(1), mode.bits)) for part in torch.split(left, rows)
    ]
    return torch.cat(parts)


def _sum(
    mode: _Rounding, values: torch.Tensor, dims: Sequence[int] | None = None, keepdim: bool = False, **_: object
) -> torch.Tensor:
    places = sorted(dim % values.dim() for dim in (dims or range(values.dim())))
    kept = [dim for dim in range(values.dim()) if dim not in places]
    total = _total(mode, values.permute(*places, *kept).reshape(-1, *(values.shape[dim] for dim in kept)))
    shape = [1 if dim in places else size for dim, size in enumerate(values.shape)]
    return total.reshape(shape) if keepdim else total


def _mean(
    mode: _Rounding, values: torch.Tensor, dims: Sequence[int] | None = None, keepdim: bool = False, **_: object
) -> torch.Tensor:
    total = _sum(mode, values, dims, keepdim)
    return _rounded(total * (total.numel() / values.numel()), mode.bits)


def _softmax(mode: _Rounding, values: torch.Tensor, dim: int, _: bool = False) -> torch.Tensor:
    exponents = _rounded(values - values.amax(dim, keepdim=True), mode.bits)
    terms = _rounded(exponents.exp(), mode.bits)
    return _rounded(terms / _sum(mode, terms, [dim], keepdim=True), mode.bits)


def _cumsum(mode: _Rounding, values: torch.Tensor, dim: int, **_: object) -> torch.Tensor:
    assert mode.running is not None
    return mode.running(values.movedim(dim, 0)).movedim(0, dim)


def _total(mode: _Rounding, terms: torch.Tensor) -> torch.Tensor:
    """The sum along the first dimension."""
    assert mode.running is not None
    return mode.running(terms)[-1]


_SUMS: dict[Any, Callable[..., torch.Tensor]] = {  # Any: an overload packet; torch has no public name for its type
    torch.ops.aten.mm: _product,
    torch.ops.aten.sum: _sum,
    torch.ops.aten.mean: _mean,
    torch.ops.aten._softmax: _softmax,
    torch.ops.aten.cumsum: _cumsum,
}
