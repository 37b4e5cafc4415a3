"""Weight blocks of GGML as bytes: 32 values with one scale, and in some formats an offset.

A block is a float16 scale d, in some formats a float16 offset m, in some 4 bytes with the fifth bits of the 32 values,
and the codes: 16 bytes with value i in the lower half of byte i and value i + 16 in its upper half, or 32 signed bytes.
Little endian.  The value is d * (code - middle) + m (ggml, ggml-quants.h: block_q4_0 and so on).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.model import Case, Cost, DType, Tolerance
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.inference.arguments import arranged
from problems.kit.inference.packing import product_tolerance
from problems.kit.tolerances import of_few
from problems.kit.values import normal, torch_dtype

BLOCK = 32
NEAR_STEPS = "near steps"
_END = 508.0  # 127 steps of 4, exact in every dtype
_LEVELS, _USUAL_LEVEL = 127, 40.0
_OFFSET = 1 / 8


@dataclass(frozen=True, kw_only=True)
class Format:
    """One block format, identified by its number; `middle` is the code of 0 in formats without offset."""

    name: str
    bits: int
    middle: int
    has_offset: bool

    @property
    def block_bytes(self) -> int:
        """The size of a block of 32 values."""
        return 2 + 2 * self.has_offset + BLOCK * self.bits // 8


FORMATS = {
    2: Format(name="q4_0", bits=4, middle=8, has_offset=False),
    3: Format(name="q4_1", bits=4, middle=0, has_offset=True),
    6: Format(name="q5_0", bits=5, middle=16, has_offset=False),
    7: Format(name="q5_1", bits=5, middle=0, has_offset=True),
    8: Format(name="q8_0", bits=8, middle=0, has_offset=False),
}


def row_bytes(quant_type: int, columns: int) -> int:
    """Bytes of one row of `columns` values, a multiple of 32."""
    return columns // BLOCK * FORMATS[quant_type].block_bytes


def decoded(weights: torch.Tensor, quant_type: int, dtype: torch.dtype) -> torch.Tensor:
    """(..., row bytes), uint8 -> (..., columns) values in `dtype`."""
    form = FORMATS[quant_type]
    blocks = weights.reshape(*weights.shape[:-1], weights.shape[-1] // form.block_bytes, form.block_bytes)
    scale = _half(blocks, 0).to(dtype)
    start = 4 if form.has_offset else 2
    values = scale * (_codes(blocks[..., start:], form.bits) - form.middle).to(dtype)
    if form.has_offset:
        values = values + _half(blocks, 2).to(dtype)
    return values.flatten(-2)


def drawn(shape: tuple[int, ...], quant_type: int, rng: torch.Generator) -> torch.Tensor:
    """(..., row bytes), uint8, for (..., columns) = `shape`: scales from 0.5 to 1 of either sign, small offsets."""
    form = FORMATS[quant_type]
    blocks = (*shape[:-1], shape[-1] // BLOCK)
    codes = torch.randint(0, 256, (*blocks, form.block_bytes), generator=rng, dtype=torch.uint8)
    scales = (0.5 + torch.rand(blocks, generator=rng) / 2) * (1 - 2 * torch.randint(0, 2, blocks, generator=rng))
    headers = [scales, torch.randn(blocks, generator=rng)] if form.has_offset else [scales]
    header = torch.stack(headers, dim=-1).half().view(torch.uint8)
    codes[..., : header.shape[-1]] = header
    return codes.flatten(-2)


def activations(case: Case, shape: tuple[int, int], rng: torch.Generator) -> torch.Tensor:
    """(rows, K) in the dtype of the case, by its parameter `values`.

    "normal" values are between the levels of 8 bits, so that kernels with and without quantised activations differ.
    Other values are multiples of their block's step, whose largest has 127 of them: 8 bits hold these, and every
    correct kernel multiplies the same numbers.  "near steps" are up to an eighth of a step beside them, the largest
    excepted.  Steps are powers of two, near steps also three times one, so that 16 bits hold them, their multiples and
    the sum of a block of multiples.
    """
    if case.word("values") == "normal":
        return normal(shape, case.dtype, rng)
    blocks = (shape[0], shape[1] // BLOCK)
    levels = (torch.randn((*blocks, BLOCK), generator=rng) * _USUAL_LEVEL).round().clamp(1 - _LEVELS, _LEVELS - 1)
    if case.word("values") == NEAR_STEPS:
        levels += (torch.rand(levels.shape, generator=rng) * 2 - 1) * _OFFSET
    largest = _LEVELS * (1 - 2.0 * torch.randint(0, 2, (*blocks, 1), generator=rng))
    levels.scatter_(-1, torch.randint(0, BLOCK, (*blocks, 1), generator=rng), largest)
    halves = torch.randint(2, 4 if case.word("values") == NEAR_STEPS else 3, (*blocks, 1), generator=rng)
    steps = halves / 2.0 ** torch.randint(6, 8, (*blocks, 1), generator=rng)
    return (levels * steps).flatten(-2).to(torch_dtype(case.dtype))


def with_detour(weights: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(..., row bytes) of type 2 and (batch, K) whose first and last blocks cancel in every product.

    In between partial sums are so large that half a unit of float16 or bfloat16 exceeds the tolerance: a kernel that
    rounds partial sums to such a dtype between blocks of K is wrong.  Whole blocks have one value, which 8 bits hold.
    """
    size = FORMATS[2].block_bytes
    blocks = weights.reshape(*weights.shape[:-1], -1, size).clone()
    blocks[..., 0, 2:] |= 0x88  # codes of the middle and above, so that weights of a block have one sign
    blocks[..., -1, :] = blocks[..., 0, :]
    x = x.clone()
    x[:, :BLOCK], x[:, -BLOCK:] = _END, -_END
    return blocks.flatten(-2), x


