"""The binding of cuBLAS, and how a problem's arguments become a routine's, on a double of the library.

The double does what the C interface says, on addresses in the host's memory.
"""

from __future__ import annotations

import ctypes
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import UnsupportedError
from engine.judge.baselines import cublas
from engine.judge.compare.compare import compare
from engine.judge.cublas_library import Cublas, CublasError, Element, Operation, declared, library_of, load
from engine.judge.cublas_routines import ROUTINES, Kind
from engine.judge.inputs.copies import private_copies
from engine.model import Case, Outcome, PointerArray, Tier
from tests.operators import definition, definitions

SAXPY = definition("cublas::cublasSaxpy_v2")
PROBLEMS = {problem.entry: problem for problem in definitions().values() if problem.library == "cublas"}
READING_FOR_NOTHING = {
    "cublasCsymm_v2", "cublasCsymv_v2", "cublasCsyrkEx", "cublasDgemmBatched", "cublasDsbmv_v2", "cublasHgemmBatched",
    "cublasHgemmStridedBatched", "cublasSgemmBatched_64", "cublasSsyrk_v2", "cublasStrsm_v2", "cublasZgemmBatched",
}  # fmt: skip
"""BLAS reads no operand whose scalar is 0; these of cuBLAS 13.0 do, and let its NaN through."""
_DTYPES = {0: torch.float32, 2: torch.float16, 14: torch.bfloat16}


class LibraryOfTheHost:
    """Takes what C would take; notes the calls; fails the routine called `failing` with `status`; some compute."""

    def __init__(self, *, failing: str = "", status: int = 0, computing: bool = True) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self._failing, self._status, self._computing = failing, status, computing

    def __getattr__(self, name: str) -> Any:
        def routine(*arguments: Any) -> int:
            self.calls.append((name, arguments))
            if name == self._failing:
                return self._status
            if self._computing and name in COMPUTING:
                COMPUTING[name](*arguments[1:])
            return 0

        return routine


def saxpy(n: int, alpha: Any, x: int, incx: int, y: int, incy: int) -> None:
    if n:
        left, right = (
            memory(at, (n - 1) * abs(inc) + 1, torch.float32)[:: abs(inc) or None].expand(n)
            for at, inc in ((x, incx), (y, incy))
        )
        right.add_(left if (incx < 0) == (incy < 0) else left.flip(0), alpha=alpha._obj.value)


def sgemm(
    transa: int, transb: int, m: int, n: int, k: int, alpha: Any, a: int, lda: int, b: int, ldb: int, beta: Any,
    c: int, ldc: int,
) -> None:  # fmt: skip
    gemm(transa, transb, m, n, k, alpha._obj.value, (a, lda), (b, ldb), beta._obj.value, (c, ldc), torch.float32)


def gemm_ex(
    transa: int, transb: int, m: int, n: int, k: int, alpha: Any, a: int, a_type: int, lda: int, b: int,
    b_type: int, ldb: int, beta: Any, c: int, c_type: int, ldc: int, compute: int, algorithm: int,
) -> None:  # fmt: skip
    assert (a_type, b_type, compute, algorithm) == (c_type, c_type, 68, -1)
    dtype = _DTYPES[c_type]
    gemm(transa, transb, m, n, k, alpha._obj.value, (a, lda), (b, ldb), beta._obj.value, (c, ldc), dtype)


COMPUTING = {"cublasSaxpy_v2": saxpy, "cublasSgemm_v2": sgemm, "cublasGemmEx": gemm_ex}


def memory(address: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """`count` elements at an address of this process."""
    return torch.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(address), dtype=dtype)


