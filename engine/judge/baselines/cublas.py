"""The cuBLAS routine itself, for problems of the cublas source and for the matrix product.

The problem's arguments are converted to the routine's: tensors to addresses, letters to enumerations, and row-major
matrices to the column-major ones with the same bytes.  The half-precision products are the library's own with sums in
float32, as the problems require.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError
from engine.judge.baselines import BaselineError, ReadyBaseline, ready
from engine.judge.cublas_library import (
    Cublas,
    CublasError,
    Element,
    Operation,
    Routines,
    declared,
    library_of,
    load,
)
from engine.judge.cublas_routines import ROUTINES, Kind, Routine
from engine.model import PointerArray

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, Outputs, ProblemDefinition, Value

NAME = "cublas"

_PRODUCT = "aten::mm"
_ADDRESSES: WeakKeyDictionary[PointerArray, torch.Tensor] = WeakKeyDictionary()


def available(problem: ProblemDefinition, device: torch.device) -> str:
    """Reason why it cannot be used: no cuBLAS problem, no NVIDIA GPU, or torch without the library; "" otherwise."""

    routine = ROUTINES.get(problem.entry) if problem.library == "cublas" else None
    if routine is None and problem.name != _PRODUCT:
        return f"cuBLAS has no routine for {problem.name}"
    if not runtime_of(device).is_nvidia():
        return f"cuBLAS needs an NVIDIA device and a CUDA build of torch; this device is {device.type}"
    try:
        library = _routines()
        if routine is not None:
            declared(library, routine)
    except UnsupportedError as error:
        return str(error)
    return ""


def prepare(problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device) -> ReadyBaseline:
    """The routine, on torch's current stream of this device."""
    import torch

    label = f"{NAME} of {case.name}"
    try:
        library = _handle(torch.cuda.current_device() if device.index is None else device.index)
    except (UnsupportedError, CublasError) as error:
        raise BaselineError(f"{label}: {error}") from error
    call = translated(problem, library, stream=lambda: torch.cuda.current_stream(device).cuda_stream)
    return ready(call, problem, arguments, label=label, device=device)


def translated(
    problem: ProblemDefinition, library: Cublas, *, stream: Callable[[], int]
) -> Callable[..., Outputs | None]:
    """The routine for this problem with the contract of the problem's entry."""

    def call(*arguments: Value) -> Outputs | None:
        library.use_stream(stream())
        if problem.name == _PRODUCT:
            return _mm(library, *arguments)  # type: ignore[arg-type]  # as the signature of the problem says
        by_name = dict(zip(problem.arguments, arguments, strict=True))
        _run(library, ROUTINES[problem.entry], by_name)
        written = tuple(by_name[name] for name in problem.mutates[: problem.returns])
        return written[0] if len(written) == 1 else written or None  # type: ignore[return-value]  # tensors all

    return call


def _run(library: Cublas, routine: Routine, by_name: dict[str, Value]) -> None:
    """Call the routine with addresses in place of tensors, which are kept alive until it has returned."""
    pointed: list[torch.Tensor] = []
    values: dict[str, object] = dict(by_name)
    for word in routine.words:
        if routine.kind(word) in (Kind.POINTER, Kind.RESULT):
            pointed.append(_in_memory(by_name[word]))
            values[word] = pointed[-1].data_ptr()
    library.run(routine, values)


def _in_memory(value: Value) -> torch.Tensor:
    """The tensor whose address is passed; for a pointer array its addresses, computed at first use."""
    import torch

    if isinstance(value, PointerArray):
        if value not in _ADDRESSES:
            device = value.tensors[0].device if value.tensors else torch.device("cpu")
            addresses = [tensor.data_ptr() for tensor in value.tensors]
            _ADDRESSES[value] = torch.tensor(addresses, dtype=torch.int64, device=device)
        return _ADDRESSES[value]
    assert isinstance(value, torch.Tensor)
    return value


def _mm(library: Cublas, x: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """x: (M, K), mat2: (K, N) -> (M, N), row-major: to cuBLAS its bytes are (N, M) = mat2.T @ x.T, column-major."""
    (m, k), n = x.shape, mat2.shape[1]
    out = x.new_empty((m, n))
    if out.numel() == 0:
        return out
    if k == 0:
        return out.zero_()
    left, operation_left, leading_left = _column_major_transpose(mat2)
    right, operation_right, leading_right = _column_major_transpose(x)
    library.gemm_ex(
        operation_left, operation_right, n, m, k, _element(x), left.data_ptr(), leading_left,
        right.data_ptr(), leading_right, out.data_ptr(), n,
    )  # fmt: skip
    return out


def _column_major_transpose(matrix: torch.Tensor) -> tuple[torch.Tensor, Operation, int]:
    """The transpose of a matrix as cuBLAS takes it: memory, operation, leading dimension.

    The bytes of a row-major matrix are its transpose in column-major order; a column-major matrix has to be transposed.
    Any other layout is copied first, which PyTorch does too.
    """
    (rows, columns), (row_stride, column_stride) = matrix.shape, matrix.stride()
    # The stride of a dimension of one element is irrelevant.
    if (columns == 1 or column_stride == 1) and (rows == 1 or row_stride >= columns):
        return matrix, Operation.NONE, row_stride if rows > 1 else columns
    if (rows == 1 or row_stride == 1) and (columns == 1 or column_stride >= rows):
        return matrix, Operation.TRANSPOSE, column_stride if columns > 1 else rows
    return matrix.contiguous(), Operation.NONE, columns


def _element(tensor: torch.Tensor) -> Element:
    import torch

    known = {torch.float32: Element.FLOAT32, torch.float16: Element.FLOAT16, torch.bfloat16: Element.BFLOAT16}
    if tensor.dtype not in known:
        raise CublasError(f"aten::mm of {tensor.dtype}: cublasGemmEx is called for {', '.join(map(str, known))} only")
    return known[tensor.dtype]


@functools.cache
def _routines() -> Routines:
    import torch

    if torch.version.cuda is None:
        raise UnsupportedError("this torch is built without CUDA and contains no cuBLAS")
    return load(library_of(Path(torch.__file__).parent, cuda_version=torch.version.cuda))


@functools.cache
def _handle(device_index: int) -> Cublas:
    """The one handle of a device in this process: creating one allocates its workspace."""
    import torch

    with torch.cuda.device(device_index):
        return Cublas(_routines())