def quantised_activations(x: torch.Tensor) -> torch.Tensor:
    """`x` rounded, in groups of 32 neighbours, to 255 levels between plus and minus their largest magnitude."""
    blocks = x.float().reshape(*x.shape[:-1], x.shape[-1] // BLOCK, BLOCK)
    step = blocks.abs().amax(-1, keepdim=True) / 127
    levels = (blocks / step.clamp(min=torch.finfo(torch.float32).tiny)).round()
    return (levels * step).flatten(-2)


def activation_tolerance(case: Case, *, outputs: int) -> Tolerance:
    """Tolerance of products whose activations are quantised to 8 bits, for the values of `activations`.

    Multiples of a step lose nothing.  What remains is the rounding of a weight, or of the step and the sum of a block
    of activations, to 16 bits, as in other products with packed weights.

    Near steps, errors are uniform within an eighth of a step: their root mean square is 0.072 steps, where a typical
    activation has 45, and, as errors are independent, 0.16 % of a typical output.  The largest of 10,000 is four times
    that, and three times the largest is allowed.

    A step of normal values is 1/127 of the largest of 32, up to three times a typical one.  Errors are uniform within
    half a step: 3 / 127 / sqrt(12) = 0.7 % of a typical output.  Seven times that is allowed.

    If there are few outputs, their scale is that of a sum of K products of activations (mean square 1) and weights:
    codes uniform over 2 ** bits values (mean square (4 ** bits) / 12) times scales from 0.5 to 1 (7 / 12).
    """
    usual = product_tolerance(DType.BFLOAT16 if case.dtype is DType.BFLOAT16 else DType.FLOAT16, case.size("k"))
    if case.word("values") == NEAR_STEPS:
        usual = replace(usual, absolute=usual.absolute + 12 * 0.0016)
    if case.word("values") == "normal":
        usual = Tolerance(relative=0.01, absolute=0.049)
    codes = 2.0 ** FORMATS[case.size("type")].bits
    return of_few(usual, outputs=outputs, scale=codes * math.sqrt(7 * case.size("k")) / 12)


CANNOT_REJECT: Mapping[str, str] = {
    "bfloat16_arithmetic": "activations are quantised to 8 bits, which is coarser",
    "tensorfloat32_arithmetic": "activations are quantised to 8 bits, which is coarser",
    "nan_dropped": "activations that are not finite have no quantised form",
    "infinities_clamped": "activations that are not finite have no quantised form",
}
"""Reasons in `cannot_reject` for products with quantised activations."""


def product_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """W: (row, bytes of K values), X: (batch, K), quant_type, row; "detour" is `with_detour`."""
    row, k, kind = case.size("row"), case.size("k"), case.size("type")
    w, x = drawn((row, k), kind, rng), activations(case, (case.size("batch"), k), rng)
    if case.word("values") == "detour":
        w, x = with_detour(w, x)
    return *arranged(case, w, x), kind, row


def product_reference(w: torch.Tensor, x: torch.Tensor, quant_type: int, row: int) -> torch.Tensor:
    """(batch, K) -> (batch, row) in float64."""
    return (x.double() @ decoded(w, quant_type, torch.float64).T).to(x.dtype)


def product_eager(w: torch.Tensor, x: torch.Tensor, quant_type: int, row: int) -> torch.Tensor:
    """Activations quantised as in kernels, then a product in float32."""
    return (quantised_activations(x) @ decoded(w, quant_type, torch.float32).T).to(x.dtype)


def ggml_tolerance(case: Case) -> Tolerance:
    """A product of activations that 8 bits hold; a weight, or the step and sum of a block, may be rounded to 16 bits.

    Near steps, up to an eighth of one beside them, rounding to 8 bits has a root mean square of 0.16 % of a typical
    output: three times the largest of 10,000 is allowed, twelve times that.  Normal activations lose up to half a step,
    0.7 % of a typical output, and seven times that is allowed.
    """
    return activation_tolerance(case, outputs=case.size("batch") * case.size("row"))


def product_cost(case: Case) -> Cost:
    """One multiply-add for each weight and row; every byte is read once."""
    batch, k, row = case.size("batch"), case.size("k"), case.size("row")
    return Cost(
        flops=2 * batch * k * row,
        bytes_read=row * row_bytes(case.size("type"), k) + batch * k * case.dtype.bytes,
        bytes_written=batch * row * case.dtype.bytes,
    )


def _half(blocks: torch.Tensor, start: int) -> torch.Tensor:
    """(..., 1): the float16 at a byte offset of every block."""
    return blocks[..., start : start + 2].contiguous().view(torch.float16)


def _codes(data: torch.Tensor, bits: int) -> torch.Tensor:
    """(..., bytes of the codes) -> (..., 32) integers, int64."""
    if bits == 8:
        return data.contiguous().view(torch.int8).long()
    nibbles = data[..., -16:].long()
    codes = torch.cat((nibbles & 0xF, nibbles >> 4), dim=-1)
    if bits == 5:
        shifts = torch.arange(8, device=data.device)
        codes = codes | (data[..., :4].long().unsqueeze(-1) >> shifts & 1).flatten(-2) << 4
    return codes