def column_major(at: tuple[int, int], rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """The (rows, columns) matrix at an address, of a leading dimension; reads no element past its last."""
    address, leading = at
    assert leading >= max(1, rows), f"leading dimension {leading} of {rows} rows"
    if rows == 0 or columns == 0:
        return torch.empty((rows, columns), dtype=dtype)
    return memory(address, (columns - 1) * leading + rows, dtype).as_strided((rows, columns), (1, leading))


def gemm(
    transa: int, transb: int, m: int, n: int, k: int, alpha: float, a: tuple[int, int], b: tuple[int, int],
    beta: float, c: tuple[int, int], dtype: torch.dtype,
) -> None:  # fmt: skip
    left = column_major(a, k, m, dtype).T if transa else column_major(a, m, k, dtype)
    right = column_major(b, n, k, dtype).T if transb else column_major(b, k, n, dtype)
    out = column_major(c, m, n, dtype)
    # With alpha 0 the standard reads neither matrix, so that NaN in them does not count.
    product = alpha * (left.double() @ right.double()) if alpha else torch.zeros(m, n, dtype=torch.float64)
    out.copy_(product + beta * out if beta else product)


def cases_of(*problems: str) -> list[Any]:
    return [
        pytest.param(name, case, id=f"{name} {case.name}")
        for name in problems
        for case in definition(name).cases
        if case.tier is not Tier.BENCH
    ]


@pytest.mark.parametrize(("name", "case"), cases_of("cublas::cublasSaxpy_v2", "cublas::cublasSgemm_v2", "aten::mm"))
def test_translated_routine_computes_the_problem(name: str, case: Case) -> None:
    problem = definition(name)
    arguments = problem.make_inputs(case, torch.Generator().manual_seed(3))
    expected = problem.reference(*private_copies(arguments))
    call = cublas.translated(problem, Cublas(LibraryOfTheHost()), stream=lambda: 0)
    returned = call(*arguments)
    first = expected if isinstance(expected, torch.Tensor) else expected[0]
    report = compare("return", returned, first, problem.tolerance(case), poison=0xFF)
    assert (report.outcome, report.message) == (Outcome.PASS, "")


def test_result_written_in_place_is_also_returned() -> None:
    problem = definition("cublas::cublasSaxpy_v2")
    arguments = problem.make_inputs(problem.cases[0], torch.Generator().manual_seed(3))
    call = cublas.translated(problem, Cublas(LibraryOfTheHost()), stream=lambda: 0)
    assert call(*arguments) is arguments[problem.arguments.index("y")]


@pytest.mark.parametrize(
    ("make", "operation", "leading"),
    [
        (lambda: torch.ones(3, 5), Operation.NONE, 5),
        (lambda: torch.ones(3, 8)[:, :5], Operation.NONE, 8),
        (lambda: torch.ones(5, 3).T, Operation.TRANSPOSE, 3),
        (lambda: torch.ones(5, 7).T[:3], Operation.TRANSPOSE, 7),
        (lambda: torch.ones(3, 10)[:, ::2], Operation.NONE, 5),
        (lambda: torch.ones(1, 5).expand(3, 5), Operation.NONE, 5),
        (lambda: torch.ones(9).as_strided((1, 5), (2, 1)), Operation.NONE, 5),
        (lambda: torch.ones(9).as_strided((5, 1), (1, 2)), Operation.NONE, 1),
        (lambda: torch.ones(9).as_strided((5, 1), (2, 7)), Operation.NONE, 2),
    ],
    ids=[
        "row-major",
        "padded rows",
        "column-major",
        "padded columns",
        "strided",
        "expanded",
        "one row",
        "one column",
        "one strided column",
    ],
)
def test_matrix_becomes_operation_and_leading_dimension(make: Any, operation: Operation, leading: int) -> None:
    assert cublas._column_major_transpose(make())[1:] == (operation, leading)


def test_matrix_readable_by_routine_is_not_copied() -> None:
    for matrix in (torch.ones(3, 8)[:, :5], torch.ones(5, 3).T):
        assert cublas._column_major_transpose(matrix)[0].data_ptr() == matrix.data_ptr()


def test_the_product_of_other_types_is_refused() -> None:
    call = cublas.translated(definition("aten::mm"), Cublas(LibraryOfTheHost()), stream=lambda: 0)
    with pytest.raises(CublasError, match=r"aten::mm of torch\.float64"):
        call(torch.ones(2, 2, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64))


def test_every_call_uses_the_current_stream() -> None:
    library = LibraryOfTheHost()
    streams = iter((7, 9))
    call = cublas.translated(SAXPY, Cublas(library), stream=lambda: next(streams))
    for _ in range(2):
        call(0, 1.0, torch.ones(1), 1, torch.ones(1), 1)
    chosen = [arguments[1] for name, arguments in library.calls if name == "cublasSetStream_v2"]
    assert chosen == [7, 9]


def test_handle_uses_host_scalars_and_default_precision() -> None:
    library = LibraryOfTheHost()
    Cublas(library)
    settings = {name: arguments[1] for name, arguments in library.calls if name != "cublasCreate_v2"}
    # CUBLAS_DEFAULT_MATH is 0, CUBLAS_TF32_TENSOR_OP_MATH 3, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION 16.
    assert settings == {"cublasSetPointerMode_v2": 0, "cublasSetMathMode": 16}


@pytest.mark.parametrize(
    ("failing", "status", "message"),
    [
        ("cublasCreate_v2", 1, r"cublasCreate_v2 returned CUBLAS_STATUS_NOT_INITIALIZED \(1\)"),
        ("cublasSetMathMode", 7, r"cublasSetMathMode returned CUBLAS_STATUS_INVALID_VALUE \(7\)"),
        ("cublasSetStream_v2", 14, r"cublasSetStream_v2 returned CUBLAS_STATUS_INTERNAL_ERROR \(14\)"),
        ("cublasSaxpy_v2", 13, r"cublasSaxpy_v2 returned CUBLAS_STATUS_EXECUTION_FAILED \(13\)"),
        ("cublasSaxpy_v2", 99, r"cublasSaxpy_v2 returned the unknown status \(99\)"),
    ],
)
def test_failing_status_names_the_routine(failing: str, status: int, message: str) -> None:
    with pytest.raises(CublasError, match=message):
        cublas.translated(SAXPY, Cublas(LibraryOfTheHost(failing=failing, status=status)), stream=lambda: 0)(
            1, 1.0, torch.ones(1), 1, torch.ones(1), 1
        )


def test_size_beyond_int_is_refused() -> None:
    library = LibraryOfTheHost()
    with pytest.raises(CublasError, match="cublasSaxpy_v2: argument 2 is 2147483648, expected at most 2147483647"):
        cublas.translated(SAXPY, Cublas(library), stream=lambda: 0)(2**31, 1.0, torch.ones(1), 1, torch.ones(1), 1)
    assert "cublasSaxpy_v2" not in [name for name, _ in library.calls]


@pytest.mark.parametrize(
    ("present", "found"),
    [
        (("nvidia/cu13/lib/libcublas.so.13", "torch/lib/libcublas.so.13"), "nvidia/cu13/lib/libcublas.so.13"),
        (("nvidia/cublas/lib/libcublas.so.13",), "nvidia/cublas/lib/libcublas.so.13"),
        (("torch/lib/libcublas.so.13",), "torch/lib/libcublas.so.13"),
        (("nvidia/cublas/lib/libcublas.so.12", "nvidia/cu13/lib/libcublasLt.so.13"), None),
    ],
    ids=["the newest layout first", "the older layout", "inside torch", "another version is no substitute"],
)
def test_library_is_the_one_shipped_with_torch(tmp_path: Path, present: tuple[str, ...], found: str) -> None:
    for name in present:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    expected = str(tmp_path / found) if found else "libcublas.so.13"
    assert library_of(tmp_path / "torch", cuda_version="13.0") == expected


def test_missing_or_other_library_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"cuBLAS cannot be used: .*libcublas\.so\.0"):
        load(str(tmp_path / "libcublas.so.0"))
    with pytest.raises(UnsupportedError, match="cublasCreate_v2"):
        load("libc.so.6")


