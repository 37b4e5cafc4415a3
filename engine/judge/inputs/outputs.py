"""The outputs of a problem: their names, and their values as written by the worker and by the problem's code.

Outputs have one order everywhere: the returned values, then each tensor that is written in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.errors import ReferenceFaultError
from engine.judge.compare.compare import of_another_kind
from engine.judge.inputs.copies import private_copies
from engine.judge.inputs.onednn import without_onednn
from engine.model import Outcome, OutputReport, ProblemDefinition, ReturnedMemory
from engine.model.problems.problem import returned_names
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments, Returned

_DTYPES_OF_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}


def lay_out(problem: ProblemDefinition, inputs: Arguments) -> tuple[tuple[protocol.ValueSpec, ...], list[torch.Tensor]]:
    """Specs and storages of these arguments; see engine.protocol.tensors."""
    return tensors.lay_out(inputs, on_cpu=[problem.arguments.index(name) for name in problem.on_cpu])


def written_specs(
    problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...]
) -> list[tuple[str, protocol.TensorSpec]]:
    """The tensors that are written in place in this case, by the names of outputs; an argument may be None."""
    spec_by_name = dict(zip(problem.arguments, specs, strict=True))
    return [
        (name if isinstance(spec_by_name[name], protocol.TensorSpec) else f"{name}[{number}]", part)
        for name in problem.mutates
        for number, part in enumerate(protocol.tensor_specs(spec_by_name[name]))
    ]


def returned_count(
    problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...], expected: Sequence[torch.Tensor]
) -> int:
    """How many values are returned in this case."""
    return len(expected) - len(written_specs(problem, specs)) if problem.returns is None else problem.returns


def output_names(
    problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...], expected: Sequence[torch.Tensor]
) -> list[str]:
    """Names of the compared outputs of this case."""
    names = returned_names(returned_count(problem, specs, expected), is_sequence=problem.returns is None)
    return [*names, *(name for name, _ in written_specs(problem, specs))]


def returned_values(
    problem: ProblemDefinition,
    specs: tuple[protocol.ValueSpec, ...],
    returned: tuple[protocol.ReturnedSpec, ...],
    expected: tuple[torch.Tensor, ...],
    content: Callable[[], torch.Tensor],
) -> list[torch.Tensor | OutputReport]:
    """Returned values as views of the bytes in `content`, or reports of why they are not tensors."""
    wanted = returned_count(problem, specs, expected)
    if problem.returns == 0:
        return []
    names = output_names(problem, specs, expected)[:wanted]
    if len(returned) != wanted:
        message = f"the entry returned {len(returned)} values, expected {wanted}"
        return [OutputReport(name=name, outcome=Outcome.WRONG_SHAPE, message=message) for name in names]
    raw = content()
    # A task of a suite states no form: its reference may return a number where a candidate does.
    is_free = problem.suite is not None
    values: list[torch.Tensor | OutputReport] = []
    for name, spec, value in zip(names, returned, expected[:wanted], strict=True):
        taken = take(name, spec, raw, value, is_scalar=spec.is_number if is_free else problem.returns_scalar)
        fault = _fault_of_form(name, problem, specs, spec) if isinstance(taken, torch.Tensor) else None
        values.append(fault or taken)
    return values


def _fault_of_form(
    name: str, problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...], returned: protocol.ReturnedSpec
) -> OutputReport | None:
    """Why a returned tensor is wrong whatever its elements are: by a lazy bit, its strides, or its place in memory."""
    if problem.materialises and returned.is_lazy:
        message = f"{name} has the lazy conjugate or negative bit set: its values are not in memory"
        return OutputReport(name=name, outcome=Outcome.WRONG_DTYPE, message=message, shape=returned.shape)
    why = _misplaced(problem, specs, returned)
    if not why:
        return None
    return OutputReport(name=name, outcome=Outcome.WRONG_SHAPE, message=f"{name} {why}", shape=returned.shape)


def _misplaced(
    problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...], returned: protocol.ReturnedSpec
) -> str:
    """Why a returned tensor does not lie where it must; "" if it does, has no elements, or its place is not known."""
    place = returned.place
    if place is None or 0 in returned.shape:
        return ""
    match problem.returned_memory:
        case ReturnedMemory.NEW if place.storage is not None:
            return "shares memory with an argument; it must be a copy"
        case ReturnedMemory.CONTIGUOUS if place.strides != _contiguous(returned.shape, place.strides):
            return f"has strides {place.strides}; it must be contiguous"
        case ReturnedMemory.WRITTEN:
            written, spec = written_specs(problem, specs)[0]
            first_byte = spec.first * tensors.dtype_named(spec.dtype).itemsize
            if (place.storage, place.offset_bytes, place.strides) != (spec.storage, first_byte, spec.strides):
                return f"is not {written}, which is written in place and must be returned itself"
    return ""


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous tensor of this shape; those of dimensions of one element do not matter, and stay."""
    wanted: list[int] = []
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        wanted.insert(0, stride if size == 1 else step)
        step *= size
    return tuple(wanted)


