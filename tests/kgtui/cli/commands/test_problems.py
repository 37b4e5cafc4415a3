"""`kgtui problems`: the list, one operator, and both as JSON."""

from __future__ import annotations

import json

from tests.operators import NAMES, find


def test_the_list_has_a_line_for_every_problem(typed):
    ended = typed("problems")
    assert ended.exit_code == 0
    assert [line.split()[0] for line in ended.out.splitlines()] == list(NAMES)


def test_list_may_be_said(typed):
    assert typed("problems", "list").out == typed("problems").out


def test_one_problem_shows_its_signature_and_every_case(typed):
    out = typed("problems", "show", "softmax").out
    assert "signature  softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor" in out
    assert all(case.name in out for case in find("softmax").cases)


def test_a_problem_of_integers_is_compared_to_the_bit(typed):
    assert "equal to the bit" in typed("problems", "show", "embedding").out


def test_json_holds_every_case_with_tolerance_and_cost(typed):
    document = json.loads(typed("problems", "show", "aten::mm", "--json").out)
    assert document["schema"] == "kgtui.problems/1"
    (problem,) = document["problems"]
    first = find("aten::mm").cases[0]
    assert (problem["name"], problem["cases"][0]["name"]) == ("aten::mm", first.name)
    assert problem["cases"][0]["tolerance"]["relative"] > 0
    assert problem["cases"][0]["cost"]["flops"] > 0


def test_the_list_as_json_holds_every_problem(typed):
    document = json.loads(typed("problems", "--json").out)
    assert [problem["name"] for problem in document["problems"]] == list(NAMES)


def test_an_unknown_problem(typed):
    ended = typed("problems", "show", "sofmax")
    assert (ended.exit_code, ended.out) == (2, "")
    assert "did you mean aten::softmax" in ended.err


def test_show_without_a_name(typed):
    ended = typed("problems", "show")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: which operator? `kgtui problems show OP`; `kgtui problems list` names them\n",
    )


def test_a_list_takes_no_name(typed):
    ended = typed("problems", "list", "softmax")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: a list takes no operator; did you mean `kgtui problems show softmax`?\n",
    )
