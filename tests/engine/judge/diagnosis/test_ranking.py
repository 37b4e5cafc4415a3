"""What is said of clues: the best first, in words, and nothing where nothing fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.judge.diagnosis.ranking import Clue, diagnose
from engine.judge.diagnosis.symptom_words import WORDS
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import Diagnosis, DiagnosisKind

POISON = Clue(symptom=Symptom.POISON, explained=24, facts={"byte": "0xFF", "where": " from column 64 on"})
TAIL = Clue(symptom=Symptom.TAIL, explained=24, facts={"dim": 1, "start": 64, "block": 64, "size": 88})


def test_every_symptom_has_words():
    assert set(WORDS) == set(Symptom)


def test_most_specific_symptom_comes_first_with_its_count():
    unwritten, tail = diagnose([TAIL, POISON], wrong=24)
    assert unwritten == Diagnosis(
        kind=DiagnosisKind.UNWRITTEN_OUTPUT,
        sentence="never written from column 64 on, or accumulated into uninitialized memory",
        evidence="24 of 24 wrong elements still hold the bytes 0xFF that filled new memory before the call",
        explained=24,
        wrong=24,
    )
    assert tail.kind is DiagnosisKind.TAIL_MASK


def test_symptom_fitting_few_wrong_elements_is_not_reported():
    assert diagnose([replace(POISON, explained=12), replace(TAIL, explained=24, contradicted=20)], wrong=24) == ()


def test_better_fit_comes_before_more_specific_symptom():
    worse = replace(POISON, explained=22)
    assert [one.kind for one in diagnose([worse, TAIL], wrong=24)] == [
        DiagnosisKind.TAIL_MASK,
        DiagnosisKind.UNWRITTEN_OUTPUT,
    ]


def test_much_worse_fit_is_dropped_beside_good_one():
    assert [one.kind for one in diagnose([replace(POISON, explained=18), TAIL], wrong=24)] == [DiagnosisKind.TAIL_MASK]


def test_small_errors_are_reported_only_without_other_fit():
    facts = {"extent": "all", "dtype": "float16", "largest": 1e-3, "typical": 1e-4, "rounding": 2.0**-11}
    small = Clue(symptom=Symptom.SMALL_ERRORS, explained=24, facts=facts)
    assert [one.kind for one in diagnose([small, TAIL], wrong=24)] == [DiagnosisKind.TAIL_MASK]
    assert [one.kind for one in diagnose([small], wrong=24)] == [DiagnosisKind.PRECISION]


@pytest.mark.parametrize(
    ("explained", "contradicted", "words"),
    [
        (24, 0, "explains all wrong elements"),
        (23, 0, "explains 95 % of the wrong elements"),
        (24, 3, "explains all wrong elements, contradicted by 3 correct elements"),
    ],
)
def test_quality_of_fit_is_put_in_words(explained, contradicted, words):
    (found,) = diagnose([replace(TAIL, explained=explained, contradicted=contradicted)], wrong=24)
    assert found.confidence == words
