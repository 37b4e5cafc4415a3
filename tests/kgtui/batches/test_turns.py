"""Which candidate an engine gets next."""

from __future__ import annotations

from kgtui.batches.turns import Turns, groups
from sessions.candidates.checked import CheckedRow, ListedCandidate


def rows(*problems: str, digests: str = "") -> list[CheckedRow]:
    return [
        CheckedRow(
            place=place,
            candidate=ListedCandidate(name=f"{place}.py", problem=problem, sample=1, digest=digest),
            run=None,
        )
        for place, (problem, digest) in enumerate(zip(problems, digests or map(str, range(99)), strict=False), 1)
    ]


def order(turns: Turns, *engines: int) -> list[tuple[int, ...] | None]:
    return [turns.next(engine) for engine in engines]


def test_candidates_of_one_operator_run_in_a_row():
    assert order(Turns(rows("a", "b", "a", "b")), 0, 0, 0, 0, 0) == [(1,), (3,), (2,), (4,), None]


def test_engines_begin_with_operators_of_their_own():
    assert order(Turns(rows("a", "a", "b", "b")), 0, 1, 0, 1, 1) == [(1,), (3,), (2,), (4,), None]


def test_idle_engine_helps_with_operator_of_another():
    assert order(Turns(rows("a", "a", "a")), 0, 1, 0) == [(1,), (2,), (3,)]


def test_same_source_for_one_operator_is_grouped():
    assert [places for places, _ in groups(rows("a", "b", "a", digests="xxx"))] == [(1, 3), (2,)]
