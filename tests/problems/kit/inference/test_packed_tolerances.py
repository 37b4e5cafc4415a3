"""Tolerances of products with packed weights: correct kernels of every kind pass, wrong roundings do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from engine.model import Case
from problems.kit.inference.ggml import FORMATS, decoded, quantised_activations
from problems.kit.inference.packing import EVEN_BEFORE_ODD, rows_by_group, unpack
from problems.rules.trial import Trial, allowed
from tests.operators import definition, described

Product = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
"""One row of activations (K,), weights as bytes (row, bytes), quant_type -> (row,)."""
Sum = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""(M, K), (K, N) in float32 or float16 -> (M, N) in float32."""

DRAWS = range(11, 14)
GGML = ("ggml_mul_mat_a8", "ggml_mul_mat_vec_a8", "ggml_moe_a8", "ggml_moe_a8_vec")
PACKED = ("awq_gemm", "gptq_gemm")


def blocks_of(x: torch.Tensor) -> torch.Tensor:
    """(K,) -> (K / 32, 32)."""
    return x.float().unflatten(-1, (-1, 32))


def step_of(x: torch.Tensor) -> torch.Tensor:
    """(K,) -> (K / 32, 1): 1/127 of the largest of each block."""
    return blocks_of(x).abs().amax(-1, keepdim=True) / 127


