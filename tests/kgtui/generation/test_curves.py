"""Curves of models: what was reached when so much was spent on each operator, and how they are drawn."""

from __future__ import annotations

import pytest

from engine.model import Outcome
from kgtui.generation.comparing.comparison import comparison_of
from kgtui.generation.comparing.curves import Quantity, Spent, curves_of
from kgtui.generation.display.curves import CurvesPicture
from kgtui.state.format.glyphs import ASCII
from kgtui.state.format.lines import plain_text
from sessions.candidates.generation_rows import GenerationState
from tests.kgtui.generation.test_comparison import row

WRONG = Outcome.WRONG_VALUE
ROWS = (
    row("aten::add", speedup=2.0, cost=100),
    row("aten::mm", outcome=WRONG, cost=300),
    row("aten::mm", speedup=8.0, cost=300),
)


def points(quantity, spent, *rows):
    (curve,) = curves_of(comparison_of(rows or ROWS), quantity, spent)
    return curve.points or curve.why


def test_solved_operators_grow_with_answers_and_cost():
    assert points(Quantity.SOLVED, Spent.ANSWERS) == ((0.0, 0.0), (1.0, 0.5), (2.0, 1.0))
    assert points(Quantity.SOLVED, Spent.COST) == ((0.0, 0.0), (100.0, 0.5), (300.0, 0.5), (600.0, 1.0))


def test_an_unsolved_operator_counts_as_the_baseline():
    found = points(Quantity.SPEEDUP, Spent.ANSWERS)
    assert found == ((0.0, 1.0), (1.0, pytest.approx(2.0**0.5)), (2.0, pytest.approx(4.0)))


def test_lost_request_costs_without_answer():
    lost = row(state=GenerationState.LOST, code=False, cost=50)
    assert points(Quantity.SOLVED, Spent.COST, lost, row(cost=100)) == ((0.0, 0.0), (50.0, 0.0), (150.0, 1.0))
    assert points(Quantity.SOLVED, Spent.ANSWERS, lost, row()) == ((0.0, 0.0), (1.0, 1.0))


@pytest.mark.parametrize(
    ("quantity", "spent", "rows", "why"),
    [
        (Quantity.SOLVED, Spent.COST, [row(cost=None), row()], "the cost of 1 answer is unknown"),
        (Quantity.SOLVED, Spent.COST, [row(cost=0)], "free of charge"),
        (Quantity.SPEEDUP, Spent.ANSWERS, [row()], "no speed-up"),
        (Quantity.SOLVED, Spent.ANSWERS, [row(outcome=Outcome.ENGINE_ERROR)], "no verdict"),
    ],
)
def test_curve_without_points_has_reason(quantity, spent, rows, why):
    assert points(quantity, spent, *rows) == why


def picture(quantity, spent, *rows):
    curves = curves_of(comparison_of(rows), quantity, spent)
    return CurvesPicture(curves=curves, quantity=quantity, spent=spent, glyphs=ASCII)


def test_cost_curves_are_steps_on_logarithmic_axis():
    found = picture(Quantity.SOLVED, Spent.COST, row(cost=100, outcome=WRONG), row(cost=9900))
    assert plain_text(found.lines(width=40, height=7)).splitlines() == [
        "100% |                                *",
        "     |                                .",
        " 50% |                                .",
        "     |                                .",
        "  0% | *...............................",
        "     +----------------------------------",
        "      $0.0001      $0.001          $0.01",
    ]


def test_legend_names_models_without_curve():
    found = picture(Quantity.SOLVED, Spent.COST, row(), row(model="beta", cost=None))
    assert plain_text((found.legend,)) == (
        "solved operators against cost of each operator  * openai:alpha  openai:beta: the cost of 1 answer is unknown"
    )


def test_without_points_or_room_a_sentence_is_shown():
    assert plain_text(picture(Quantity.SPEEDUP, Spent.COST, row()).lines(width=80, height=9)) == (
        "nothing to plot against cost; m and x show other curves"
    )
    assert "too small" in plain_text(picture(Quantity.SOLVED, Spent.COST, row()).lines(width=20, height=9))
