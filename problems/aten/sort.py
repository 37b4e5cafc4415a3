"""Sort: values[r] = self[indices[r]] along one dimension, in ascending or descending order.

Any rank, any strides; a scalar is already sorted.  NaN counts as the largest value, -0.0 and 0.0 as equal, and so in
descending order NaN comes first.  With stable=True equal elements keep their order, in descending order too. Without it
their order is unspecified, so the elements of those cases are distinct, and a stable kernel is also right. Indices are
int64.  Overloads: sort and .stable are tested; .values and .dimname compute the same, those for lists are
TorchScript's.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    cases_over,
    integers,
    laid_out,
    near_limit,
    torch,
    torch_dtype,
)
from problems.kit.movement import any_values, copied, count, exact

_over = partial(cases_over, dim=-1, descending=False, stable=True, layout=Layout.CONTIGUOUS, values="ties")
_NAME = "{shape} dim {dim} {dtype} descending {descending}"
_BOTH = [False, True]
_TIES = 16  # bound of the values for integers and ties

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(5, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 33, 3), dim=1, descending=True, dtype=F32, values="special"),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (31, 1), (0, 5), (5, 0)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(9, 127), (9, 128), (9, 129)], dtype=F32, descending=_BOTH),
    *_over(Tier.FULL, _NAME, shape=(4, 1025), dtype=FLOATS, descending=_BOTH),
    *_over(Tier.FULL, _NAME, shape=(1, 4099), dtype=F32, descending=_BOTH),
    *_over(Tier.FULL, _NAME, shape=(31, 17), dim=[0, -2], dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 6), dim=[0, 2, 4], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} unstable", shape=(7, 300), dtype=FLOATS, descending=_BOTH, stable=False,
           values="distinct"),
    *_over(Tier.FULL, f"{_NAME} unstable", shape=(300, 7), dim=0, dtype=[F32, DType.INT32], stable=False,
           values="distinct"),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(9, 140), dtype=DType.FLOAT64, values="whole range"),
    *_over(Tier.FULL, _NAME, shape=(9, 140), dtype=[DType.FLOAT64, DType.INT64, DType.INT32, DType.INT16, DType.INT8,
           DType.UINT8, DType.BOOL], descending=_BOTH),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(9, 140), dtype=[DType.INT64, DType.INT32, DType.UINT8],
           values="whole range", descending=_BOTH),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(9, 140), dtype=[DType.INT64, DType.INT32],
           values="near the limit", descending=_BOTH),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 20, 3), dim=2, dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(8, 130), dtype=FLOATS, values="special", descending=_BOTH),
    *_over(Tier.BENCH, _NAME, shape=(8, 65536), dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, shape=(1024, 2048), dtype=F32, descending=True),
    *_over(Tier.BENCH, _NAME, shape=(65536, 8), dim=0, dtype=DType.INT32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, dim, descending, stable.

    "ties" repeat values, "distinct" ones differ along every line, "special" has NaN, infinities and both zeros, "near
    the limit" is `near_limit`.
    """
    return (
        laid_out(_sortable(case, rng), case.word("layout")),
        case.size("dim"),
        case.claim("descending"),
        case.claim("stable"),
    )


def _sortable(case: Case, rng: torch.Generator) -> torch.Tensor:
    shape, words = case.shape("shape"), case.word("values")
    if words == "distinct":
        dim = case.size("dim")
        order = torch.rand(shape, generator=rng).argsort(dim=dim) - shape[dim] // 2
        return order.to(torch_dtype(case.dtype))  # integers up to a few hundred: bfloat16 represents 256 of either sign
    if words == "ties":
        low = -_TIES if case.dtype not in (DType.UINT8, DType.BOOL) else 0
        return integers(shape, case.dtype, rng, low=low, high=2 if case.dtype is DType.BOOL else _TIES)
    x = any_values(shape, case.dtype, rng, special=words == "special")
    if words == "near the limit":
        return near_limit(x)
    if words == "special":
        x = torch.where(torch.rand(shape, generator=rng) < 1 / 8, torch.zeros((), dtype=x.dtype), x)
    return x


def reference(
    x: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and int64 indices, by sorting integers that are ordered like the elements."""
    if x.dim() == 0:
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    keys = _ranked(x)
    # Every key is made distinct by its position, so that any sort is stable.
    lines = (~keys if descending else keys).movedim(dim, -1)
    order = torch.unique(lines, return_inverse=True)[1] * lines.shape[-1] + torch.arange(
        lines.shape[-1], device=x.device
    )
    indices = order.argsort(dim=-1).movedim(-1, dim).contiguous()
    own = torch.meshgrid(*(torch.arange(size, device=x.device) for size in x.shape), indexing="ij")
    axis = dim % x.dim()
    return x[tuple(indices if i == axis else places for i, places in enumerate(own))], indices


def _ranked(x: torch.Tensor) -> torch.Tensor:
    """int64 values ordered like the elements: bits of floats, mirrored for negative numbers, with NaN last."""
    if not x.is_floating_point():
        return x.long()
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    counted = x.contiguous().view(bits).long()
    mirrored = torch.where(counted < 0, torch.iinfo(bits).min - counted, counted)
    return torch.where(x.isnan(), torch.iinfo(torch.int64).max, mirrored)


def eager(
    x: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's operator."""
    values, indices = torch.sort(x, dim=dim, descending=descending, stable=stable)
    return values, indices


def cost(case: Case) -> Cost:
    """Every element is read once; a value and an int64 index are written for each; comparisons are not counted."""
    elements = count(case.shape("shape"))
    moved = copied(case, read=elements, written=elements)
    return Cost(flops=0, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written + elements * DType.INT64.bytes)


PROBLEM = ProblemDefinition(
    name="aten::sort",
    entry="sort",
    signature=(
        "sort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]"
    ),
    summary="Sort along a dim, values and indices, stable on request",
    category=Category.SORT,
    second_oracle="Python's sorted, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=2,
)
