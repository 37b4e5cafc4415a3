"""Sliding blocks as columns: y[n, (c * KH + i) * KW + j, h * LW + w] = self[n, c, h*SH + i*DH - PH, w*SW + j*DW - PW].

LH = (H + 2 PH - DH (KH - 1) - 1) // SH + 1 blocks in a column, LW likewise in a row; pixels outside of the image are 0.
self is (C, H, W) or (N, C, H, W) with any strides; the result is (C KH KW, LH LW), with N in front where self has it. A
copy: NaN and infinities are copied unchanged.  Overloads: im2col is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.movement import case_values, copied, count, exact

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, values="mixed", kernel=(3, 3), dilation=(1, 1), padding=(1, 1), stride=(1, 1)
)
_NAME = "{shape} kernel {kernel} dilation {dilation} padding {padding} stride {stride} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(3, 8, 8), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(2, 2, 9, 7), kernel=(3, 2), dilation=(2, 1), padding=(2, 0), stride=(2, 3),
           dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(1, 1, 1), (1, 1, 1, 1)], kernel=(1, 1), padding=(0, 0), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(0, 3, 8, 8), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(3, 8, 9), kernel=[(1, 1), (3, 3), (5, 4), (8, 9)], padding=[(0, 0), (2, 1)],
           dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(3, 13, 11), stride=[(2, 2), (1, 3), (5, 7)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(3, 13, 11), dilation=[(2, 2), (1, 3), (4, 1)], padding=(0, 2), dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(2, 4, 16, 16), kernel=(5, 4), dilation=(2, 2), padding=(2, 1), stride=(1, 2),
           dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=[(1, 5, 127), (1, 5, 128), (1, 5, 129)], kernel=(2, 3), dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 9, 13), stride=(2, 1), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(2, 3, 7, 9), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, _NAME, shape=(3, 13, 11), stride=(2, 2), dtype=DType.FLOAT64),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(3, 9, 13), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(32, 128, 128), dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, shape=(16, 64, 56, 56), stride=(2, 2), dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(8, 3, 224, 224), kernel=(16, 16), padding=(0, 0), stride=(16, 16), dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, kernel_size, dilation, padding, stride."""
    kernel, dilation, padding, stride = (case.shape(key) for key in ("kernel", "dilation", "padding", "stride"))
    return case_values(case, rng), list(kernel), list(dilation), list(padding), list(stride)


def reference(
    x: torch.Tensor, kernel_size: list[int], dilation: list[int], padding: list[int], stride: list[int]
) -> torch.Tensor:
    """(C KH KW, LH LW), with N in front where self has it: rows and columns of the image that each block reads."""
    rows, columns = (
        _read(x.shape[axis - 2], kernel_size[axis], dilation[axis], padding[axis], stride[axis], x.device)
        for axis in (0, 1)
    )
    inside = ((rows >= 0) & (rows < x.shape[-2]))[:, None, :, None] & ((columns >= 0) & (columns < x.shape[-1]))[
        :, None
    ]
    blocks = x[..., rows.clamp(0, x.shape[-2] - 1)[:, None, :, None], columns.clamp(0, x.shape[-1] - 1)[:, None]]
    blocks = torch.where(inside, blocks, torch.zeros((), dtype=x.dtype, device=x.device))
    batch = x.shape[:-3]
    return blocks.reshape(*batch, x.shape[-3] * count(kernel_size), rows.shape[1] * columns.shape[1])


def _read(size: int, kernel: int, dilation: int, padding: int, stride: int, device: torch.device) -> torch.Tensor:
    """The coordinate along one axis that each tap of each block reads: (taps, blocks)."""
    taps = torch.arange(kernel, device=device) * dilation - padding
    blocks = torch.arange(_blocks(size, kernel, dilation, padding, stride), device=device) * stride
    return taps[:, None] + blocks


def _blocks(size: int, kernel: int, dilation: int, padding: int, stride: int) -> int:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def eager(
    x: torch.Tensor, kernel_size: list[int], dilation: list[int], padding: list[int], stride: list[int]
) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.im2col.default(x, kernel_size, dilation, padding, stride)
    return result


def cost(case: Case) -> Cost:
    """At most all pixels are read; every element of the columns is written once."""
    *outer, height, width = case.shape("shape")
    options = [case.shape(key) for key in ("kernel", "dilation", "padding", "stride")]
    blocks = count(_blocks(size, *(option[axis] for option in options)) for axis, size in enumerate((height, width)))
    written = count(outer) * count(case.shape("kernel")) * blocks
    return copied(case, read=min(count(case.shape("shape")), written), written=written)


PROBLEM = ProblemDefinition(
    name="aten::im2col",
    entry="im2col",
    signature=(
        "im2col(self: Tensor, kernel_size: list[int], dilation: list[int], padding: list[int], stride: list[int]) "
        "-> Tensor"
    ),
    summary="Unfold sliding blocks of an image into columns",
    category=Category.VISION,
    second_oracle="PyTorch's im2col, in every smoke and full case",
    rearranges=True,
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
