"""A run with a draw seed has the same inputs again, and so has its proof."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.artefacts import ArtefactStore
from engine.model import events
from engine.protocol.proof.proof_file import read_proof, unpacked
from tests.engine.end_to_end.conftest import COPY_KERNEL, Evaluate, Evaluated

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_runs_with_one_seed_have_the_same_inputs(evaluate: Evaluate, artefacts: ArtefactStore):
    one, other = [_seeds(await evaluate(COPY_KERNEL, draw_seed=7), artefacts) for _ in range(2)]
    assert len(one) == 6
    assert one == other


@pytest.mark.parametrize("seeds", [(7, 8), (None, None)])
async def test_other_runs_have_other_inputs(
    evaluate: Evaluate, artefacts: ArtefactStore, seeds: tuple[int | None, int | None]
):
    one, other = [_seeds(await evaluate(COPY_KERNEL, draw_seed=seed), artefacts) for seed in seeds]
    assert not {*one} & {*other}


async def test_reported_seed_reproduces_drawn_inputs(evaluate: Evaluate, artefacts: ArtefactStore):
    chosen = await evaluate(COPY_KERNEL, chooses_seed=True)
    reported = chosen.events[-1]
    assert isinstance(reported, events.RunFinished)
    assert reported.draw_seed is not None
    assert not reported.seed_given
    again = await evaluate(COPY_KERNEL, draw_seed=reported.draw_seed)
    assert _seeds(again, artefacts) == _seeds(chosen, artefacts)
    assert again.events[-1] == replace(again.events[-1], draw_seed=reported.draw_seed, seed_given=True)


def _seeds(judged: Evaluated, artefacts: ArtefactStore) -> list[int | None]:
    """The seeds of all cases, and of the replays that proved them."""
    (stored,) = (event for event in judged.events if isinstance(event, events.ProofStored))
    proof = read_proof(unpacked(artefacts.read(stored.artefact.digest)))
    return [case.seed for case in judged.cases] + [case.seed for case in proof.cases]
