"""Rows of a matrix by a map: out[i, j] = input_tensor[dst2src_map[i], j].

Elements of 16 bits in any strides; the map is int32, of any stride, may contain a row several times or never, and has
any number of entries.  A copy: NaN, infinities, -0.0 and subnormal values are copied unchanged.  The result is a new
contiguous matrix.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, Arguments, Layout, cases_over, integers, mixed, scattered, torch
from problems.kit.inference.arguments import arranged, exact

_over = partial(cases_over, values="mixed", layout=Layout.CONTIGUOUS)

CASES = (
    *_over(Tier.SMOKE, "{rows}x{cols} to {out} {dtype}", rows=7, cols=65, out=7, dtype=[F16, BF16]),
    *_over(Tier.SMOKE, "{rows}x{cols} to {out} {dtype}", rows=5, cols=40, out=11, dtype=F16),
    *_over(Tier.FULL, "{rows}x{cols} to {out} {dtype}", rows=1, cols=[1, 32], out=[0, 1, 5], dtype=F16),
    *_over(Tier.FULL, "{rows}x{cols} to {out} {dtype}", rows=9, cols=[127, 128, 129], out=18, dtype=BF16),
    *_over(Tier.FULL, "{rows}x{cols} to {out} {dtype}", rows=71, cols=129, out=[3, 142], dtype=[F16, BF16]),
    *_over(Tier.FULL, "{rows}x{cols} to {out} {dtype}", rows=3, cols=4099, out=5, dtype=F16),
    *_over(Tier.FULL, "{rows}x{cols} to {out} {dtype} {layout}", rows=9, cols=33, out=13, dtype=[F16, BF16],
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{rows}x{cols} to {out} {dtype} {values}", rows=9, cols=33, out=19, dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, "{rows}x{cols} to {out} {dtype}", rows=1024, cols=4096, out=[1024, 2048], dtype=[F16, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input_tensor: (S, C), dst2src_map: (D,); "special" rows hold NaN, infinities and extremes."""
    rows = case.size("rows")
    matrix = mixed((rows, case.size("cols")), case.dtype, rng)
    if case.word("values") == "special":
        matrix = scattered(matrix, rng, each=4)
    return arranged(case, matrix, integers((case.size("out"),), DType.INT32, rng, low=0, high=rows))


def reference(input_tensor: torch.Tensor, dst2src_map: torch.Tensor) -> torch.Tensor:
    """(S, C), (D,) -> (D, C), row by row."""
    out = input_tensor.new_empty((len(dst2src_map), input_tensor.shape[1]))
    for row, source in enumerate(dst2src_map.tolist()):
        out[row] = input_tensor[source]
    return out


def eager(input_tensor: torch.Tensor, dst2src_map: torch.Tensor) -> torch.Tensor:
    """Indexing of the rows."""
    return input_tensor[dst2src_map.long()].contiguous()


def cost(case: Case) -> Cost:
    """No arithmetic; a row that is used several times is read once."""
    rows, cols, out = case.size("rows"), case.size("cols"), case.size("out")
    row_bytes = cols * case.dtype.bytes
    return Cost(flops=0, bytes_read=min(rows, out) * row_bytes + 4 * out, bytes_written=out * row_bytes)


PROBLEM = ProblemDefinition(
    name="vllm::shuffle_rows",
    entry="shuffle_rows",
    signature="shuffle_rows(input_tensor: Tensor, dst2src_map: Tensor) -> Tensor",
    summary="out[i] = input[map[i]] (shuffle and expand)",
    category=Category.PERMUTE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
