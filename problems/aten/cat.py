"""Concatenate: y[..., o_k + i, ...] = tensors[k][..., i, ...] where o_k = the sum of the sizes before k along the dim.

Any rank from 1, any strides.  All tensors agree in every dimension but `dim`; a 1-D tensor without elements is left
out, whatever the rank of the others.  Tensors of different dtypes are promoted to their common dtype.  A copy: NaN and
infinities are copied unchanged.  Overloads: cat is tested; .out and .names compute the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, FrameworkWork, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, result_dtype, torch
from problems.kit.movement import EVERY_DTYPE, any_values, count, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", dim=0, second="same", result="same", legacy=False)
_NAME = "{shape} {sizes} dim {dim} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(5, 33), sizes=(3, 7), dim=0, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 9, 5), sizes=(1, 0, 9, 20), dim=-2, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(1,), sizes=[(1,), (0, 0), (1, 0, 1)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(0, 3), sizes=[(0, 2), (0, 0)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} and empty 1-D", shape=(4, 5), sizes=(4, 3), dim=[0, 1], legacy=True, dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(9, 31), sizes=[(127, 1), (128, 128), (1, 129)], dim=1, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(2, 1025), sizes=(1, 2, 3), dim=0, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 2, 5, 2), sizes=(3, 2, 1), dim=[0, 2, -1], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(3, 9), sizes=(1,) * 33, dim=[0, 1], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 40), sizes=(5, 6), dim=1, dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} with {{second}}", shape=(9, 40), sizes=(5, 6, 7), dim=1, dtype=[F16, BF16],
           second="float32", result="float32"),
    *_over(Tier.FULL, f"{_NAME} with {{second}}", shape=(9, 40), sizes=(5, 6, 7), dim=1, dtype=F32,
           second=["float16", "int64", "bool"]),
    *_over(Tier.FULL, f"{_NAME} with {{second}}", shape=(9, 40), sizes=(5, 6, 7), dim=1, dtype=F32, second="float64",
           result="float64"),
    *_over(Tier.FULL, f"{_NAME} with {{second}}", shape=(9, 40), sizes=(5, 6), dim=0, dtype=DType.UINT8, second="int8",
           result="int16"),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), sizes=(13, 7), dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 2, 3), sizes=(2, 5, 3), dim=1, dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), sizes=(20, 13), dim=1, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), sizes=(1024, 2048, 1024), dim=[0, 1], dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(64, 512, 512), sizes=(512, 512), dim=-1, dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """tensors: `shape` with each of `sizes` along the dim, every second one of dtype `second`; dim.

    With `legacy` an empty 1-D tensor comes after the first.
    """
    special = case.word("values") == "special"
    tensors = [
        any_values(shape, dtype, rng, special=special, layout=case.word("layout"))
        for shape, dtype in zip(_shapes(case), _dtypes(case), strict=True)
    ]
    if case.claim("legacy"):
        tensors.insert(1, any_values((0,), case.dtype, rng))
    return list(tensors), case.size("dim")


def _shapes(case: Case) -> list[tuple[int, ...]]:
    shapes = []
    for size in case.shape("sizes"):
        shape = list(case.shape("shape"))
        shape[case.size("dim")] = size
        shapes.append(tuple(shape))
    return shapes


def _dtypes(case: Case) -> list[DType]:
    second = case.dtype if case.word("second") == "same" else DType(case.word("second"))
    return [second if number % 2 else case.dtype for number in range(len(case.shape("sizes")))]


def reference(tensors: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """The common shape with the sum of the sizes along the dim; the tensors are copied one after another."""
    dtype = tensors[0].dtype
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
    parts = [tensor for tensor in tensors if tensor.shape != (0,)]
    if not parts:
        return torch.empty((0,), dtype=dtype, device=tensors[0].device)
    shape = list(parts[0].shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    joined = torch.empty(shape, dtype=dtype, device=parts[0].device)
    place = 0
    for part in parts:
        joined.narrow(dim, place, part.shape[dim]).copy_(part)
        place += part.shape[dim]
    return joined


def eager(tensors: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.cat(tensors, dim)


def cost(case: Case) -> Cost:
    """Every element is read and written once, in the promoted dtype."""
    elements = [count(shape) for shape in _shapes(case)]
    read = sum(number * dtype.bytes for number, dtype in zip(elements, _dtypes(case), strict=True))
    return Cost(flops=0, bytes_read=read, bytes_written=sum(elements) * result_dtype(case).bytes)


PROBLEM = ProblemDefinition(
    name="aten::cat",
    entry="cat",
    signature="cat(tensors: list[Tensor], dim: int = 0) -> Tensor",
    summary="Concatenate along a dim",
    category=Category.SHAPE_JOIN,
    second_oracle="PyTorch's cat, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=(FrameworkWork.COPIES, FrameworkWork.ALLOCATION, FrameworkWork.VIEWS),
    determinism=Determinism.EXACT,
    cannot_reject={"unchanged_input": "a tensor that has the shape of the answer is the only one with elements"},
)
