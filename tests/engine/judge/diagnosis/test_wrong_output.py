"""How many elements a clue explains, and when chance or a plain 0 would explain as many."""

from __future__ import annotations

import pytest
import torch

from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import WrongOutput
from tests.engine.judge.diagnosis.mistakes import EXACT, TOLERANCE, normal


def output_of(got, expected):
    tolerance = TOLERANCE if expected.is_floating_point() else EXACT
    return WrongOutput(name="return", got=got, expected=expected, tolerance=tolerance, poison=0xFF)


@pytest.mark.parametrize(("flipped", "explained"), [(5, 0), (12, 12)])
def test_hits_among_two_values_count_beyond_chance(flipped, explained):
    expected = torch.arange(40) % 2
    got = expected.clone()
    got[:flipped] = 1 - got[:flipped]
    clue = output_of(got, expected).clue(Symptom.KEPT, got)
    assert (clue.explained, clue.contradicted) == (explained, 0)


@pytest.mark.parametrize(("symptom", "explained"), [(Symptom.KEPT, 0), (Symptom.OVERFLOWN, 20)])
def test_predicted_zeros_count_for_overflow_only(symptom, explained):
    expected = normal(40)
    got = expected.clone()
    got[:20] = 0
    assert output_of(got, expected).clue(symptom, got).explained == explained


def test_right_elements_contradict_a_guess_that_differs():
    expected = normal(40)
    got = torch.cat((-expected[:30], expected[30:]))
    clue = output_of(got, expected).clue(Symptom.SIGN, -expected)
    assert (clue.explained, clue.contradicted) == (30, 10)


def test_right_elements_contradict_a_region_but_no_marks():
    expected = normal(40)
    got = expected.clone()
    got[:30] += 1
    marks = torch.arange(40) >= 10
    output = output_of(got, expected)
    region, marked = output.region(Symptom.TAIL, marks, dim=0), output.marked(Symptom.ZEROED, marks)
    assert (region.explained, region.contradicted, region.facts) == (20, 10, {"dim": 0})
    assert (marked.explained, marked.contradicted) == (20, 0)
