"""The cuBLAS routine itself, for problems of the cublas source and for the matrix product.

The problem's arguments are translated to the routine's: addresses instead of tensors, letters to
operations, and row-major matrices to the column-major ones that the same bytes are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UnsupportedError
from engine.judge.baselines import BaselineError, ReadyBaseline, ready
from engine.judge.cublas_library import Cublas, CublasError, Element, Operation, Routines, library_of, load

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, Outputs, ProblemDefinition

NAME = "cublas"

# Of real numbers the conjugate transpose is the transpose.
_OPERATIONS = {"N": Operation.NONE, "T": Operation.TRANSPOSE, "C": Operation.TRANSPOSE}


def available(problem: ProblemDefinition, device: torch.device) -> str:
    """For the problems that cuBLAS has a routine for, on an NVIDIA GPU, where torch came with the library."""
    import torch

    if problem.name not in _ROUTINES:
        return f"cuBLAS has no routine for {problem.name}"
    if device.type != "cuda" or torch.version.cuda is None:
        return f"cuBLAS needs an NVIDIA device and a torch made for it; this device is {device.type}"
    try:
        _routines()
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
    call = translated(problem.name, library, stream=lambda: torch.cuda.current_stream(device).cuda_stream)
    return ready(call, arguments, label=label, device=device)


def translated(problem_name: str, library: Cublas, *, stream: Callable[[], int]) -> Callable[..., Outputs | None]:
    """The routine for this problem with the contract of the problem's entry."""
    routine = _ROUTINES[problem_name]

    def call(*arguments: object) -> Outputs | None:
        library.use_stream(stream())
        return routine(library, *arguments)

    return call


def _saxpy(
    library: Cublas, n: int, alpha: float, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int
) -> torch.Tensor:
    """x, y: flat buffers; y is written and returned."""
    library.saxpy(n, alpha, x.data_ptr(), incx, y.data_ptr(), incy)
    return y


def _sgemm(
    library: Cublas, transa: str, transb: str, m: int, n: int, k: int, alpha: float, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int, beta: float, c: torch.Tensor, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """a, b, c: flat column-major buffers; c is written and returned."""
    library.sgemm(
        _OPERATIONS[transa.upper()], _OPERATIONS[transb.upper()], m, n, k, alpha, a.data_ptr(), lda, b.data_ptr(),
        ldb, beta, c.data_ptr(), ldc,
    )  # fmt: skip
    return c


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
    """The transpose of a matrix as cuBLAS takes it: memory, what to do to it, leading dimension.

    The bytes of a row-major matrix are its transpose, column-major; those of a column-major one have
    to be transposed.  Any other layout is copied first, which PyTorch does too.
    """
    (rows, columns), (row_stride, column_stride) = matrix.shape, matrix.stride()
    # The stride of a dimension of one element says nothing.
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
        raise UnsupportedError("this torch was made without CUDA, and came without cuBLAS")
    return load(library_of(Path(torch.__file__).parent, cuda_version=torch.version.cuda))


@functools.cache
def _handle(device_index: int) -> Cublas:
    """One handle for a device and process: making one allocates its workspace."""
    import torch

    with torch.cuda.device(device_index):
        return Cublas(_routines())


_ROUTINES: dict[str, Callable[..., Outputs]] = {
    "cublas::cublasSaxpy_v2": _saxpy,
    "cublas::cublasSgemm_v2": _sgemm,
    "aten::mm": _mm,
}
