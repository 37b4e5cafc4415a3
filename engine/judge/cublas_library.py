"""cuBLAS called through its C interface: the library that a cublas problem is named after.

Matrices are column-major and pointers are device addresses, as in C; the caller has checked that.  Every status is
checked.  TensorFloat-32 is off, and sums are in float32: a baseline may use no precision that a candidate may not.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Sequence
from ctypes import POINTER, c_float, c_int, c_void_p
from pathlib import Path
from typing import Any, Protocol

from engine.errors import EngineError, UnsupportedError
from engine.judge.cublas_routines import Kind, Routine

_SUCCESS = 0
_STATUS_NAMES = {
    1: "CUBLAS_STATUS_NOT_INITIALIZED",
    3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE",
    8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR",
    13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR",
    15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR",
}
_POINTER_MODE_HOST, _POINTER_MODE_DEVICE = 0, 1
# CUBLAS_DEFAULT_MATH uses at least the mantissa asked for, so no TF32; the 16 forbids partial sums in half precision.
_MATH_MODE = 0 | 16
_COMPUTE_32F = 68
_GEMM_DEFAULT = -1
_LARGEST_INT = 2**31 - 1

_SIGNATURES: dict[str, tuple[Any, ...]] = {  # Any: ctypes' own types have no common public base
    "cublasCreate_v2": (POINTER(c_void_p),),
    "cublasSetPointerMode_v2": (c_void_p, c_int),
    "cublasSetMathMode": (c_void_p, c_int),
    "cublasSetStream_v2": (c_void_p, c_void_p),
    "cublasGemmEx": (
        c_void_p, c_int, c_int, c_int, c_int, c_int, c_void_p, c_void_p, c_int, c_int, c_void_p, c_int, c_int,
        c_void_p, c_void_p, c_int, c_int, c_int, c_int,
    ),
}  # fmt: skip


class Operation(enum.IntEnum):
    """Operation on an operand before its use; the values are those of cublasOperation_t."""

    NONE = 0
    TRANSPOSE = 1


class Element(enum.IntEnum):
    """Element types of a product; the values are those of cudaDataType."""

    FLOAT32 = 0
    FLOAT16 = 2
    BFLOAT16 = 14


class CublasError(EngineError):
    """A routine of cuBLAS failed; the message names the routine and its status."""


class Routines(Protocol):
    """The loaded library: every routine above, by its name in C."""

    def __getattr__(self, name: str) -> Any:  # Any: a C function takes and returns what its signature says
        ...


class Cublas:
    """One handle.  It belongs to the device that is current when it is created."""

    def __init__(self, routines: Routines) -> None:
        self._routines = routines
        self._handle = c_void_p()
        self._check("cublasCreate_v2", routines.cublasCreate_v2(ctypes.byref(self._handle)))
        self._call("cublasSetPointerMode_v2", _POINTER_MODE_HOST)
        self._call("cublasSetMathMode", _MATH_MODE)

    def use_stream(self, stream: int) -> None:
        """Run everything that follows on this CUDA stream."""
        self._call("cublasSetStream_v2", stream)

    def run(self, routine: Routine, values: dict[str, Any]) -> None:  # Any: as the routine's signature says
        """Call a routine with the arguments of its entry by name, addresses in place of tensors.

        Raises:
            CublasError: it failed, or an argument is larger than its type in C.
            UnsupportedError: this library does not have it.
        """
        arguments = routine.converted(values)
        self._refuse_large(routine.function, arguments, routine.signature[1:])
        function = declared(self._routines, routine)
        is_result_on_device = Kind.RESULT in map(routine.kind, routine.words)
        if is_result_on_device:
            self._call("cublasSetPointerMode_v2", _POINTER_MODE_DEVICE)
        try:
            self._check(routine.function, function(self._handle, *arguments))
        finally:
            if is_result_on_device:
                self._call("cublasSetPointerMode_v2", _POINTER_MODE_HOST)

    def gemm_ex(
        self, transa: Operation, transb: Operation, m: int, n: int, k: int, element: Element, a: int, lda: int,
        b: int, ldb: int, c: int, ldc: int,
    ) -> None:  # fmt: skip
        """C = op(A) @ op(B), op(A): (m, k), op(B): (k, n), C: (m, n), all of one element type; sums in float32."""
        self._call(
            "cublasGemmEx", transa, transb, m, n, k, _scalar(1.0), a, element, lda, b, element, ldb, _scalar(0.0),
            c, element, ldc, _COMPUTE_32F, _GEMM_DEFAULT,
        )  # fmt: skip

    def _call(self, name: str, *arguments: Any) -> None:  # Any: as the routine's signature says
        self._refuse_large(name, arguments, _SIGNATURES[name][1:])
        self._check(name, getattr(self._routines, name)(self._handle, *arguments))

    def _refuse_large(self, name: str, arguments: Sequence[Any], kinds: Sequence[Any]) -> None:  # Any: as above
        for position, (value, kind) in enumerate(zip(arguments, kinds, strict=True), start=2):
            # ctypes would silently truncate a larger number to 32 bits.
            if kind is c_int and abs(value) > _LARGEST_INT:
                raise CublasError(f"{name}: argument {position} is {value}, expected at most {_LARGEST_INT}")

    def _check(self, name: str, status: int) -> None:
        if status != _SUCCESS:
            raise CublasError(f"{name} returned {_STATUS_NAMES.get(status, 'the unknown status')} ({status})")


def library_of(torch_folder: Path, *, cuda_version: str) -> str:
    """Path for the loader: the cuBLAS installed for the torch in this folder, or its bare name.

    `cuda_version` is that of torch ("13.0"): the folder may have libraries for others.
    """
    name = f"libcublas.so.{cuda_version.partition('.')[0]}"
    beside = torch_folder.parent / "nvidia"
    folders = (*sorted(beside.glob("cu[0-9]*/lib")), beside / "cublas" / "lib", torch_folder / "lib")
    return next((str(folder / name) for folder in folders if (folder / name).is_file()), name)


def load(library: str) -> Routines:
    """The library with its signatures declared.

    Raises:
        UnsupportedError: it cannot be loaded, or lacks a routine.
    """
    try:
        routines = ctypes.CDLL(library)
        for name, arguments in _SIGNATURES.items():
            routine = getattr(routines, name)
            routine.argtypes, routine.restype = arguments, c_int
    except (OSError, AttributeError) as error:
        raise UnsupportedError(f"cuBLAS cannot be used: {error}") from error
    return routines


def declared(routines: Routines, routine: Routine) -> Any:  # Any: a C function takes what its signature says
    """The C function of a routine, with its signature.

    Raises:
        UnsupportedError: this library does not have it.
    """
    try:
        function = getattr(routines, routine.function)
    except AttributeError as error:
        raise UnsupportedError(f"this cuBLAS has no {routine.function}: {error}") from error
    function.argtypes, function.restype = routine.signature, c_int
    return function


def _scalar(value: float) -> Any:  # Any: ctypes does not name the type of a reference
    return ctypes.byref(c_float(value))