def take(
    name: str, spec: protocol.ReturnedSpec, content: torch.Tensor, expected: torch.Tensor, *, is_scalar: bool = False
) -> torch.Tensor | OutputReport:
    """A returned value from the bytes of all outputs; `spec` is checked against them and not trusted.

    A tensor of another type or shape than `expected` may be missing: the place has the size of the right one.
    """
    wanted = "a Python number" if is_scalar else "Tensor"
    if spec.is_number is not is_scalar or (spec.type_name != "Tensor" and not spec.is_number):
        message = f"the entry returned {spec.type_name}, expected {wanted}"
        return OutputReport(name=name, outcome=Outcome.WRONG_DTYPE, message=message)
    another = of_another_kind(name, spec.dtype, spec.shape, expected)
    if another is not None:
        return another
    size, end = expected.numel() * expected.element_size(), spec.offset + spec.bytes
    if spec.bytes != size or spec.offset % expected.element_size() or end > content.numel():
        message = f"{name} should have {size} bytes, but the worker reported {spec.bytes} from byte {spec.offset}"
        return OutputReport(name=name, outcome=Outcome.WRONG_SHAPE, message=message, shape=spec.shape)
    if size == 0:
        return torch.empty_like(expected, device=content.device)
    return content[spec.offset : end].view(expected.dtype).view(expected.shape)


def written_values(
    problem: ProblemDefinition, specs: tuple[protocol.ValueSpec, ...], final: list[torch.Tensor]
) -> list[torch.Tensor | OutputReport]:
    """The arguments that are written in place, with their final content."""
    return [tensors.view(spec, final[spec.storage]).contiguous() for _, spec in written_specs(problem, specs)]


def expected_outputs(problem: ProblemDefinition, arguments: Arguments) -> tuple[torch.Tensor, ...]:
    """Expected outputs of a call on these arguments, which are not changed.

    Raises:
        ReferenceFaultError: the reference left some of them out, or returned more.
    """
    outputs = problem.reference(*private_copies(arguments))
    expected = (outputs,) if isinstance(outputs, torch.Tensor) else tuple(outputs or ())
    value_by_name = dict(zip(problem.arguments, arguments, strict=True))
    written = [name for name in problem.mutates for _ in tensors.tensors_in(value_by_name[name])]
    returned = max(0, len(expected) - len(written)) if problem.returns is None else problem.returns
    if len(expected) != returned + len(written):
        each = f"{returned} returned, then {', '.join(written)} as written" if written else f"{returned} returned"
        raise ReferenceFaultError(
            f"the reference of {problem.name} has {len(expected)} outputs, not {returned + len(written)}: {each}"
        )
    return expected


def eager_outputs(problem: ProblemDefinition, arguments: Arguments) -> tuple[torch.Tensor, ...]:
    """Outputs of `eager` for these arguments, which are not changed: returned ones, and those written in place."""
    own = private_copies(arguments)
    with without_onednn():
        returned = as_tensors(problem.eager(*own))
    value_by_name = dict(zip(problem.arguments, own, strict=True))
    written = (tensor for name in problem.mutates for tensor in tensors.tensors_in(value_by_name[name]))
    return (*returned[: problem.returns], *written)


def as_tensors(returned: Returned) -> tuple[torch.Tensor, ...]:
    """Returned values as tensors; a Python number as a 0-d one of 64 bits a part, or boolean."""
    if isinstance(returned, torch.Tensor):
        return (returned,)
    if isinstance(returned, bool | int | float | complex):
        return (torch.tensor(returned, dtype=_DTYPES_OF_NUMBERS[type(returned)]),)
    return tuple(returned or ())