def test_every_routine_has_problem_with_c_argument_order() -> None:
    words = {entry: tuple(word for word in routine.words if word[0] != "=") for entry, routine in ROUTINES.items()}
    assert words == {entry: problem.arguments for entry, problem in PROBLEMS.items()}
    assert len(words) == 50


@pytest.mark.parametrize("entry", sorted(ROUTINES))
def test_routine_gets_letters_sizes_and_addresses(entry: str) -> None:
    library, problem, routine = LibraryOfTheHost(computing=False), PROBLEMS[entry], ROUTINES[entry]
    arguments = problem.make_inputs(problem.cases[0], torch.Generator().manual_seed(3))
    cublas.translated(problem, Cublas(library), stream=lambda: 0)(*arguments)
    _, *given = next(arguments for name, arguments in library.calls if name == routine.function)
    assert len(given) == len(routine.signature) - 1
    by_name = dict(zip(problem.arguments, arguments, strict=True))
    for word, value in zip(routine.words, given, strict=True):
        wanted = by_name.get(word)
        match routine.kind(word):
            case None:
                assert value == int(word[1:])
            case Kind.SCALAR:
                parts = value._obj if entry[6] in "CZ" else [value._obj.value]
                assert complex(*parts) == pytest.approx(wanted)
            case Kind.POINTER | Kind.RESULT if isinstance(wanted, torch.Tensor):
                assert value == wanted.data_ptr()
            case Kind.POINTER if isinstance(wanted, PointerArray):
                assert memory(value, len(wanted.tensors), torch.int64).tolist() == [
                    x.data_ptr() for x in wanted.tensors
                ]
            case kind if kind is not None and kind.is_letter:
                assert kind.value[value] == wanted
            case _:
                assert value == wanted


