"""Explanations of wrong outputs: which are made, their limits, and errors while explaining."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import torch

from engine.judge.compare.compare import compare
from engine.judge.diagnosis.explain import Explainer, left_unexplained
from engine.judge.diagnosis.hypotheses.order import hypotheses
from engine.model import (
    CandidateForm,
    Explanation,
    Outcome,
    SuiteOrigin,
)
from tests.engine.judge.diagnosis.mistakes import (
    ADD,
    NEVER,
    SILU,
    SOFTMAX,
    SUM,
    TOLERANCE,
    compared,
    content_of,
    normal,
    operator,
)


def test_previous_explanation_is_tried_first():
    explainer, x, y = Explainer(), normal(9, 40), normal(9, 40, seed=4)
    calls = []
    counting = replace(ADD, reference=lambda *values: calls.append(values) or ADD.reference(*values))
    comparison = compared(ADD, (x, y, 0.3), ADD.reference(y, x, 0.3))
    first = explainer.diagnoses(counting, (x, y, 0.3), 0, comparison)
    tried = len(calls)
    assert explainer.diagnoses(counting, (x, y, 0.3), 0, comparison) == first
    assert len(calls) - tried == 1 < tried


def test_hypothesis_memory_is_bounded_by_its_tensor():
    x = torch.zeros(65536, 8)
    sizes = []
    for hypothesis in hypotheses(operator("x, n", SUM.reference), (x, 65536), torch.Size([65536])):
        try:
            sizes += [value.untyped_storage().nbytes() for value in hypothesis.arguments() if hasattr(value, "numel")]
        except ValueError:
            continue
    assert max(sizes) <= 16 * x.untyped_storage().nbytes() + (1 << 18)


def test_trial_that_fills_the_memory_ends_the_search():
    def steps(start, end):
        lengths.append(end - start)
        return torch.tensor([start + number for number in range(end - start)])

    lengths, far = [], 1 << 27
    supposed = operator("start, end", steps)
    comparison = compared(supposed, (far, far + 9), torch.arange(9) % 4 + far)
    Explainer().diagnoses(supposed, (far, far + 9), 0, comparison)
    assert max(lengths) > 1 << 26
    assert lengths.index(max(lengths)) == len(lengths) - 1


def test_diagnosis_error_is_reported_and_output_stays_wrong():
    def refuses(*_):
        raise RuntimeError("not on this device")

    x = normal(9, 40)
    broken = replace(SILU, reference=refuses, tolerance=lambda case: TOLERANCE)
    content = content_of(SILU, x)
    prepared = SimpleNamespace(
        problem=broken, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = normal(9, 40, seed=5)
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    (reported,) = Explainer().explained(prepared, [got], (report,), repeated=None)
    assert reported.outcome is Outcome.WRONG_VALUE
    assert reported.explanation == Explanation(untried="not explained: RuntimeError: not on this device")


def test_diagnosis_is_kept_where_inputs_cannot_be_found():
    def in_place(x, alpha):
        x = x.clone().double()
        y = x.mul(x)
        x.add_(1)  # what the derivative of the product needs is gone
        return (alpha * y).to(torch.float32)

    problem = operator("x, alpha", in_place)
    x = normal(9, 40)
    content = content_of(problem, x, 0.5)
    prepared = SimpleNamespace(
        problem=problem, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = in_place(x, 2.0)
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    (reported,) = Explainer().explained(prepared, [got], (report,), repeated=None)
    assert [found.sentence for found in reported.explanation.diagnoses][:1] == [
        "output equals the answer for alpha = 1 / alpha (2) instead of 0.5"
    ]
    assert (reported.explanation.feeding, reported.explanation.untried) == (None, "")


def test_hypotheses_are_computed_on_host_whatever_the_default():
    x, moved = normal(9, 40), operator("x", lambda x: x.double().add(torch.ones(x.shape)).to(x.dtype))
    content = content_of(moved, x)
    prepared = SimpleNamespace(
        problem=moved, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = -content.expected[0]
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    with torch.device("meta"):
        (reported,) = Explainer().explained(prepared, [got], (report,), repeated=None)
    assert (reported.explanation.untried, len(reported.explanation.feeds)) == ("", 1)


def test_foreign_reference_call_count_is_limited():
    calls = []

    def counted(x):
        calls.append(x)
        return torch.softmax(x.double(), -1).to(x.dtype)

    x = normal(37, 97)
    origin = SuiteOrigin(suite="Suite", form=CandidateForm.FUNCTION, own_rule="")
    content = content_of(SOFTMAX, x)
    foreign = replace(operator("x", counted), suite=origin)
    prepared = SimpleNamespace(
        problem=foreign, case=NEVER, content=content, base=content, poison=0xFF, initial=[], first_outputs=[]
    )
    got = normal(37, 97, seed=5)
    report = compare("return", got, content.expected[0], TOLERANCE, poison=0xFF)
    (reported,) = Explainer().explained(prepared, [got], (report,), repeated=None)
    assert len(calls) == 40
    assert (reported.explanation.untried, reported.explanation.feeds, reported.explanation.feeding) == ("", (), None)


def test_output_without_request_is_not_explained():
    x = normal(9, 40)
    right = compare("return", SILU.reference(x), SILU.reference(x), TOLERANCE, poison=0xFF)
    wrong = compare("return", normal(9, 40, seed=5), SILU.reference(x), TOLERANCE, poison=0xFF)
    reported = left_unexplained(None, [x, x], (right, wrong), repeated=None)
    assert (reported[0], replace(reported[1], explanation=None)) == (right, wrong)
    assert reported[1].explanation.untried.startswith("only the first wrong cases of a run are explained")


def test_correct_or_misshapen_output_is_not_explained():
    x = normal(9, 40)
    content = content_of(SILU, x)
    prepared = SimpleNamespace(problem=SILU, case=NEVER, content=content, base=content, poison=0xFF, first_outputs=[])
    right = compare("return", SILU.reference(x), content.expected[0], TOLERANCE, poison=0xFF)
    another = compare("return", torch.zeros(3), content.expected[0], TOLERANCE, poison=0xFF)
    assert Explainer().explained(prepared, [x, another], (right, another), repeated=None) == (right, another)
