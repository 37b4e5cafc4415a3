"""Stages of a fusion: which intermediates two texts share, and the texts that return them."""

from __future__ import annotations

import ast

import pytest

from engine.errors import UsageError
from engine.model.problems.form import CandidateForm
from problems.suites.rewriting.stages import not_compared, shared_stages, stages, with_stages

CALL, MODULE = CandidateForm.CALL, CandidateForm.MODULE
REFERENCE = """
def fused(x, scale=2.0):
    rows = x.shape[0] * 2
    size = x.size(0)
    scaled = x * scale
    if scale > 1:
        branch = scaled + 1
    summed = scaled.sum(-1)
    twice = summed + 1
    twice = twice * 2
    return summed, twice
"""
CANDIDATE = """
def fused(x, scale=2.0):
    summed = helper(x)
    scaled = x
    return (
        summed
        + 1
    )
"""
SHORT = "def f(x):\n    y = g(x)\n    return y\n"
MODEL = """
class {name}:
    def forward(self, x):
        product = x @ x
        return product.relu()
"""


def function(text):
    (node,) = ast.parse(text).body
    return node


def test_stages_are_computations_of_outermost_block():
    assert stages(function(REFERENCE)) == ("scaled", "summed", "twice#1/2", "twice#2/2")


CHAIN = "def f(x, w):\n    x = g(x)\n    y = h(x, w)\n    x = (\n        k(y)\n    )\n    return x\n"


def test_name_bound_twice_is_two_stages_in_order():
    assert stages(function(CHAIN)) == ("x#1/2", "y", "x#2/2")


def test_content_before_next_binding_is_copied():
    text = with_stages(CHAIN, ("x#1/2", "x#2/2"), form=CALL, entry="f", is_reference=True)
    namespace = {"g": lambda x: [x], "h": lambda x, w: x.append(w) or x, "k": len}
    exec(text, namespace)  # our own text
    assert text.splitlines()[3] == '    _stage_x_1 = x.clone() if hasattr(x, "clone") else x; x = ('
    assert namespace["f"](1, 2) == ([1, 2], 2, (2))


def test_contiguous_argument_is_not_a_stage():
    text = "def f(x):\n    x = x.contiguous()\n    x = g(x)\n    return x\n"
    assert stages(function(text), of_any_kind=True) == ("x",)


def test_uncompared_intermediates_have_reasons():
    candidate = "def f(x, w):\n    x = g(x)\n    y = h(x, w)\n    return k(y)\n"
    reference = CHAIN.replace("    return x", "    if w:\n        z = g(x)\n    v = g(x)\n    return x")
    assert shared_stages(reference, candidate, form=CALL, entry="f") == ("y",)
    assert not_compared(reference, candidate, form=CALL, entry="f") == (
        "x: bound 2 times in the reference, once here",
        "v: bound once in the reference, not here",
        "z: also bound in a branch or loop, after a return, or not to a tensor",
    )


def test_binding_after_first_return_is_not_stage():
    assert stages(function("def f(x):\n    if x:\n        return 1\n    y = g(x)\n    return y\n")) == ()


def test_shared_stages_have_order_of_reference():
    assert shared_stages(REFERENCE, CANDIDATE, form=CALL, entry="fused") == ("scaled", "summed")


def test_stages_returned_before_result_on_same_line():
    text = with_stages(CANDIDATE, ("scaled", "summed"), form=CALL, entry="fused", is_reference=False)
    assert text == CANDIDATE.replace("        summed\n", "        (scaled, summed, (summed\n").replace("+ 1", "+ 1))")


def test_result_of_several_values_stays_together():
    text = with_stages(REFERENCE, ("scaled",), form=CALL, entry="fused", is_reference=True)
    assert "return (scaled, (summed, twice))" in text


def test_forward_of_module_returns_stages():
    reference, candidate = MODEL.format(name="Model"), MODEL.format(name="ModelNew")
    assert shared_stages(reference, candidate, form=MODULE, entry="ModelNew") == ("product",)
    for text, is_reference in ((reference, True), (candidate, False)):
        changed = with_stages(text, ("product",), form=MODULE, entry="ModelNew", is_reference=is_reference)
        assert "return (product, (product.relu()))" in changed


def test_text_before_return_in_other_letters_keeps_place():
    text = with_stages("def f(x):\n    y = g(x)\n    'é'; return y\n", ("y",), form=CALL, entry="f", is_reference=True)
    assert text.splitlines()[2] == "    'é'; return (y, (y))"


@pytest.mark.parametrize(
    ("reference", "candidate", "form", "said"),
    [
        ("def f(x):\n    return x\n", CANDIDATE, CALL, "binds no intermediate"),
        (SHORT, "def f(x):\n    return x\n", CALL, r"none of the reference's intermediates \(y\)"),
        (SHORT, "def g(x):\n    return x\n", CALL, "f is not defined"),
        (SHORT, "def f(x:\n", CALL, "cannot be read"),
        ("def f(x):\n    return x\n", CANDIDATE, CandidateForm.SUBMISSION, "functions or modules"),
    ],
)
def test_no_stage_to_compare_is_refused(reference, candidate, form, said):
    with pytest.raises(UsageError, match=said):
        shared_stages(reference, candidate, form=form, entry="f")
