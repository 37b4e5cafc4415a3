"""Three operators without tensor functions, and an index of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.errors import UsageError
from engine.model import (
    Case,
    Cost,
    DType,
    Problem,
    ProblemDefinition,
    Tier,
    Tolerance,
)
from engine.problem_source import ProblemDescription
from problems.catalogue import Catalogue


def softmax_problem() -> Problem:
    """Row softmax with eight cases in two tiers, and one too heavy to be in a plan."""
    shapes = ((1, 781), (4, 1), (127, 128), (128, 127))
    smoke = [
        _case(rows, cols, dtype, Tier.SMOKE) for rows, cols in shapes[:2] for dtype in (DType.FLOAT32, DType.BFLOAT16)
    ]
    full = [
        _case(rows, cols, dtype, Tier.FULL) for rows, cols in shapes[2:] for dtype in (DType.FLOAT32, DType.FLOAT16)
    ]
    heavy = [_case(4096, 131072, DType.FLOAT32, Tier.BENCH)]
    return _problem(
        "aten::softmax",
        "softmax",
        "reduction",
        (*smoke, *full, *heavy),
        "softmax(x: Tensor, dim: int) -> Tensor",
        "y[i, j] = exp(x[i, j] - max_i) / sum_j exp(x[i, j] - max_i)",
    )


def catalogue() -> tuple[Problem, ...]:
    """Three operators of three sources."""
    return (
        softmax_problem(),
        _problem(
            "vllm::rms_norm",
            "rms_norm",
            "normalization",
            (_case(8, 64, DType.BFLOAT16, Tier.SMOKE),),
            "rms_norm(out: Tensor, input: Tensor, weight: Tensor, epsilon: float) -> None",
            "out = input / rms(input) * weight",
            mutates=("out",),
        ),
        _problem(
            "cublas::cublasSaxpy_v2",
            "cublasSaxpy_v2",
            "blas",
            (_case(1, 1000, DType.FLOAT32, Tier.SMOKE),),
            "cublasSaxpy_v2(n: int, alpha: float, x: Tensor, y: Tensor) -> None",
            "y = alpha * x + y",
            mutates=("y",),
        ),
    )


REFERENCE_FILE = Path(__file__).with_name("reference_operator.py")


def described(problem: Problem) -> ProblemDescription:
    """The problem as its file describes it, or would if it had one."""
    if problem.source == Catalogue().id:
        return Catalogue().describe(problem.name)
    return ProblemDescription(
        source=problem.source,
        name=problem.name,
        entry=problem.entry,
        signature=problem.signature,
        summary=problem.summary,
        category=problem.category,
        formula=problem.summary,
        contract="",
        file=REFERENCE_FILE,
        dtypes=tuple(dict.fromkeys(case.dtype for case in problem.cases)),
    )


def descriptions() -> tuple[ProblemDescription, ...]:
    """The operators of `catalogue` as their files would describe them."""
    return tuple(map(described, catalogue()))


class Problems:
    """An index of the operators that `catalogue` returns, and sentences on broken files."""

    def __init__(self, catalogue: Callable[[], tuple[Problem, ...]] = catalogue, broken: tuple[str, ...] = ()) -> None:
        self._catalogue = catalogue
        self._broken = broken

    def descriptions(self) -> tuple[tuple[ProblemDescription, ...], tuple[str, ...]]:
        by_name = {problem.name: described(problem) for problem in self._catalogue()}
        return tuple(by_name.values()), self._broken

    def find(self, name: str) -> Problem:
        for problem in reversed(self._catalogue()):
            if problem.name == name:
                return problem
        raise UsageError(f"there is no operator called {name!r}")


def _case(rows: int, cols: int, dtype: DType, tier: Tier) -> Case:
    return Case(name=f"{rows}x{cols} {dtype.short}", dtype=dtype, tier=tier, params={"rows": rows, "cols": cols})


def _never(*_: object) -> None:
    raise AssertionError("the screen must not call a problem's tensor functions")


def _problem(
    name: str,
    entry: str,
    category: str,
    cases: tuple[Case, ...],
    signature: str,
    summary: str,
    mutates: tuple[str, ...] = (),
) -> Problem:
    return ProblemDefinition(
        name=name,
        entry=entry,
        signature=signature,
        summary=summary,
        category=category,
        cases=cases,
        make_inputs=_never,
        reference=_never,
        eager=_never,
        tolerance=lambda case: Tolerance(relative=1e-5, absolute=1e-6),
        cost=lambda case: Cost(flops=5 * case.size("rows") * case.size("cols"), bytes_read=3124, bytes_written=3124),
        returns=0 if mutates else 1,
        mutates=mutates,
    ).problem("toy_problems")
