"""Mistakes that only unusual inputs show: ties, many experts, buffers that are not read, increments of 0, long sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from problems.rules.trial import Trial
from problems.vllm import topk_softmax
from tests.operators import definition, described

Made = dict[str, Any]  # Any: arguments by name, tensors, numbers and letters alike
Mistaken = Callable[[Made], None]


def eager(name: str, made: Made) -> None:
    """What PyTorch makes of these arguments, in place."""
    problem = definition(name)
    problem.eager(*[made[argument.lower()] for argument in problem.arguments])


def ties_to_the_higher_expert(made: Made) -> None:
    """The order of equal values is turned round."""
    gating = made["gating_output"]
    mirrored = made | {"gating_output": gating.flip(-1)}
    topk_softmax.eager(**mirrored)
    ids = made["topk_ids"]
    ids.copy_(gating.shape[1] - 1 - ids)


def negative_zero_comes_after_zero(made: Made) -> None:
    """-0.0 is taken for less than 0.0, as keys made of bits do."""
    gating = made["gating_output"]
    nudged = torch.where((gating == 0) & gating.signbit(), -1e-6, gating)
    topk_softmax.eager(**made | {"gating_output": nudged})


def only_256_experts(made: Made) -> None:
    """Those beyond are never chosen, though they count in the sum."""
    gating = made["gating_output"].clone()
    gating[:, 256:] = gating[:, 256:].clamp(max=-1e4)
    topk_softmax.eager(**made | {"gating_output": gating})


def only_1024_experts(made: Made) -> None:
    """Those beyond are never chosen."""
    gating = made["gating_output"].clone()
    gating[:, 1024:] = -1e4
    topk_softmax.eager(**made | {"gating_output": gating})


def softmax_without_maximum(made: Made) -> None:
    """exp overflows, or is 0 for all experts of a token."""
    gating = made["gating_output"].exp().log()
    topk_softmax.eager(**made | {"gating_output": gating})


def masked_experts_from_the_end(made: Made) -> None:
    """Experts of -inf that must be chosen are taken from the last one on."""
    gating = made["gating_output"]
    topk_softmax.eager(**made)
    ids, experts = made["topk_ids"], gating.shape[1]
    ids.copy_(torch.where(gating.gather(1, ids.long()).isneginf(), experts - 1 - ids, ids))


def ids_of_32_bits(made: Made) -> None:
    """Writes 32 bits of each id, whatever its type."""
    topk_softmax.eager(**made)
    ids = made["topk_ids"]
    if ids.dtype == torch.int64:
        ids |= 77 << 32


def reads_what_alpha_takes_out(made: Made) -> None:
    """0 * NaN is NaN."""
    eager("cublasSgemm_v2", made)
    if made["alpha"] == 0:
        made["c"] += 0 * made["a"].sum() * made["b"].sum()


def capital_letters_only(made: Made) -> None:
    """Anything but "T" is taken for "N", where the sizes allow it."""
    letters = {name: "T" if made[name] == "T" else "N" for name in ("transa", "transb")}
    rows = {"transa": (made["m"], made["lda"]), "transb": (made["k"], made["ldb"])}
    fits = all(letters[name] == made[name] or rows[name][0] <= rows[name][1] for name in letters)
    if fits and all(letters[name] == made[name].upper() for name in letters):
        eager("cublasSgemm_v2", made | letters)


def padding_in_the_sum(made: Made) -> None:
    """Rows beyond the matrix are multiplied by 0, and not left out."""
    eager("cublasSgemm_v2", made)
    if made["transa"] == "N" and made["k"] and made["m"]:
        a = made["a"].view(made["k"], made["lda"])
        made["c"].view(-1, made["ldc"])[:, : made["m"]] += 0 * a[:, made["m"] :].sum()


def products_in_bfloat16_beyond(made: Made) -> None:
    """Terms from the 1,024th on are multiplied with less precision."""
    a = made["a"].clone()
    if made["transa"] == "N" and made["k"] > 1024:
        columns = a.view(made["k"], made["lda"])
        columns[1024:] = columns[1024:].bfloat16().float()
    eager("cublasSgemm_v2", made | {"a": a})


def scaled_before_the_product(made: Made) -> None:
    """alpha is divided by beta and multiplied again, which overflows for extreme scalars."""
    alpha, beta = made["alpha"], made["beta"]
    if alpha and beta:
        ratio = torch.tensor(alpha) / torch.tensor(beta)
        eager("cublasSgemm_v2", made | {"alpha": float(ratio * beta)})
    else:
        eager("cublasSgemm_v2", made)


def increment_0_is_taken_for_1(made: Made) -> None:
    """Reads on where x has but one element."""
    if made["incx"] == 0:
        x = made["x"]
        made = made | {"incx": 1, "x": x.repeat(made["n"] // len(x) + 1)}
    eager("cublasSaxpy_v2", made)


def only_65536_elements(made: Made) -> None:
    """The rest of y stays as it is."""
    eager("cublasSaxpy_v2", made | {"n": min(made["n"], 65536)})


def large_increments_cut(made: Made) -> None:
    """An increment has a few bits only."""
    cut = {name: max(-32, min(32, made[name])) for name in ("incx", "incy")}
    eager("cublasSaxpy_v2", made | cut)


def alpha_of_little_range(made: Made) -> None:
    """alpha is kept in half precision's range."""
    eager("cublasSaxpy_v2", made | {"alpha": max(-65504.0, min(65504.0, made["alpha"]))})


ROUTING = (
    ties_to_the_higher_expert,
    negative_zero_comes_after_zero,
    only_256_experts,
    only_1024_experts,
    softmax_without_maximum,
    masked_experts_from_the_end,
    ids_of_32_bits,
)
PRODUCTS = (
    reads_what_alpha_takes_out,
    capital_letters_only,
    padding_in_the_sum,
    products_in_bfloat16_beyond,
    scaled_before_the_product,
)
SUMS = (increment_0_is_taken_for_1, only_65536_elements, large_increments_cut, alpha_of_little_range)
MISTAKES = [
    pytest.param(name, mistake, id=mistake.__name__)
    for name, mistakes in (("topk_softmax", ROUTING), ("cublasSgemm_v2", PRODUCTS), ("cublasSaxpy_v2", SUMS))
    for mistake in mistakes
]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_a_mistake_that_usual_inputs_hide_is_rejected(name: str, mistake: Mistaken) -> None:
    problem, trial = definition(name), Trial(definition(name), described(name))
    rejected, passed = [], []
    for case in trial.cases:
        arguments = trial.copies(case)
        made = dict(zip([argument.lower() for argument in problem.arguments], arguments, strict=True))
        mistake(made)
        returned = [made[name.lower()] for name in problem.mutates]
        outputs = (*returned[: problem.returns], *returned)
        (passed if trial.accepts(case, outputs) else rejected).append(case.name)
    assert rejected != []
    assert passed != []


@pytest.mark.parametrize("name", ["cublasSgemm_v2", "cublasSaxpy_v2"])
def test_every_buffer_has_storage_offset_in_some_case(name: str) -> None:
    problem, trial = definition(name), Trial(definition(name), described(name))
    moved: set[str] = set()
    for case in trial.cases:
        given = zip(problem.arguments, trial.given(case), strict=True)
        moved |= {word for word, value in given if isinstance(value, torch.Tensor) and value.storage_offset() > 0}
    assert moved == {word for word in problem.arguments if word in ("x", "y", "A", "B", "C")}
