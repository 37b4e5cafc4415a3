"""Stack: y[..., k, ...] = tensors[k][...], with k as a new dimension.

Any rank, any strides; all tensors have one shape.  dim counts in the result and may be negative.  Tensors of different
dtypes are promoted to their common dtype.  A copy: NaN and infinities are copied unchanged.  Overloads: stack is
tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, FrameworkWork, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, result_dtype, torch
from problems.kit.movement import EVERY_DTYPE, any_values, count, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", dim=0, parts=2, second="same", result="same")
_NAME = "{parts} x {shape} dim {dim} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(5, 33), parts=3, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 9, 5), parts=2, dim=-2, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5)], parts=[1, 3], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(127,), (128,), (129,)], dim=[0, 1], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(9, 31), parts=5, dim=[0, 1, 2, -3], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(2, 1025), parts=4, dim=-1, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 2, 5, 2), dim=[0, 3, -1], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(3, 9), parts=33, dim=[0, 1], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 40), dim=1, dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} with {{second}}", shape=(9, 40), parts=3, dtype=[F16, BF16], second="float32",
           result="float32"),
    *_over(Tier.FULL, f"{_NAME} with {{second}}", shape=(9, 40), parts=3, dtype=F32, second=["int64", "bool"]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 2, 3), dim=1, dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(2048, 2048), parts=4, dim=[0, 2], dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(64, 512, 512), dim=1, dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """tensors: `parts` of `shape`, every second one of dtype `second`; dim."""
    special = case.word("values") == "special"
    return [
        any_values(case.shape("shape"), dtype, rng, special=special, layout=case.word("layout"))
        for dtype in _dtypes(case)
    ], case.size("dim")


def _dtypes(case: Case) -> list[DType]:
    second = case.dtype if case.word("second") == "same" else DType(case.word("second"))
    return [second if number % 2 else case.dtype for number in range(case.size("parts"))]


def reference(tensors: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """One dimension more than the tensors, each copied into its slice."""
    dtype = tensors[0].dtype
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
    stacked = torch.empty((len(tensors), *tensors[0].shape), dtype=dtype, device=tensors[0].device)
    for number, tensor in enumerate(tensors):
        stacked[number].copy_(tensor)
    return stacked.movedim(0, dim)


def eager(tensors: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.stack(tensors, dim)


def cost(case: Case) -> Cost:
    """Every element is read and written once, in the promoted dtype."""
    elements, dtypes = count(case.shape("shape")), _dtypes(case)
    return Cost(
        flops=0,
        bytes_read=elements * sum(dtype.bytes for dtype in dtypes),
        bytes_written=elements * len(dtypes) * result_dtype(case).bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::stack",
    entry="stack",
    signature="stack(tensors: list[Tensor], dim: int = 0) -> Tensor",
    summary="Stack equal-shaped tensors along a new dim",
    category=Category.SHAPE_JOIN,
    second_oracle="PyTorch's stack, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=(FrameworkWork.COPIES, FrameworkWork.ALLOCATION, FrameworkWork.VIEWS),
    determinism=Determinism.EXACT,
)
