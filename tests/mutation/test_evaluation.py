"""A sample of the mutants is rejected in every run of the suite; `python -m tests.mutation.score` evaluates all."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.static.source import directives
from tests.mutation.edits import Kind
from tests.mutation.evaluation import Fate, evaluate_all
from tests.mutation.known import EQUIVALENT, UNSEEN
from tests.mutation.mutants import Mutant, drawn, mutants_of

HONEST = Path(__file__).parents[1] / "corpus" / "honest"
SAMPLED = (
    "add", "cublas_saxpy", "cublas_sgemm", "cumsum", "embedding", "fused_add_rms_norm", "gather", "mm",
    "reshape_and_cache", "rms_norm", "rotary_embedding", "silu", "softmax_three_passes", "sum", "topk_softmax",
)  # fmt: skip
PER_KERNEL = 2
SHIFT = "offset = tl.program_id(0)"


def whole(name: str) -> tuple[Mutant, str]:
    """An honest kernel as it is, in the form of a mutant, and its problem."""
    source = (HONEST / f"{name}.py").read_text()
    return Mutant(name=name, kernel=name, kind=Kind.DROP_TERM, before="", after="", source=source), directives(source)[
        "op"
    ]


@pytest.mark.slow
async def test_a_sample_of_the_mutants_is_rejected(tmp_path: Path) -> None:
    sample = []
    for name in SAMPLED:
        original, problem = whole(name)
        found = mutants_of(original.source, kernel=name)
        counted = tuple(mutant for mutant in found if mutant.name not in EQUIVALENT and mutant.name not in UNSEEN)
        sample += [(mutant, problem) for mutant in drawn(counted, PER_KERNEL)]
    evaluated = await evaluate_all(sample, engines=1, folder=tmp_path, on_evaluated=lambda one: None)
    assert len(evaluated) == len(SAMPLED) * PER_KERNEL
    assert {one.mutant.name: one.fate for one in evaluated if one.fate not in (Fate.REJECTED, Fate.STILLBORN)} == {}


@pytest.mark.slow
async def test_passing_mutant_survives_raising_is_stillborn(tmp_path: Path) -> None:
    silu, problem = whole("silu")
    raising = Mutant(
        name="raising",
        kernel="silu",
        kind=Kind.DROP_TERM,
        before="",
        after="",
        source=silu.source.replace(SHIFT, f"missing; {SHIFT}"),
    )
    assert raising.source != silu.source
    fates = {}
    for one in await evaluate_all(
        [(silu, problem), (raising, problem)], engines=1, folder=tmp_path, on_evaluated=lambda one: None
    ):
        fates[one.mutant.name] = one.fate
    assert fates == {"silu": Fate.SURVIVED, "raising": Fate.STILLBORN}
