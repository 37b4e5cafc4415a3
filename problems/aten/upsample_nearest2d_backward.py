"""Gradient of nearest 2-D up-sampling: y[n, c, h, w] = sum of grad_output[n, c, i, j] with s(i) = h and s(j) = w.

s(i) = min(floor(i * scale), size - 1) per dimension, where scale is 1 / scales_h if that is given and input size /
output size if not, both computed in float32 as in PyTorch; in the cases float32 and exact arithmetic give the same
pixel.  grad_output is (N, C, OH, OW) with any strides, input_size [N, C, H, W]; the output may be smaller than the
input too, and pixels that no gradient is mapped to get 0.  Sums are carried in float32 or better and rounded once; NaN
and infinities follow IEEE arithmetic.  float64 is outside of the contract.  Overloads: upsample_nearest2d_backward is
tested; .grad_input computes the same.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, Special, cases_over, laid_out, torch
from problems.kit.indexing.positions import wide_dtype
from problems.kit.movement import any_values, copied, count
from problems.kit.tolerances import of_few, rounded
from problems.kit.values import MIXED_RMS, scattered

_over = partial(cases_over, layout=Layout.CONTIGUOUS, scales="none", values="mixed")
_NAME = "{sizes} from {out} {dtype}"
_NONFINITE = (Special.NAN, Special.INF, Special.NEGATIVE_INF)
_DETOUR, _QUARTER = 16.0, 10  # half of the 20 gradients of a pixel along one dimension

CASES = (
    *_over(Tier.SMOKE, _NAME, sizes=(2, 3, 4, 5), out=(8, 10), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_NAME} scales {{scales}}", sizes=(1, 2, 5, 7), out=(12, 17), dtype=F32, scales="2.5 2.5"),
    *_over(Tier.FULL, _NAME, sizes=(1, 1, 1, 1), out=[(1, 1), (3, 5)], dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(2, 3, 4, 5), out=[(4, 5), (8, 5), (4, 15), (9, 11)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, sizes=(2, 3, 8, 10), out=[(4, 5), (3, 7)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, sizes=(0, 3, 4, 5), out=(8, 10), dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(1, 2, 16, 43), out=[(32, 127), (32, 128), (32, 129)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} scales {{scales}}", sizes=(2, 3, 4, 5), out=(8, 10), dtype=[F32, BF16],
           scales=["2 2", "2 none", "none 2"]),
    *_over(Tier.FULL, f"{_NAME} scales {{scales}}", sizes=(2, 3, 4, 5), out=(7, 12), dtype=F32, scales="1.75 2.5"),
    *_over(Tier.FULL, f"{_NAME} scales {{scales}}", sizes=(2, 3, 4, 5), out=(9, 11), dtype=F32, scales="4 1.6"),
    *_over(Tier.FULL, _NAME, sizes=(1, 2, 2, 3), out=(40, 60), dtype=FLOATS),
    *_over(Tier.FULL, f"{_NAME} {{values}}", sizes=(1, 2, 2, 3), out=(40, 60), dtype=[F16, BF16], values="detour"),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", sizes=(2, 3, 8, 7), out=(16, 21), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", sizes=(2, 3, 8, 7), out=(16, 21), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", sizes=(2, 3, 8, 7), out=(16, 21), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, sizes=(1, 32, 64, 128), out=(128, 256), dtype=F32),
    *_over(Tier.BENCH, _NAME, sizes=(16, 64, 128, 128), out=(256, 256), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output: (N, C, OH, OW), output_size, input_size, scales_h, scales_w.

    "special" gradients hold NaN and infinities; a sum of finite ones does not overflow.  In a "detour" one quarter of
    the gradients of each pixel cancels the opposite quarter: partial sums rounded to 16 bits give a wrong result.
    """
    sizes, out = case.shape("sizes"), case.shape("out")
    grad = any_values((*sizes[:2], *out), case.dtype, rng)
    if case.word("values") == "special":
        grad = scattered(grad, rng, values=_NONFINITE, each=grad.numel() // 60)
    if case.word("values") == "detour":
        for height, width in product(
            *(range(0, size, size // count) for size, count in zip(out, sizes[2:], strict=True))
        ):
            grad[..., height : height + _QUARTER, width : width + _QUARTER] = _DETOUR
            grad[..., height + _QUARTER : height + 2 * _QUARTER, width + _QUARTER : width + 2 * _QUARTER] = -_DETOUR
    scales = [None, None] if case.word("scales") == "none" else list(map(_scale, case.word("scales").split()))
    return laid_out(grad, case.word("layout")), list(out), list(sizes), *scales


def _scale(word: str) -> float | None:
    return None if word == "none" else float(word)


def reference(
    grad_output: torch.Tensor,
    output_size: list[int],
    input_size: list[int],
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """(N, C, H, W), summed in float64 along one dimension after the other."""
    wide = grad_output.to(wide_dtype(grad_output.dtype))
    for dim, given in ((2, scales_h), (3, scales_w)):
        size, out = input_size[dim], grad_output.shape[dim]
        scale = torch.tensor(1 / given if given else size / out, dtype=torch.float32, device=grad_output.device)
        place = (torch.arange(out, device=grad_output.device) * scale).floor().long().clamp(max=size - 1)
        shape = list(wide.shape)
        shape[dim] = size
        wide = torch.zeros(shape, dtype=wide.dtype, device=wide.device).index_add(dim, place, wide)
    return wide.to(grad_output.dtype)


def eager(
    grad_output: torch.Tensor,
    output_size: list[int],
    input_size: list[int],
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.upsample_nearest2d_backward.default(
        grad_output, output_size, input_size, scales_h, scales_w
    )
    return result


def tolerance(case: Case) -> Tolerance:
    """Sums over the gradients of one pixel."""
    (height, width), sizes = case.shape("out"), case.shape("sizes")
    terms = math.ceil(height / sizes[2]) * math.ceil(width / sizes[3])
    sums = rounded(case.dtype, terms=terms)
    # The sums of all outputs have equally many terms only if the sizes are multiples of each other.
    least = (height // sizes[2]) * (width // sizes[3])
    return of_few(sums, outputs=count(sizes), scale=MIXED_RMS * math.sqrt(least))


def cost(case: Case) -> Cost:
    """One addition for each gradient."""
    read = count((*case.shape("sizes")[:2], *case.shape("out")))
    moved = copied(case, read=read, written=count(case.shape("sizes")))
    return Cost(flops=read, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::upsample_nearest2d_backward",
    entry="upsample_nearest2d_backward",
    signature=(
        "upsample_nearest2d_backward(grad_output: Tensor, output_size: list[int], input_size: list[int], "
        "scales_h: float | None = None, scales_w: float | None = None) -> Tensor"
    ),
    summary="Gradient of nearest 2-D up-sampling",
    category=Category.BACKWARD,
    second_oracle="PyTorch's upsample_nearest2d_backward, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={"unchanged_input": "where input and output have one size the gradient is the answer"},
)
