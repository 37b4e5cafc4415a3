"""Ranks the clues of a wrong output and puts the best into words.

Pure: no tensors here.  The judge computes the output of each known mistake, and counts; this file ranks and words it.
Where nothing fits well there is no diagnosis: a wrong guess costs more than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.judge.diagnosis.symptom_words import WORDS, Words
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import Diagnosis, DiagnosisKind

Facts: TypeAlias = Mapping[str, str | int | float]
"""Values for the template of a symptom's sentence."""

_LEAST_FIT = 0.6
_MOST_DIAGNOSES = 3
_AS_GOOD = 0.98  # share of the best fit: clues from here on are ranked by how specific they are
_NEARLY = 0.9  # share of the best fit: clues below it are dropped


@dataclass(frozen=True, kw_only=True)
class Clue:
    """One symptom: how many wrong elements have it, and how many right ones contradict it."""

    symptom: Symptom
    explained: int
    contradicted: int = 0
    facts: Facts = field(default_factory=dict)


def diagnose(clues: Iterable[Clue], *, wrong: int) -> tuple[Diagnosis, ...]:
    """The best diagnosis of each kind, best first; none if no clue fits most of the `wrong` elements."""
    found: dict[DiagnosisKind, Diagnosis] = {}
    for clue in ranked(clues, wrong=wrong):
        words = WORDS[clue.symptom]
        found.setdefault(words.kind, _worded(clue, words, wrong))
    return tuple(found.values())[:_MOST_DIAGNOSES]


def ranked(clues: Iterable[Clue], *, wrong: int) -> list[Clue]:
    """The clues that fit nearly as well as the best one, in the order in which they are reported."""
    fitting = [clue for clue in clues if clue.explained and _fit(clue, wrong) >= _LEAST_FIT]
    # Nearly every small error has this symptom, so it is reported only if no other one fits.
    fitting = [clue for clue in fitting if clue.symptom is not Symptom.SMALL_ERRORS] or fitting
    best = max((_fit(clue, wrong) for clue in fitting), default=0.0)
    order = list(Symptom)
    return sorted(
        (clue for clue in fitting if _fit(clue, wrong) >= best * _NEARLY),
        key=lambda clue: (_fit(clue, wrong) < best * _AS_GOOD, order.index(clue.symptom), -_fit(clue, wrong)),
    )


def names_cause(clue: Clue) -> bool:
    """Whether the symptom describes more than the positions of the wrong elements, or the size of the error."""
    order = list(Symptom)
    return order.index(clue.symptom) < order.index(Symptom.SMALL_ERRORS)


def _fit(clue: Clue, wrong: int) -> float:
    return clue.explained / (wrong + clue.contradicted)


def _worded(clue: Clue, words: Words, wrong: int) -> Diagnosis:
    counted = f"{clue.explained:,} of {wrong:,} wrong elements"
    return Diagnosis(
        kind=words.kind,
        sentence=words.sentence.format_map(clue.facts),
        evidence=words.evidence.format_map({**clue.facts, "counted": counted}),
        explained=clue.explained,
        wrong=wrong,
        contradicted=clue.contradicted,
    )
