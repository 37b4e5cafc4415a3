"""`kgtui problems`: the list, one operator, and both as JSON."""

from __future__ import annotations

import pytest

from tests.kgtui.cli.documents import require_valid
from tests.operators import NAMES, find
from tests.problems.test_folder import ROPE


def test_the_list_has_a_line_for_every_problem(typed):
    ended = typed("problems")
    assert ended.exit_code == 0
    assert [line.split()[0] for line in ended.out.splitlines()] == list(NAMES)


def test_list_names_whole_groups_of_dtypes(typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = {line.split()[0]: line for line in typed("problems").out.splitlines()}
    assert lines["aten::contiguous"].endswith("  float f64 complex int bool")
    assert lines["aten::cumsum"].split()[-4:] == ["float", "i16", "i32", "i64"]


def test_narrow_list_cuts_summaries_before_dtypes(typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    lines = {line.split()[0]: line for line in typed("problems").out.splitlines()}
    assert max(map(len, lines.values())) <= 120
    assert " ".join(lines["aten::_softmax"].split()) == "aten::_softmax normalisation Softmax along one dim (d… float"
    assert lines["aten::contiguous"].endswith("  float f64 complex int bool")


def test_line_cut_by_the_terminal_ends_in_a_sign(typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert {(len(line), line[-1]) for line in typed("problems").out.splitlines()} == {(60, "…")}


def test_list_of_80_columns_has_no_dtypes(typed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = {line.split()[0]: line for line in typed("problems").out.splitlines()}
    assert max(map(len, lines.values())) <= 80
    assert lines["aten::acosh"].endswith("  pointwise_unary          Inverse hyperb…")


def test_list_subcommand_is_the_default(typed):
    assert typed("problems", "list").out == typed("problems").out


def test_one_problem_shows_its_signature_and_every_case(typed):
    out = typed("problems", "show", "softmax").out
    assert "signature  softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor" in out
    assert all(case.name in out for case in find("softmax").cases)


def test_page_describes_reference_and_tolerance(typed):
    lines = typed("problems", "show", "aten::softmax").out.splitlines()
    assert "  answers    one, up to rounding" in lines
    assert "  reference  The shape of x, computed in float64." in lines
    assert "  oracle     scipy.special.softmax, in double precision" in lines
    assert "  eager      PyTorch's operator." in lines
    assert "  tolerance  One rounding, and a sum over the dimension." in lines


@pytest.mark.parametrize(
    ("operator", "baselines", "special"),
    [
        ("aten::mul", "compile, compile-max, eager", "values in 3 cases, such as 16x33 f32 special"),
        ("aten::t", "compile, compile-max, eager", None),
        ("aten::mm", "compile, compile-max, cublas, eager", None),
        (
            "vllm::moe_align_block_size",
            "compile, compile-max, eager, vllm",
            "no special values",
        ),
    ],
)
def test_page_names_baselines_and_cases_with_special_values(typed, operator, baselines, special):
    lines = typed("problems", "show", operator).out.splitlines()
    assert f"  baselines  {baselines}" in lines
    assert special is None or f"  special    {special}" in lines


def test_integer_problem_is_compared_bitwise(typed):
    assert "equal to the bit" in typed("problems", "show", "embedding").out


def test_problem_with_comparer_shows_its_rule(typed):
    lines = typed("problems", "show", "empty_strided").out.splitlines()
    assert "  answers    any content; shape and dtype are compared" in lines
    assert "  compare    Accept any content: shape and dtype have been compared before." in lines
    (smoke, _) = (line for line in lines if line.startswith("  smoke "))
    assert "compared by the operator's own rule" in smoke


def test_json_holds_every_case_with_tolerance_and_cost(typed):
    document = require_valid(typed("problems", "show", "aten::mm", "--json").out)
    assert document["schema"] == "kgtui.problems/1"
    (problem,) = document["problems"]
    first = find("aten::mm").cases[0]
    assert (problem["name"], problem["cases"][0]["name"]) == ("aten::mm", first.name)
    assert problem["cases"][0]["tolerance"]["relative"] > 0
    assert problem["cases"][0]["cost"]["flops"] > 0


def test_the_list_as_json_holds_every_problem(typed):
    document = require_valid(typed("problems", "--json").out)
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


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("softmax", "did you mean `kgtui problems show softmax`?"),
        (
            "aten::sofmax",
            "there is no operator called 'aten::sofmax'; did you mean aten::softmax, aten::_softmax, aten::fmax?",
        ),
        ("gelu", "there is no operator called 'gelu'; did you mean aten::prelu, aten::silu?"),
        ("qqqqqqq", "there is no operator called 'qqqqqqq'; `kgtui problems list` shows them all"),
    ],
)
def test_list_with_operator_suggests_existing_ones(typed, name, hint):
    ended = typed("problems", "list", name)
    assert (ended.exit_code, ended.err) == (2, f"kgtui: a list takes no operator; {hint}\n")


def test_list_with_own_operator_suggests_it(typed, own):
    ended = typed("problems", "list", "--problems", own, "rope")
    assert ended.err == "kgtui: a list takes no operator; did you mean `kgtui problems show rope`?\n"


@pytest.mark.parametrize("name", ["aten::softmx", "nope"])
def test_unknown_subcommand_names_show(typed, name):
    ended = typed("problems", name)
    assert (ended.exit_code, ended.err) == (
        2,
        f"kgtui: no such subcommand of `kgtui problems`: '{name}'; use one of audit, check, list, show; "
        "`kgtui problems show OP` shows an operator\n",
    )


@pytest.fixture
def own(folder):
    """A folder with a problem of the user's own, in the folder that kgtui is started in."""
    (folder / "own").mkdir()
    (folder / "own" / "rope.py").write_text(ROPE)
    return folder / "own"


def test_problems_of_a_folder_are_listed_and_shown(typed, own):
    listed = typed("problems", "list", "--problems", "own").out.splitlines()
    assert [line.split()[0] for line in listed] == [*NAMES, "user::rope"]
    assert f"defined    {own / 'rope.py'}" in typed("problems", "show", "rope", "--problems", "own").out


def test_broken_problem_file_is_warning_in_list(typed, own):
    (own / "rope.py").write_text("x = (")
    ended = typed("problems", "list", "--problems", "own")
    assert [line.split()[0] for line in ended.out.splitlines()] == list(NAMES)
    assert f"{own / 'rope.py'}:1: syntax error" in ended.err


def test_missing_folder_of_problems_is_refused(typed):
    ended = typed("problems", "list", "--problems", "nowhere")
    assert (ended.exit_code, ended.err) == (
        2,
        "kgtui: there is no folder nowhere, named by --problems; create it, or name another\n",
    )


def test_kernel_file_of_an_own_problem_is_scaffolded(typed, own, folder):
    assert typed("new", "rope", "--problems", "own").exit_code == 0
    assert "op=user::rope" in (folder / "kernels" / "rope.py").read_text()


def test_rules_are_applied_to_a_file(typed, own):
    (own / "rope.py").write_text(ROPE.replace('summary="x*sigmoid(x)"', 'summary=""'))
    ended = typed("problems", "check", "own/rope.py")
    assert (ended.exit_code, ended.out.splitlines()) == (
        1,
        [
            "signature                summary is empty; describe the operator in a few words",
            "user::rope: 22/23 rules kept",
        ],
    )


def test_rules_as_json_are_valid(typed, own):
    (own / "rope.py").write_text(ROPE.replace('summary="x*sigmoid(x)"', 'summary=""'))
    assert require_valid(typed("problems", "check", "own/rope.py", "--json").out) == {
        "schema": "kgtui.rules/1",
        "problem": "user::rope",
        "rules": 23,
        "complaints": [
            {"rule": "signature", "text": "summary is empty; describe the operator in a few words"},
        ],
    }


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ((), 2, "which file? `kgtui problems check FILE` applies the rules to a problem file"),
        (("none.py",), 2, "there is no file none.py"),
        (("sofmax",), 2, "there is no operator called 'sofmax'; did you mean aten::softmax"),
    ],
)
def test_rules_need_a_file_or_an_operator(typed, words, code, error):
    ended = typed("problems", "check", *words)
    assert (ended.exit_code, ended.out) == (code, "")
    assert error in ended.err
