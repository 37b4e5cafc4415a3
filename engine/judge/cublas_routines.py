"""The cuBLAS routines that problems are named after: their names in C, and their arguments.

An entry takes the arguments of the C function in their order, without the handle: letters for its enumerations, numbers
for the scalars that C takes by address, tensors for device pointers.  So the name of an argument determines how it is
passed.  Source of the signatures: cublas_api.h of CUDA 12 and 13.  No torch here.
"""

from __future__ import annotations

import ctypes
import enum
from ctypes import POINTER, c_double, c_float, c_int, c_int64, c_void_p
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_COPY = "n x incx y incy"
_AXPY = "n alpha x incx y incy"
_DOT = "n x incx y incy result"
_GEMV = "trans m n alpha A lda x incx beta y incy"
_GEMV_STRIDED = "trans m n alpha A lda strideA x incx stridex beta y incy stridey batchCount"
_GEMV_BATCHED = "trans m n alpha Aarray lda xarray incx beta yarray incy batchCount"
_GER = "m n alpha x incx y incy A lda"
_GEMM = "transa transb m n k alpha A lda B ldb beta C ldc"
_GEMM_STRIDED = "transa transb m n k alpha A lda strideA B ldb strideB beta C ldc strideC batchCount"
_GEMM_BATCHED = "transa transb m n k alpha Aarray lda Barray ldb beta Carray ldc batchCount"
_TRSM = "side uplo trans diag m n alpha A lda B ldb"
_TRSM_BATCHED = "side uplo trans diag m n alpha Aarray lda Barray ldb batchCount"

_ARGUMENTS = {
    "cublasSaxpy_v2": _AXPY, "cublasDaxpy_v2": _AXPY, "cublasCcopy_v2": _COPY, "cublasDcopy_v2": _COPY,
    "cublasZswap_v2": _COPY, "cublasSscal_v2": "n alpha x incx", "cublasDasum_v2": "n x incx result",
    "cublasSdot_v2": _DOT, "cublasCdotu_v2": _DOT, "cublasZdotc_v2": _DOT,
    "cublasDgemv_v2": _GEMV, "cublasCgemv_v2": _GEMV, "cublasSgemvStridedBatched": _GEMV_STRIDED,
    "cublasDgemvStridedBatched": _GEMV_STRIDED, "cublasCgemvStridedBatched": _GEMV_STRIDED,
    "cublasZgemvStridedBatched": _GEMV_STRIDED, "cublasSgemvBatched": _GEMV_BATCHED,
    "cublasDgemvBatched": _GEMV_BATCHED, "cublasCgemvBatched_64": _GEMV_BATCHED, "cublasZgemvBatched": _GEMV_BATCHED,
    "cublasSger_v2": _GER, "cublasCgeru_v2": _GER, "cublasZgerc_v2": _GER,
    "cublasDsyr2_v2": "uplo n alpha x incx y incy A lda",
    "cublasCsymv_v2": "uplo n alpha A lda x incx beta y incy",
    "cublasDsbmv_v2": "uplo n k alpha A lda x incx beta y incy",
    "cublasStbmv_v2": "uplo trans diag n k A lda x incx", "cublasStrsv_v2": "uplo trans diag n A lda x incx",
    "cublasSsyrk_v2": "uplo trans n k alpha A lda beta C ldc",
    "cublasCsyrkEx": "uplo trans n k alpha A Atype lda beta C Ctype ldc",
    "cublasCsymm_v2": "side uplo m n alpha A lda B ldb beta C ldc",
    "cublasStrsm_v2": _TRSM, "cublasDtrsmBatched": _TRSM_BATCHED, "cublasZtrsmBatched": _TRSM_BATCHED,
    "cublasSdgmm": "mode m n A lda x incx C ldc",
    "cublasSgeam": "transa transb m n alpha A lda beta B ldb C ldc",
    "cublasSgemm_v2": _GEMM, "cublasCgemm_v2": _GEMM,
    "cublasSgemmEx": "transa transb m n k alpha A Atype lda B Btype ldb beta C Ctype ldc",
    "cublasSgemmStridedBatched": _GEMM_STRIDED, "cublasDgemmStridedBatched": _GEMM_STRIDED,
    "cublasDgemmStridedBatched_64": _GEMM_STRIDED, "cublasCgemmStridedBatched": _GEMM_STRIDED,
    "cublasCgemmStridedBatched_64": _GEMM_STRIDED, "cublasZgemmStridedBatched": _GEMM_STRIDED,
    "cublasHgemmStridedBatched": _GEMM_STRIDED, "cublasDgemmBatched": _GEMM_BATCHED,
    "cublasSgemmBatched_64": _GEMM_BATCHED, "cublasZgemmBatched": _GEMM_BATCHED, "cublasHgemmBatched": _GEMM_BATCHED,
}  # fmt: skip

