"""A view by strides: y[i, j] = storage[storage_offset + i * stride[0] + j * stride[1]], for any number of dimensions.

storage is the memory of self, counted in elements; without storage_offset the answer begins where self begins.  Strides
are not negative and may overlap or be 0; no case reaches beyond the memory between the first and the last element of
self.  An offset is given only if self begins at the start of its storage.  Any rank, any dtype.  The answer may share
memory with self.  Overload: as_strided is the only one.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import VIEW, over, steps, written_out

_over = partial(over, offset="none")
_NAME = "{shape} as {size} stride {stride} {dtype}"
_AT = f"{_NAME} offset {{offset}}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(8, 33), size=(33, 8), stride=(1, 33), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _AT, shape=(6, 10), size=(4, 5), stride=(10, 2), offset="11", dtype=F32),
    *_over(Tier.FULL, _AT, shape=(7,), size=(), stride=(), offset=["0", "6"], dtype=F32),
    *_over(Tier.FULL, _AT, shape=(400,), size=[(127,), (128,), (129,)], stride=[(1,), (2,), (0,)],
           offset=["none", "31"], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(8, 16), size=(8, 8), stride=[(16, 1), (1, 8), (8, 1), (0, 1), (1, 0), (3, 3)],
           dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(8, 16), size=[(0, 3), (16, 8), (1, 1)], stride=(1, 1), dtype=F32),
    *_over(Tier.FULL, _AT, shape=(4, 5, 6), size=(2, 3, 2, 1, 2), stride=(30, 6, 2, 5, 1), offset=["none", "20"],
           dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(3, 2, 4, 3), (3, 2, 2, 2, 3)], size=(6, 4), stride=(4, 1), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 40), size=(40, 9), stride=(1, 40), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} of {{layout}}", shape=(12, 20), size=(7, 9), stride=(3, 2), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.IRREGULAR]),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), size=(33, 7), stride=(1, 33), dtype=[F16, F32],
           values="special"),
    *_over(Tier.FULL, _NAME, shape=(33, 65), size=(65, 33), stride=(1, 65), dtype=FLOATS),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), size=(4096, 4096), stride=(1, 4096), dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), size=(2048, 2048), stride=(8192, 2), dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, size, stride, storage_offset or None."""
    offset = None if case.word("offset") == "none" else int(case.word("offset"))
    return case_values(case, rng), list(case.shape("size")), list(case.shape("stride")), offset


def reference(x: torch.Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> torch.Tensor:
    """The shape `size`, by positions in all of the storage."""
    whole = torch.empty(0, dtype=x.dtype, device=x.device).set_(x.untyped_storage())
    start = x.storage_offset() if storage_offset is None else storage_offset
    flat = torch.full((1,) * len(size), int(start), device=x.device)
    for axis, step in enumerate(stride):
        flat = flat + steps(size, axis, x.device) * step
    return torch.take(whole, flat)


def eager(x: torch.Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.as_strided(x, size, stride, storage_offset)


def cost(case: Case) -> Cost:
    """Cost of copying all elements; overlapping elements are read once."""
    size, stride = case.shape("size"), case.shape("stride")
    distinct = count(length for length, step in zip(size, stride, strict=True) if step)
    return written_out(case, read=min(distinct, count(case.shape("shape"))), written=count(size))


PROBLEM = ProblemDefinition(
    name="aten::as_strided",
    entry="as_strided",
    signature=(
        "as_strided(self: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> Tensor"
    ),
    summary="View over the same storage with given size, stride and offset",
    category=Category.VIEW,
    second_oracle="PyTorch's as_strided, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=VIEW,
    determinism=Determinism.EXACT,
)
