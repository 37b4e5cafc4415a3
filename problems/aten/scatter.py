"""Scatter along a dim: y[i, index[i, j, k], k] = src[i, j, k] for dim = 1, in a copy of self; or += or *=.

Any rank from 1, any strides.  index is int64, from 0 to the size of the dimension - 1, and no larger than self in any
other dimension nor than src in any; src is a tensor of the dtype of self or a number.  With reduce "add" or "multiply"
repeated positions receive the sum or the product with all their values in any order, and may be rounded after each
step.  Without it, it is unspecified which of several values a repeated position receives, so the positions of those
cases are distinct. Overloads: .src, .value, .reduce and .value_reduce are tested; .out and .dimname compute the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, EXACT, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, torch
from problems.kit.indexing.positions import accumulated, positions, wide_dtype
from problems.kit.movement import any_values, case_values, copied, count

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, index_layout=Layout.CONTIGUOUS, src_layout=Layout.CONTIGUOUS, values="mixed",
    reduce="none", src="tensor",
)  # fmt: skip
_NAME = "{shape}[{index}] dim {dim} {dtype}"
_REDUCED = f"{_NAME} {{reduce}}"
_TIMES = 3

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 65), index=(9, 33), dim=1, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _REDUCED, shape=(6, 21, 8), index=(5, 12, 3), dim=1, dtype=F32, reduce="add"),
    *_over(Tier.FULL, _NAME, shape=(1,), index=(1,), dim=0, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(200,), index=[(0,), (127,), (128,), (129,)], dim=0, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(16, 1025), index=(16, 1023), dim=-1, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(65, 17), index=(33, 13), dim=0, dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(16, 12, 31), index=(16, 12, 31), dim=[0, 1, 2], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(5, 4, 2, 7, 6), index=(4, 3, 2, 5, 3), dim=[1, 3], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} from one", shape=(9, 65), index=(9, 33), dim=1, dtype=FLOATS, src="number"),
    *_over(Tier.FULL, _NAME, shape=(9, 40), index=(7, 20), dim=1, dtype=[DType.FLOAT64, DType.INT64, DType.INT32,
           DType.INT16, DType.INT8, DType.UINT8, DType.BOOL]),
    *_over(Tier.FULL, _REDUCED, shape=(9, 129), index=(9, 129), dim=1, dtype=[F32, F16], reduce=["add", "multiply"]),
    *_over(Tier.FULL, _REDUCED, shape=(65, 17), index=(63, 13), dim=0, dtype=[F32, BF16], reduce=["add", "multiply"]),
    *_over(Tier.FULL, f"{_REDUCED} one", shape=(9, 65), index=(9, 33), dim=1, dtype=F32, src="number",
           reduce=["add", "multiply"]),
    *_over(Tier.FULL, _REDUCED, shape=(9, 40), index=(7, 21), dim=1, dtype=[DType.INT64, DType.INT32], reduce="add"),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), index=(20, 30), dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} index {{index_layout}}", shape=(33, 65), index=(20, 30), dim=1, dtype=F32,
           index_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, f"{_NAME} src {{src_layout}}", shape=(33, 65), index=(20, 30), dim=1, dtype=F32,
           src_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, f"{_NAME} all {{layout}}", shape=(3, 7, 2, 3), index=(2, 5, 1, 3), dim=1, dtype=F16,
           layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR, src_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), index=(7, 20), dim=1, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(512, 128, 32), index=(256, 32, 8), dim=[0, 2], dtype=F32),
    *_over(Tier.BENCH, _NAME, shape=(1024, 4096), index=(1024, 4096), dim=1, dtype=BF16),
    *_over(Tier.BENCH, _REDUCED, shape=(1024, 4096), index=(1024, 3072), dim=1, dtype=F32, reduce="add"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, dim, index, src: one larger than index in dim, or a number; reduce: None, "add", "multiply".

    Every line of the index has distinct positions; with `reduce` each of a third of them occurs three times.
    """
    dim, form, reduce = case.size("dim"), case.shape("index"), case.word("reduce")
    index = _index(case, rng)
    if case.word("src") == "number":
        src: torch.Tensor | float = 3.5
    else:
        larger = list(form)
        larger[dim] += 1
        special = case.word("values") == "special"
        src = any_values(tuple(larger), case.dtype, rng, special=special, layout=case.word("src_layout"))
    x, index = case_values(case, rng), laid_out(index, case.word("index_layout"))
    return x, dim, index, src, None if reduce == "none" else reduce


def _index(case: Case, rng: torch.Generator) -> torch.Tensor:
    """Distinct positions along every line, in random order; each repeated `_TIMES` times if values are reduced."""
    form, dim = case.shape("index"), case.size("dim")
    lines = torch.rand((*_without(form, dim), case.shape("shape")[dim]), generator=rng).argsort(dim=-1)
    picks = form[dim]
    if case.word("reduce") != "none":
        lines = lines[..., : picks // _TIMES].repeat(*(1 for _ in form[1:]), _TIMES)
        lines = lines[..., torch.randperm(lines.shape[-1], generator=rng)]
    return lines[..., :picks].movedim(-1, dim).contiguous()


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    dim %= len(shape)
    return shape[:dim] + shape[dim + 1 :]


def reference(
    x: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor | float, reduce: str | None = None
) -> torch.Tensor:
    """The shape of self: one assignment per position along the dimension, sums and products in double precision."""
    result = (x.to(wide_dtype(x.dtype)) if reduce else x).flatten().clone()
    own = torch.meshgrid(*(torch.arange(size, device=x.device) for size in index.shape), indexing="ij")
    flat = positions(x.shape, [index if axis == dim % x.dim() else places for axis, places in enumerate(own)])
    if isinstance(src, torch.Tensor):
        values = src[tuple(slice(size) for size in index.shape)].to(result.dtype)
    else:
        values = torch.full(index.shape, src, dtype=result.dtype, device=x.device)
    for places, value in zip(flat.unbind(dim), values.unbind(dim), strict=True):
        match reduce:
            case "add":
                result[places] += value
            case "multiply":
                result[places] *= value
            case _:
                result[places] = value
    return result.view(x.shape).to(x.dtype)


def eager(
    x: torch.Tensor, dim: int, index: torch.Tensor, src: torch.Tensor | float, reduce: str | None = None
) -> torch.Tensor:
    """PyTorch's operator."""
    if reduce is None:
        return torch.scatter(x, dim, index, src)
    return torch.scatter(x, dim, index, src, reduce=reduce)


def tolerance(case: Case) -> Tolerance:
    """A copy, or sums and products of four values in any order."""
    return EXACT if case.word("reduce") == "none" else accumulated(case.dtype, terms=_TIMES + 1)


def cost(case: Case) -> Cost:
    """All of self is copied; index and the selected elements of src are read."""
    elements, picked = count(case.shape("shape")), count(case.shape("index"))
    values = picked if case.word("src") == "tensor" else 0
    index_bytes = picked * DType.INT64.bytes
    moved = copied(case, read=elements + values, written=elements, index_bytes=index_bytes)
    flops = 0 if case.word("reduce") == "none" else picked
    return Cost(flops=flops, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::scatter",
    entry="scatter",
    signature=(
        "scatter(self: Tensor, dim: int, index: Tensor, src: Tensor | float, reduce: str | None = None) -> Tensor"
    ),
    summary="Scatter src along a dim: overwrite, add or multiply",
    category=Category.INDEXING,
    second_oracle="PyTorch's scatter, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
