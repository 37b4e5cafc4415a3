"""The score counts mutants that run and are not equivalent, and fails where something is not as known.py says."""

from __future__ import annotations

import pytest

from engine.model import Tier
from engine.static.source import directives
from tests.mutation import score
from tests.mutation.edits import Kind
from tests.mutation.evaluation import Evaluated, Fate
from tests.mutation.mutants import Mutant
from tests.operators import find


def evaluated(name: str, fate: Fate) -> Evaluated:
    mutant = Mutant(name=name, kernel="k", kind=Kind.DROP_MASK, before="a", after="b", source="")
    tier = Tier.FULL if fate is Fate.REJECTED else None
    return Evaluated(mutant=mutant, fate=fate, case="", tier=tier, message="")


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "EQUIVALENT", {"same": "it computes the same"})
    monkeypatch.setattr(score, "UNSEEN", {"unseen": "no case shows it"})


def test_drawn_kernels_cover_every_source_and_category() -> None:
    groups = {}
    for path in score.HONEST.glob("*.py"):
        problem = find(directives(path.read_text())["op"])
        groups[path.stem] = problem.library, problem.category
    count = len(set(groups.values()))
    first, more = score.drawn_kernels(count, seed=1), score.drawn_kernels(count + 5, seed=1)
    assert {groups[name] for name in first} == set(groups.values())
    assert more[:count] == first and len(set(more)) == count + 5
    assert score.drawn_kernels(count, seed=2) != first


def test_stillborn_and_equivalent_mutants_do_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        score.report([evaluated("r", Fate.REJECTED), evaluated("s", Fate.STILLBORN), evaluated("same", Fate.SURVIVED)])
        == 0
    )
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "3", "1", "1", "0", "1", "0", "100.0%"]


def test_every_survivor_counts_and_has_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        score.report([evaluated("r", Fate.REJECTED), evaluated("unseen", Fate.SURVIVED), evaluated("x", Fate.SURVIVED)])
        == 1
    )
    out = capsys.readouterr().out
    assert "survived unseen\n    a\n    b\n    no case shows it\n" in out
    assert "survived x\n    a\n    b\n    not examined\n" in out
    assert out.splitlines()[-1].split() == ["all", "3", "0", "0", "0", "1", "2", "33.3%"]


@pytest.mark.parametrize("one", [evaluated("same", Fate.REJECTED), evaluated("r", Fate.UNDECIDED)])
def test_wrong_claim_or_mutant_not_run_fails(one: Evaluated) -> None:
    assert score.report([*[evaluated("r", Fate.REJECTED)] * 200, one]) == 1