# The half-precision products sum in float16, which candidates may not: those with float32 sums are called instead.
# 2 is CUDA_R_16F, 68 CUBLAS_COMPUTE_32F, -1 CUBLAS_GEMM_DEFAULT.
_IN_PLACE_OF = {
    "cublasHgemmStridedBatched": (
        "cublasGemmStridedBatchedEx",
        "transa transb m n k alpha A =2 lda strideA B =2 ldb strideB beta C =2 ldc strideC batchCount =68 =-1",
    ),
    "cublasHgemmBatched": (
        "cublasGemmBatchedEx",
        "transa transb m n k alpha Aarray =2 lda Barray =2 ldb beta Carray =2 ldc batchCount =68 =-1",
    ),
}

_SCALARS: dict[str, Any] = {  # Any: ctypes' own types have no common public base
    "H": c_float, "S": c_float, "D": c_double, "C": c_float * 2, "Z": c_double * 2,
}  # fmt: skip


class Kind(enum.Enum):
    """How an argument is passed to C; for an enumeration, its members by letter."""

    OPERATION = "NTC"
    TRIANGLE = "LU"
    SIDE = "LR"
    DIAGONAL = "NU"
    SIZE = "size"
    STRIDE = "stride"
    TYPE = "type"
    SCALAR = "scalar"
    POINTER = "pointer"
    RESULT = "result"

    @property
    def is_letter(self) -> bool:
        """Whether it is an enumeration: its value in C is the position of the letter."""
        return self.value.isupper()


_KINDS = {
    Kind.OPERATION: "trans transa transb",
    Kind.TRIANGLE: "uplo",
    Kind.SIDE: "side mode",
    Kind.DIAGONAL: "diag",
    Kind.SIZE: "m n k lda ldb ldc incx incy batchCount",
    Kind.STRIDE: "strideA strideB strideC stridex stridey",
    Kind.TYPE: "Atype Btype Ctype",
    Kind.SCALAR: "alpha beta",
    Kind.POINTER: "A B C x y Aarray Barray Carray xarray yarray",
    Kind.RESULT: "result",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}


@dataclass(frozen=True, kw_only=True)
class Routine:
    """A C function called in place of an entry; `words` names its arguments, "=2" is the number 2."""

    entry: str
    function: str
    words: tuple[str, ...]

    @property
    def scalar(self) -> Any:  # Any: ctypes' own types have no common public base
        """The C type of alpha and beta."""
        return _SCALARS[self.entry.removeprefix("cublas")[0]]

    @cached_property
    def signature(self) -> tuple[Any, ...]:  # Any: as above
        """The C types of the arguments, that of the handle first."""
        return (c_void_p, *map(self._type_of, self.words))

    def kind(self, word: str) -> Kind | None:
        """How this argument is passed; None for a constant."""
        return None if word.startswith("=") else _KIND_OF[word]

    def converted(self, values: dict[str, Any]) -> list[Any]:  # Any: ctypes' own types, and integers for the others
        """The arguments for C from those of the entry, addresses in place of tensors."""
        return [int(word[1:]) if word.startswith("=") else self._converted(word, values[word]) for word in self.words]

    def _converted(self, word: str, value: Any) -> Any:  # Any: as above
        kind = _KIND_OF[word]
        if kind.is_letter:
            return kind.value.index(value.upper())
        return ctypes.byref(self._scalar(value)) if kind is Kind.SCALAR else value

    def _scalar(self, value: complex) -> Any:  # Any: as above
        return (
            self.scalar(value.real, value.imag) if self.entry.removeprefix("cublas")[0] in "CZ" else self.scalar(value)
        )

    def _type_of(self, word: str) -> Any:  # Any: as above
        kind = self.kind(word)
        if kind is Kind.SIZE:
            return c_int64 if self.entry.endswith("_64") else c_int
        if kind is Kind.SCALAR:
            return POINTER(self.scalar)
        if kind in (Kind.POINTER, Kind.RESULT):
            return c_void_p
        return c_int64 if kind is Kind.STRIDE else c_int


def _routine(entry: str) -> Routine:
    function, words = _IN_PLACE_OF.get(entry, (entry, _ARGUMENTS[entry]))
    return Routine(entry=entry, function=function, words=tuple(words.split()))


ROUTINES = {entry: _routine(entry) for entry in _ARGUMENTS}
"""Every routine that a problem is named after, by its entry."""
