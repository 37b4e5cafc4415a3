"""The symptom of a diagnosis is found by its sentence, and kernels are counted by what they show."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from engine.judge.diagnosis.symptom_words import WORDS
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import Diagnosis
from tests.mutation.symptoms import MUTANT, WRONG, Shown, read, symptom_of, table


@pytest.mark.parametrize("symptom", Symptom)
def test_symptom_is_found_by_its_sentence(symptom: Symptom) -> None:
    words = WORDS[symptom]
    facts = {field: 7 for _, field, *_ in string.Formatter().parse(words.sentence) if field is not None}
    sentence = words.sentence.format_map(facts)
    assert symptom_of(Diagnosis(kind=words.kind, sentence=sentence, evidence="", explained=1, wrong=1)) is symptom


def test_table_counts_kernels_first_and_at_all() -> None:
    shown = (
        Shown(name="a", group=MUTANT, symptoms_by_case={"one": (Symptom.SCALE, Symptom.TAIL)}),
        Shown(name="b", group=WRONG, symptoms_by_case={"one": (Symptom.TAIL,), "two": (Symptom.TAIL,)}),
    )
    lines = list(table(shown))
    assert lines[0] == "1 mutants, 1 wrong kernels"
    (tail,) = (line.split() for line in lines if line.startswith("tail "))
    assert tail == ["tail", "0/1", "1/1", "a,", "b"]


def test_missing_record_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path / "record.jsonl") == ()