def unquantised_from_the_end(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    return (x.float() * decoded(w, kind, torch.float32)).flip(-1).cumsum(-1)[..., -1]


def quantised_block_by_block(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    terms = quantised_activations(x[None])[0] * decoded(w, kind, torch.float32)
    return terms.unflatten(-1, (-1, 32)).sum(-1).cumsum(-1)[..., -1]


def weights_in_16_bits(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    dtype = x.dtype if x.dtype != torch.float32 else torch.float16
    return decoded(w, kind, torch.float32).to(dtype).float() @ x.float()


def whole_numbers_with_halves(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    """Products of whole numbers, then the scales; the step and the sum of a block are kept in float16."""
    form, blocks, step = FORMATS[kind], blocks_of(x), step_of(x)
    stored = w.unflatten(-1, (-1, form.block_bytes))
    scale = stored[..., :2].contiguous().view(torch.float16).float()[..., 0]
    offset = stored[..., 2:4].contiguous().view(torch.float16).float()[..., 0] if form.has_offset else 0.0
    codes = decoded(w, kind, torch.float32).unflatten(-1, (-1, 32)) - torch.as_tensor(offset)[..., None]
    codes = (codes / scale[..., None]).round() + form.middle
    dots = (codes * (blocks / step).round()).sum(-1)
    halves = (one.half().float() for one in (step[..., 0], blocks.sum(-1)))
    by_step, by_sum = (scale * dots, offset - form.middle * scale)
    return sum(left * right for left, right in zip((by_step, by_sum), halves, strict=True)).sum(-1)  # type: ignore[union-attr,no-any-return]


def with_levels(w: torch.Tensor, kind: int, *, levels: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
    return decoded(w, kind, torch.float32) @ (levels * step).flatten()


def levels_cut(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    step = step_of(x)
    return with_levels(w, kind, levels=(blocks_of(x) / step).trunc(), step=step)


def steps_of_a_128th(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    step = step_of(x) * 127 / 128
    return with_levels(w, kind, levels=(blocks_of(x) / step).round().clamp(-127, 127), step=step)


def levels_of_7_bits(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    step = step_of(x) * 127 / 63
    return with_levels(w, kind, levels=(blocks_of(x) / step).round(), step=step)


def one_step_for_a_row(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    step = step_of(x).amax(0, keepdim=True)
    return with_levels(w, kind, levels=(blocks_of(x) / step).round(), step=step)


def activations_in_float8(x: torch.Tensor, w: torch.Tensor, kind: int) -> torch.Tensor:
    return decoded(w, kind, torch.float32) @ x.float().to(torch.float8_e4m3fn).float()


def ggml_answer(name: str, given: tuple[Any, ...], product: Product) -> torch.Tensor:  # Any: arguments of all types
    if name.startswith("ggml_mul_mat"):
        w, x, kind, _ = given
        return torch.stack([product(row, w, kind) for row in x]) if len(x) else x.new_empty((0, len(w)))
    x, w = given[:2]
    if name == "ggml_moe_a8_vec":
        ids, top_k, kind = given[2:5]
        return torch.stack([product(x[pair // top_k], w[e], kind) for pair, e in enumerate(ids.flatten().tolist())])
    listed, experts, count, kind, row, top_k, tokens = given[2:]
    out, block = torch.empty(tokens * top_k, row), len(listed) // len(experts)
    for place, pair in enumerate(listed[: int(count)].tolist()):
        if pair < tokens * top_k:
            out[pair] = product(x[pair // top_k], w[int(experts[place // block])], kind)
    return out


def packed_answer(name: str, given: tuple[Any, ...], total: Sum, *, halves: bool) -> torch.Tensor:
    """The product with weights rounded to float16 (`halves`) or not."""
    if name == "awq_gemm":
        x, words, scales, zero_words, _ = given
        q, z = (unpack(packed, 4, order=EVEN_BEFORE_ODD) for packed in (words, zero_words))
        groups = rows_by_group(len(q), len(scales), q.device)
    else:
        a, words, zero_words, scales, index, exllama, v2, bits = given
        q = unpack(words, bits, dim=0, order=EVEN_BEFORE_ODD if exllama and bits == 4 else None)
        z = unpack(zero_words, bits) + (not v2)
        x = a[:, index.long()] if exllama and len(index) else a
        groups = rows_by_group(len(q), len(scales), q.device) if exllama else index.long()
    weights = (q - z[groups]).float() * scales.float()[groups]
    return total(x.float(), weights.half().float() if halves else weights)


def at_once(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x @ w


def from_the_end(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x.flip(-1)[..., None] * w.flip(-2)).cumsum(-2)[..., -1, :]


def in_parts(x: torch.Tensor, w: torch.Tensor, parts: int) -> torch.Tensor:
    """Split along K; the parts are added in float32."""
    return torch.stack([left @ right for left, right in zip(x.chunk(parts, -1), w.chunk(parts, -2), strict=True)]).sum(
        0
    )


def in_bfloat16(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x.bfloat16().float() @ w.bfloat16().float()


def weights_in_float8(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x @ w.to(torch.float8_e4m3fn).float()


Answer = Callable[[tuple[Any, ...]], torch.Tensor]


def shares(name: str, answer: Answer) -> dict[int, dict[str, float]]:
    """The largest share of the tolerance that an answer takes in each case, for each draw; normal values excepted."""
    trial = Trial(definition(f"vllm::{name}"), described(f"vllm::{name}"))
    cases = [case for case in trial.cases if case.word("values") != "normal" or name in PACKED]
    return {seed: {case.name: share(trial, case, seed, answer) for case in cases} for seed in DRAWS}


def share(trial: Trial, case: Case, seed: int, answer: Answer) -> float:
    wanted = trial.expected(case, seed)[0]
    got, finite = answer(trial.copies(case, seed)).to(wanted.dtype), wanted.isfinite()
    limit = allowed(trial.problem.tolerance(case), wanted.double()[finite])
    return float(((got.double() - wanted.double())[finite].abs() / limit).max()) if finite.any() else 0.0


def largest(found: dict[int, dict[str, float]]) -> float:
    return max(one for by_case in found.values() for one in by_case.values())


@pytest.mark.parametrize("name", GGML)
@pytest.mark.parametrize(
    ("product", "most"),
    [
        (unquantised_from_the_end, 0.01),
        (quantised_block_by_block, 0.33),
        (weights_in_16_bits, 0.5),
        (whole_numbers_with_halves, 0.6),
    ],
)
def test_correct_ggml_product_keeps_its_distance(name: str, product: Product, most: float) -> None:
    assert largest(shares(name, partial(ggml_answer, name, product=product))) < most


@pytest.mark.parametrize("name", GGML)
@pytest.mark.parametrize(
    "product", [levels_cut, steps_of_a_128th, levels_of_7_bits, one_step_for_a_row, activations_in_float8]
)
def test_wrongly_quantised_activations_are_rejected(name: str, product: Product) -> None:
    found = shares(name, partial(ggml_answer, name, product=product))
    assert min(max(by_case.values()) for by_case in found.values()) > 1


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("total", [at_once, from_the_end, partial(in_parts, parts=2), partial(in_parts, parts=8)])
def test_correct_packed_product_takes_a_third_at_most(name: str, halves: bool, total: Sum) -> None:
    assert largest(shares(name, partial(packed_answer, name, total=total, halves=halves))) < 1 / 3


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("total", [in_bfloat16, weights_in_float8])
def test_packed_product_of_lower_precision_is_rejected(name: str, total: Sum) -> None:
    found = shares(name, partial(packed_answer, name, total=total, halves=False))
    assert min(max(by_case.values()) for by_case in found.values()) > 1


@pytest.mark.parametrize(("values", "are_exact"), [("normal", True), ("fine scales", False)])
def test_weights_are_exact_in_float16_by_short_scales(values: str, are_exact: bool) -> None:
    trial = Trial(definition("vllm::gptq_gemm"), described("vllm::gptq_gemm"))
    for case in trial.cases:
        if case.word("values") == values and case.size("m"):
            weights: list[torch.Tensor] = []
            for halves in (False, True):
                packed_answer("gptq_gemm", trial.copies(case), partial(noted, weights), halves=halves)
            assert torch.equal(*weights) is are_exact


def noted(weights: list[torch.Tensor], x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    weights.append(w)
    return x @ w