@pytest.mark.parametrize(
    ("entry", "kind"), [("cublasSgemmBatched_64", ctypes.c_int64), ("cublasDgemv_v2", ctypes.c_int)]
)
def test_only_64_bit_routines_get_64_bit_sizes(entry: str, kind: Any) -> None:
    sizes = [at for at, word in enumerate(ROUTINES[entry].words, start=1) if ROUTINES[entry].kind(word) is Kind.SIZE]
    assert {ROUTINES[entry].signature[at] for at in sizes} == {kind}


def test_result_is_on_device_and_scalar_on_host() -> None:
    library, problem = LibraryOfTheHost(computing=False), PROBLEMS["cublasSdot_v2"]
    arguments = problem.make_inputs(problem.cases[0], torch.Generator().manual_seed(3))
    cublas.translated(problem, Cublas(library), stream=lambda: 0)(*arguments)
    order = [(name, given[1]) for name, given in library.calls if name in ("cublasSetPointerMode_v2", "cublasSdot_v2")]
    assert order == [
        ("cublasSetPointerMode_v2", 0), ("cublasSetPointerMode_v2", 1), ("cublasSdot_v2", arguments[0]),
        ("cublasSetPointerMode_v2", 0),
    ]  # fmt: skip


def test_a_routine_that_a_library_lacks_is_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="this cuBLAS has no cublasSgeam"):
        declared(ctypes.CDLL("libc.so.6"), ROUTINES["cublasSgeam"])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="cuBLAS runs on an NVIDIA GPU only; there is none here")
@pytest.mark.parametrize("name", [*(problem.name for problem in PROBLEMS.values()), "aten::mm"])
def test_real_library_computes_the_problem(name: str) -> None:
    problem, device = definition(name), torch.device("cuda:0")
    assert cublas.available(problem, device) == ""
    messages = {}
    for case in (case for case in problem.cases if case.tier is not Tier.BENCH):
        if problem.entry in READING_FOR_NOTHING and case.params["values"] == "nothing to read":
            continue
        arguments = problem.make_inputs(case, torch.Generator().manual_seed(3))
        expected = problem.reference(*private_copies(arguments))
        there = private_copies(tuple(map(partial(moved, device=device), arguments)))
        returned = cublas.prepare(problem, case, there, device)(*there)
        got = [] if returned is None else [returned] if isinstance(returned, torch.Tensor) else list(returned)
        by_name = dict(zip(problem.arguments, there, strict=True))
        got += [part for written in problem.mutates for part in parts_of(by_name[written])]
        wanted = (expected,) if isinstance(expected, torch.Tensor) else expected
        reports = [
            compare("output", left.cpu(), right, problem.tolerance(case), poison=0xFF).message
            for left, right in zip(got, wanted, strict=True)
        ]
        messages[case.name] = " ".join(filter(None, reports))
    assert {name: message for name, message in messages.items() if message} == {}


def moved(value: Any, *, device: torch.device) -> Any:
    """The value on a device, a pointer array tensor by tensor."""
    if isinstance(value, PointerArray):
        return PointerArray(tensors=tuple(tensor.to(device) for tensor in value.tensors))
    return value.to(device) if isinstance(value, torch.Tensor) else value


def parts_of(value: Any) -> list[torch.Tensor]:
    """The tensors of an argument that is written in place."""
    return list(value.tensors) if isinstance(value, PointerArray) else [value]


def test_the_element_types_are_those_of_the_library() -> None:
    assert {element.name: element.value for element in Element} == {"FLOAT32": 0, "FLOAT16": 2, "BFLOAT16": 14}
